package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"
)

// OrderStatus is the state of an order. The service may have states that are not listed here yet.
type OrderStatus string

// The states of an order. Only an open order can change its state.
const (
	Open      OrderStatus = "open"
	Completed OrderStatus = "completed"
	Cancelled OrderStatus = "cancelled"
	Expired   OrderStatus = "expired"
)

// Order holds an animal until the order is closed or expires.
type Order struct {
	ID        int64       `json:"id"`
	PetID     int64       `json:"petId"`
	Status    OrderStatus `json:"status"`
	Reference string      `json:"reference,omitempty"` // the client's own name for the order; a key that may only read does not get it
	CreatedAt time.Time   `json:"createdAt"`
	ExpiresAt time.Time   `json:"expiresAt"`
	ClosedAt  time.Time   `json:"closedAt,omitzero"` // zero while the order is open
}

// NewOrder describes an order to place. An order holds an available animal.
type NewOrder struct {
	PetID     int64
	Reference string        // the client's own name for the order, if any
	Hold      time.Duration // how long to hold the animal, in whole seconds, from a minute to 30 days; if zero, usually 72 hours
}

type newOrder struct {
	PetID       int64  `json:"petId"`
	Reference   string `json:"reference,omitempty"`
	HoldSeconds int64  `json:"holdSeconds,omitzero"`
}

func (n newOrder) texts() []string { return []string{n.Reference} }

// OrderQuery selects orders. A field that is zero or nil does not restrict the selection.
type OrderQuery struct {
	Status OrderStatus
	PetID  *int64 // selects the orders for the animal with this id
	Limit  int    // the number of orders per page, up to 100; if zero, ListOrders uses 20 and Orders 100
	Cursor string // the value of Next in the page before; empty for the first page
}

func (q OrderQuery) encode() string {
	v := paging(q.Limit, q.Cursor)
	set(v, "status", string(q.Status))
	setID(v, "petId", q.PetID)
	return v.Encode()
}

// ListOrders returns one page of orders, the newest first.
func (c *Client) ListOrders(ctx context.Context, q OrderQuery, options ...CallOption) (Page[Order], error) {
	return page[Order](ctx, c, "/orders", q.encode(), options)
}

// Orders iterates over all orders, the newest first, page by page. An error ends the iteration.
func (c *Client) Orders(ctx context.Context, q OrderQuery, options ...CallOption) iter.Seq2[Order, error] {
	q.Limit = walkLimit(q.Limit)
	return walk[Order](ctx, c, "/orders", q.encode(), options)
}

// PlaceOrder places an order, which holds an available animal. It returns ErrPetUnavailable if the animal is not available.
// Retries of the call place no second order.
func (c *Client) PlaceOrder(ctx context.Context, n NewOrder, options ...CallOption) (o Order, err error) {
	hold, err := wholeSeconds("Hold", n.Hold)
	if err != nil {
		return o, err
	}
	body := newOrder{PetID: n.PetID, Reference: n.Reference, HoldSeconds: hold}
	err = c.callWith(ctx, http.MethodPost, "/orders", body, &o, options)
	return o, err
}

// GetOrder returns the order with that id.
func (c *Client) GetOrder(ctx context.Context, id int64, options ...CallOption) (o Order, err error) {
	err = c.call(ctx, http.MethodGet, memberPath("/orders", id), &o, options)
	return o, err
}

// OrderPatch says what to change about an order. A nil field stays as it is.
type OrderPatch struct {
	Reference *string        // the new reference, even of a closed order; the empty string removes the reference
	Hold      *time.Duration // how long to hold the animal from now, in whole seconds, from a minute to 30 days
}

type orderPatch struct {
	reference   *string
	holdSeconds *int64
}

func (p orderPatch) texts() []string {
	if p.reference == nil {
		return nil
	}
	return []string{*p.reference}
}

// MarshalJSON returns a JSON Merge Patch, in which null removes a field.
func (p orderPatch) MarshalJSON() ([]byte, error) {
	patch := make(map[string]any)
	switch {
	case p.reference == nil:
	case *p.reference == "":
		patch["reference"] = nil
	default:
		patch["reference"] = *p.reference
	}
	if p.holdSeconds != nil {
		patch["holdSeconds"] = *p.holdSeconds
	}
	return json.Marshal(patch)
}

// UpdateOrder changes an order and returns the changed order. It returns ErrOrderClosed if the patch has a Hold but the
// order is closed.
func (c *Client) UpdateOrder(ctx context.Context, id int64, patch OrderPatch, options ...CallOption) (o Order, err error) {
	body := orderPatch{reference: patch.Reference}
	if patch.Hold != nil {
		seconds, err := wholeSeconds("Hold", *patch.Hold)
		if err != nil {
			return o, err
		}
		body.holdSeconds = &seconds
	}
	err = c.callWith(ctx, http.MethodPatch, memberPath("/orders", id), body, &o, options)
	return o, err
}

// wholeSeconds returns the value of a field in seconds. It fails if the value is not a whole number of seconds.
func wholeSeconds(field string, value time.Duration) (int64, error) {
	if value%time.Second != 0 {
		return 0, invalidField("%s is %s. It must be a whole number of seconds.", field, value)
	}
	return int64(value / time.Second), nil
}

// CompleteOrder closes an open order and sells its animal. If the order is already completed, CompleteOrder changes nothing
// and returns the order. If the order was cancelled or has expired, CompleteOrder returns ErrOrderClosed.
func (c *Client) CompleteOrder(ctx context.Context, id int64, options ...CallOption) (o Order, err error) {
	err = c.call(ctx, http.MethodPost, memberPath("/orders", id)+"/complete", &o, options)
	return o, err
}

// CancelOrder closes an open order and makes its animal available again. If the order is already cancelled, CancelOrder
// changes nothing and returns the order. If the order was completed or has expired, CancelOrder returns ErrOrderClosed.
func (c *Client) CancelOrder(ctx context.Context, id int64, options ...CallOption) (o Order, err error) {
	err = c.call(ctx, http.MethodPost, memberPath("/orders", id)+"/cancel", &o, options)
	return o, err
}

func (o *Order) missing() bool { return o.ID == 0 }
