package petstore

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ReadEventRecord returns the events of a record, which happened at that time. The first of them has the given sequence.
func ReadEventRecord(record string, first int64, at time.Time) ([]Event, error) {
	r := recordReader{rest: record}
	events := make([]Event, 0, 1+strings.Count(record, "],["))
	r.skip('[')
	for !r.failed {
		e := r.event()
		e.Sequence, e.At = first+int64(len(events)), at
		events = append(events, e)
		if !r.found(',') {
			r.skip(']')
			break
		}
	}
	if r.failed || r.rest != "" {
		return nil, fmt.Errorf("the record of event %d is malformed %d bytes before its end", first, len(r.rest))
	}
	return events, nil
}

// recordReader reads the values of a record one by one. After its first failure it reads only zeros.
type recordReader struct {
	rest   string
	failed bool
}

func (r *recordReader) event() (e Event) {
	r.skip('[')
	e.Type = EventType(r.digits())
	switch e.Type {
	case PetCreated, PetUpdated, PetDeleted:
		e.Pet = r.pet(e.Type)
	case ProfileUpdated:
		e.Profile = r.profile()
	case OrderPlaced, OrderUpdated, OrderCompleted, OrderCancelled, OrderExpired:
		e.Order = r.order(e.Type)
	case CategoryCreated, CategoryUpdated, CategoryDeleted:
		e.Category = &Changed[Category]{Now: Category{ID: r.number(), Name: r.text()}}
		if e.Type == CategoryUpdated {
			e.Category.Before = &Category{ID: e.Category.Now.ID, Name: r.text()}
		}
	default:
		r.failed = true
	}
	r.skip(']')
	return e
}

func (r *recordReader) pet(t EventType) *Changed[Pet] {
	c := &Changed[Pet]{}
	c.Now.ID, c.Now.Name, c.Now.CategoryID, c.Now.Status = r.number(), r.text(), r.number(), Status(r.number())
	if t == PetUpdated {
		before := c.Now
		before.Name = readOr(r, before.Name, (*recordReader).text)
		before.CategoryID = readOr(r, before.CategoryID, (*recordReader).number)
		before.Status = Status(readOr(r, int64(before.Status), (*recordReader).number))
		c.Before = &before
	}
	return c
}

func (r *recordReader) order(t EventType) *Changed[Order] {
	c := &Changed[Order]{}
	c.Now = Order{ID: r.number(), PetID: r.number(), Status: OrderStatus(r.number()), Reference: r.text(), CreatedAt: r.time(), ExpiresAt: r.time()}
	c.Now.ClosedAt = readOr(r, time.Time{}, (*recordReader).time)
	if t == OrderPlaced {
		return c
	}
	before := c.Now
	if t == OrderUpdated {
		before.Reference = readOr(r, before.Reference, (*recordReader).text)
		before.ExpiresAt = readOr(r, before.ExpiresAt, (*recordReader).time)
	} else {
		before.Status, before.ClosedAt = Open, time.Time{}
	}
	c.Before = &before
	return c
}

func (r *recordReader) profile() *Changed[PetProfile] {
	c := &Changed[PetProfile]{Now: PetProfile{PetID: r.number()}}
	c.Before = &PetProfile{PetID: c.Now.PetID}
	r.object(&c.Now.Profile)
	r.object(&c.Before.Profile)
	return c
}

// found reports whether a byte follows, and skips it.
func (r *recordReader) found(c byte) bool {
	if r.failed || r.rest == "" || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// skip skips a byte that must follow.
func (r *recordReader) skip(c byte) {
	if !r.found(c) {
		r.failed = true
	}
}

// number reads a comma and a number.
func (r *recordReader) number() int64 {
	r.skip(',')
	return r.digits()
}

func (r *recordReader) digits() int64 {
	end := 0
	for end < len(r.rest) && (r.rest[end] == '-' || '0' <= r.rest[end] && r.rest[end] <= '9') {
		end++
	}
	n, err := strconv.ParseInt(r.rest[:end], 10, 64)
	if r.failed = r.failed || err != nil; r.failed {
		return 0
	}
	r.rest = r.rest[end:]
	return n
}

// time reads a comma and a time.
func (r *recordReader) time() time.Time { return time.UnixMilli(r.number()).UTC() }

// text reads a comma and a string.
func (r *recordReader) text() string {
	r.skip(',')
	if r.failed = r.failed || !strings.HasPrefix(r.rest, `"`); r.failed {
		return ""
	}
	if end := strings.IndexAny(r.rest[1:], `"\`); end >= 0 && r.rest[1+end] == '"' {
		text := r.rest[1 : 1+end]
		r.rest = r.rest[end+2:]
		return text
	}
	var text string
	r.decode(&text)
	return text
}

// object reads a comma and an object.
func (r *recordReader) object(into any) {
	r.skip(',')
	if !r.failed {
		r.decode(into)
	}
}

// decode reads a JSON value of any kind.
func (r *recordReader) decode(into any) {
	dec := json.NewDecoder(strings.NewReader(r.rest))
	if r.failed = dec.Decode(into) != nil; !r.failed {
		r.rest = r.rest[dec.InputOffset():]
	}
}

// readOr reads a value, or returns the given one if the value is null.
func readOr[T any](r *recordReader, otherwise T, read func(*recordReader) T) T {
	if rest, isNull := strings.CutPrefix(r.rest, ",null"); isNull {
		r.rest = rest
		return otherwise
	}
	return read(r)
}
