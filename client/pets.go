package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strconv"
)

// PetStatus is the state of an animal. The service may have states that are not listed here yet.
type PetStatus string

// The states of an animal.
const (
	Available PetStatus = "available"
	Pending   PetStatus = "pending" // held by an order or by staff
	Sold      PetStatus = "sold"
)

// Pet is an animal.
type Pet struct {
	ID         int64     `json:"id"`
	Name       string    `json:"name"`
	CategoryID int64     `json:"categoryId"`
	Status     PetStatus `json:"status"`
	Profile    *Profile  `json:"profile,omitempty"` // only on a page that was asked for profiles
}

// NewPet is an animal to add. An empty Status means Available.
type NewPet struct {
	Name       string    `json:"name"`
	CategoryID int64     `json:"categoryId"`
	Status     PetStatus `json:"status,omitempty"`
}

func (n NewPet) texts() []string { return []string{n.Name} }

// PetPatch says what to change about an animal. A nil field stays as it is: PetPatch{Status: new(Sold)} changes only the
// status.
type PetPatch struct {
	Name       *string    `json:"name,omitempty"`
	CategoryID *int64     `json:"categoryId,omitempty"`
	Status     *PetStatus `json:"status,omitempty"`
}

func (p PetPatch) texts() (texts []string) {
	if p.Name != nil {
		texts = append(texts, *p.Name)
	}
	return texts
}

// PetQuery selects animals. A field that is zero or nil does not restrict the selection.
type PetQuery struct {
	Status     PetStatus
	ID         *int64 // only the animal with this id, if there is one
	CategoryID *int64 // only animals of the category with this number
	Search     string // only animals whose name and breed have words that begin with each word of this text
	Profiles   bool   // each animal of the page comes with its profile
	Limit      int    // animals per page, up to 100; if zero, ListPets uses 20 and Pets 100
	Cursor     string // the Next of an earlier page
}

func (q PetQuery) encode() string {
	v := paging(q.Limit, q.Cursor)
	set(v, "status", string(q.Status))
	setID(v, "id", q.ID)
	setID(v, "categoryId", q.CategoryID)
	set(v, "q", q.Search)
	if q.Profiles {
		v.Set("include", "profile")
	}
	return v.Encode()
}

// Inventory says how many animals are in each state.
type Inventory struct {
	Available int64 `json:"available"`
	Pending   int64 `json:"pending"`
	Sold      int64 `json:"sold"`
}

// ListPets returns one page of animals, the newest first.
func (c *Client) ListPets(ctx context.Context, q PetQuery, options ...CallOption) (Page[Pet], error) {
	return page[Pet](ctx, c, "/pets", q.encode(), options)
}

// Pets iterates over all animals, the newest first, page by page. An error ends the iteration.
func (c *Client) Pets(ctx context.Context, q PetQuery, options ...CallOption) iter.Seq2[Pet, error] {
	q.Limit = walkLimit(q.Limit)
	return walk[Pet](ctx, c, "/pets", q.encode(), options)
}

// CreatePet adds an animal. Retries of the call add no second animal.
func (c *Client) CreatePet(ctx context.Context, n NewPet, options ...CallOption) (p Pet, err error) {
	err = c.callWith(ctx, http.MethodPost, "/pets", n, &p, options)
	return p, err
}

// GetPet returns the animal with that id.
//
// Deprecated: The service removes this operation on 5 December 2030. Use [Client.FindPet].
func (c *Client) GetPet(ctx context.Context, id int64, options ...CallOption) (p Pet, err error) {
	err = c.call(ctx, http.MethodGet, memberPath("/pets", id), &p, options)
	return p, err
}

// FindPet returns the animal with that id, or ErrNotFound. It calls the operation listPets.
func (c *Client) FindPet(ctx context.Context, id int64, options ...CallOption) (Pet, error) {
	r := newRequest(http.MethodGet, "/pets", options)
	r.query = "id=" + strconv.FormatInt(id, 10)
	var found []Pet
	if _, err := c.exchange(ctx, r, &found); err != nil {
		return Pet{}, err
	}
	if len(found) == 0 {
		return Pet{}, &Error{Code: ErrNotFound, Status: http.StatusNotFound, RequestID: r.meta.RequestID,
			Message: fmt.Sprintf("There is no animal with the id %d.", id)}
	}
	if found[0].ID != id {
		return Pet{}, fmt.Errorf("%s cannot find one animal: it is older than this client, and answered with animal %d instead of %d", c.base, found[0].ID, id)
	}
	return found[0], nil
}

// UpdatePet changes an animal and returns the changed animal. If the patch changes the status while an open order holds the
// animal, UpdatePet returns ErrPetReserved.
func (c *Client) UpdatePet(ctx context.Context, id int64, patch PetPatch, options ...CallOption) (p Pet, err error) {
	err = c.callWith(ctx, http.MethodPatch, memberPath("/pets", id), patch, &p, options)
	return p, err
}

// DeletePet removes an animal. It returns ErrPetReserved while an open order holds the animal.
func (c *Client) DeletePet(ctx context.Context, id int64, options ...CallOption) error {
	return c.call(ctx, http.MethodDelete, memberPath("/pets", id), nil, options)
}

// GetInventory counts the animals in each state.
func (c *Client) GetInventory(ctx context.Context, options ...CallOption) (Inventory, error) {
	var read counts
	if err := c.call(ctx, http.MethodGet, "/inventory", &read, options); err != nil {
		return Inventory{}, err
	}
	return Inventory{Available: *read.Available, Pending: *read.Pending, Sold: *read.Sold}, nil
}

// counts is an Inventory in which a count may be missing.
type counts struct{ Available, Pending, Sold *int64 }

func (c *counts) missing() bool { return c.Available == nil || c.Pending == nil || c.Sold == nil }

// memberPath returns the path of one member of a collection.
func memberPath(collection string, id int64) string {
	return collection + "/" + strconv.FormatInt(id, 10)
}

func (p *Pet) missing() bool { return p.ID == 0 }
