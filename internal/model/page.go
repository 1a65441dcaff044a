package model

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/url"
	"slices"
	"strconv"
)

// Page is the part of a list that an answer shows: the rows that match the filters and have ids from First to Last.
type Page struct {
	Status    string
	ID, PetID *int64
	First     int64 // the lowest id
	Last      int64 // the highest id
	Limit     int
	More      bool // whether another page follows
}

// Covers reports whether a row with the given id belongs on the page, if the row exists.
func (p Page) Covers(id int64) bool {
	return id >= p.First && id <= p.Last && (p.ID == nil || *p.ID == id)
}

// Selects reports whether the page shows rows with the given status.
func (p Page) Selects(status string) bool { return p.Status == "" || p.Status == status }

// parsePage finds out which part of a list the answer shows. If another page follows, the part ends with the last row of
// the answer.
func (op *Operation) parsePage(raw string) {
	values, _ := url.ParseQuery(raw)
	number := func(name string) *int64 {
		if n, err := strconv.ParseInt(values.Get(name), 10, 64); err == nil {
			return &n
		}
		return nil
	}
	op.Page = Page{Status: values.Get("status"), ID: number("id"), PetID: number("petId"), Limit: 20}
	op.Page.First, op.Page.Last, op.Page.More = math.MinInt64, math.MaxInt64, NextPage(op.Header) != ""
	if n := number("limit"); n != nil {
		op.Page.Limit = int(*n)
	}
	if cursor, err := base64.RawURLEncoding.DecodeString(values.Get("cursor")); err == nil && len(cursor) == 9 {
		if begin := int64(binary.BigEndian.Uint64(cursor[1:])); op.descends() {
			op.Page.Last = begin - 1
		} else {
			op.Page.First = begin
		}
	}
	if rows := op.Rows(); op.Page.More && len(rows) > 0 {
		if end := rows[len(rows)-1].ID; op.descends() {
			op.Page.First = end
		} else {
			op.Page.Last = end
		}
	}
}

func (op *Operation) descends() bool { return op.Noun != "categories" }

// Row is an animal, an order or a category in an answer, with its name or reference.
type Row struct {
	ID   int64
	Name string
}

// Rows returns all rows that the answer shows.
func (op *Operation) Rows() (rows []Row) {
	for _, p := range op.Pets {
		rows = append(rows, Row{p.ID, p.Name})
	}
	for _, o := range op.Orders {
		rows = append(rows, Row{o.ID, o.Reference})
	}
	for _, c := range op.Categories {
		rows = append(rows, Row(c))
	}
	return rows
}

// InOrder reports whether the rows of a list are in order and within the page, and whether there are as many rows as there
// should be.
func (op *Operation) InOrder() bool {
	rows := op.Rows()
	for i, r := range rows {
		if op.Lists() && (!op.Page.Covers(r.ID) || i > 0 && (rows[i-1].ID > r.ID) != op.descends()) {
			return false
		}
	}
	return !op.Lists() || len(rows) == op.Page.Limit || len(rows) < op.Page.Limit && !op.Page.More
}

// row is a Pet, an Order or a Category.
type row interface {
	comparable
	id() int64
}

func find[T row](rows []T, id int64) (at int, found bool) {
	return slices.BinarySearchFunc(rows, id, func(r T, id int64) int { return cmp.Compare(r.id(), id) })
}

// get returns the row with the given id, or a zero row if there is none.
func get[T row](rows []T, id int64) (r T) {
	if at, found := find(rows, id); found {
		return rows[at]
	}
	return r
}

// put returns a copy of rows that contains r. If a row has the same id as r, then r replaces that row.
func put[T row](rows []T, r T) []T {
	at, found := find(rows, r.id())
	rows = slices.Clone(rows)
	if !found {
		return slices.Insert(rows, at, r)
	}
	rows[at] = r
	return rows
}

// The function first returns the first state for which the function right returns true, or the last state if there is none.
func first(states []State, right func(State) bool) State {
	at := slices.IndexFunc(states, right)
	if at < 0 {
		at = len(states) - 1
	}
	return states[at]
}

// The function shows reports whether the page contains the row r exactly when it should.
func shows[T row](page []T, r T, should bool) bool {
	at := slices.IndexFunc(page, func(other T) bool { return other.id() == r.id() })
	return should == (at >= 0) && (at < 0 || page[at] == r)
}

// The function listed returns the outcome of a list, which must show exactly the rows that exist. If the model knows the
// whole store, the list must show no other rows, and may link to a next page only if more rows follow.
func listed[T row](s State, op *Operation, page, rows []T, is func(T) (face T, isThere bool)) []outcome {
	there, more := 0, false
	for _, r := range rows {
		face, isThere := is(r)
		isCovered := op.Page.Covers(r.id())
		if !shows(page, face, isThere && isCovered) {
			return nil
		}
		if isThere && isCovered {
			there++
		}
		isAfter := op.descends() && r.id() < op.Page.First || !op.descends() && r.id() > op.Page.Last
		more = more || isThere && isAfter
	}
	if s.isWhole() && (there != len(page) || op.Page.More && !more) {
		return nil
	}
	return []outcome{{next: s, status: 200}}
}
