package history

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"

	"petstore/internal/petstore"
)

// simulator is a correct store in memory that does one request after the other. It may lose an answer: then it does the
// request at once, later or never.
type simulator struct {
	random  *rand.Rand
	losing  int // how many of a hundred answers are lost
	pets    map[int64]*pet
	orders  map[int64]*order
	names   map[int64]string
	last    map[string]int64  // the latest id of each kind
	made    map[string][]byte // what was made, by Idempotency-Key
	waiting []call
}

func newSimulator(seed uint64, losing int) *simulator {
	return &simulator{random: rand.New(rand.NewPCG(seed, 99)), losing: losing, pets: make(map[int64]*pet), orders: make(map[int64]*order),
		names: make(map[int64]string), last: make(map[string]int64), made: make(map[string][]byte)}
}

func (s *simulator) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	c := read(0, Exchange{Method: r.Method, Path: r.URL.RequestURI(), Body: body, IdempotencyKey: r.Header.Get("Idempotency-Key")})
	for len(s.waiting) > 0 && s.random.IntN(10) == 0 {
		s.do(s.waiting[0])
		s.waiting = s.waiting[1:]
	}
	if s.random.IntN(100) >= s.losing {
		return s.do(c), nil
	}
	switch s.random.IntN(3) {
	case 0:
		s.do(c)
	case 1:
		s.waiting = append(s.waiting, c)
	}
	return nil, errors.New("the answer is lost")
}

// do answers a request. It does a request with a key only once.
func (s *simulator) do(c call) *http.Response {
	if c.IdempotencyKey == "" || !c.makes() {
		status, answer, next := s.decide(c)
		return respond(status, marshal(answer), next)
	}
	if body, met := s.made[c.IdempotencyKey]; met {
		again := respond(http.StatusCreated, body, "")
		again.Header.Set("Idempotency-Replayed", "true")
		return again
	}
	status, answer, _ := s.decide(c)
	if status == http.StatusCreated {
		s.made[c.IdempotencyKey] = marshal(answer)
	}
	return respond(status, marshal(answer), "")
}

func respond(status int, body []byte, next string) *http.Response {
	h := make(http.Header)
	if next != "" {
		h.Set("Link", "<"+next+`>; rel="next"`)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewReader(body))}
}

func refusal(status int, code petstore.Code, message string, args ...any) (int, any, string) {
	return status, fields{"code": code, "message": fmt.Sprintf(message, args...), "status": status}, ""
}

func (s *simulator) decide(c call) (status int, answer any, next string) {
	switch c.op {
	case "createPet":
		p := &pet{s.next("pet"), *c.fields.Name, *c.fields.CategoryID, available}
		s.change(p, c.fields)
		s.pets[p.ID] = p
		return http.StatusCreated, *p, ""
	case "getPet", "updatePet", "deletePet":
		return s.decidePet(c)
	case "listPets":
		return s.listPets(c.query)
	case "getInventory":
		count := map[string]int64{available: 0, pending: 0, sold: 0}
		for _, p := range s.pets {
			count[p.Status]++
		}
		return http.StatusOK, count, ""
	case "placeOrder", "getOrder", "completeOrder", "cancelOrder", "listOrders":
		return s.decideOrder(c)
	}
	return s.decideCategory(c)
}

func (s *simulator) next(of string) int64 {
	s.last[of]++
	return s.last[of]
}

func (s *simulator) change(p *pet, f request) {
	after := state{name: p.Name, category: p.CategoryID, status: p.Status}.with(&f)
	p.Name, p.CategoryID, p.Status = after.name, after.category, after.status
}

// holder is the open order of an animal.
func (s *simulator) holder(id int64) *order {
	for _, o := range s.orders {
		if o.PetID == id && o.Status == "open" {
			return o
		}
	}
	return nil
}

func (s *simulator) decidePet(c call) (int, any, string) {
	p := s.pets[c.id]
	if p == nil {
		return refusal(404, petstore.NotFound, "There is no animal with this id.")
	}
	held := s.holder(p.ID)
	if held != nil && (c.op == "deletePet" || c.fields.Status != nil && *c.fields.Status != p.Status) {
		return refusal(409, petstore.PetReserved, "Order %d holds this animal until then.", held.ID)
	}
	switch c.op {
	case "updatePet":
		s.change(p, c.fields)
	case "deletePet":
		delete(s.pets, p.ID)
		return http.StatusNoContent, nil, ""
	}
	return http.StatusOK, *p, ""
}

// page is at most limit of the rows that fit, and the id from which the next page continues.
func page[V any](rows map[int64]V, q query, fits func(V) bool) (some []V, last int64, more bool) {
	some = []V{}
	ids := slices.Sorted(maps.Keys(rows))
	if q.descending {
		slices.Reverse(ids)
	}
	for _, id := range ids {
		if id < q.from || id >= q.to || !fits(rows[id]) {
			continue
		}
		if len(some) == q.limit {
			return some, last, true
		}
		some, last = append(some, rows[id]), id
	}
	return some, last, false
}

func follow(path string, list byte, last int64, limit int, filter string) string {
	cursor := binary.BigEndian.AppendUint64([]byte{list}, uint64(last))
	return "/v1/" + path + "?cursor=" + base64.RawURLEncoding.EncodeToString(cursor) + "&limit=" + strconv.Itoa(limit) + filter
}

func (s *simulator) listPets(q query) (int, any, string) {
	rows, last, more := page(s.pets, q, func(p *pet) bool {
		return (q.status == "" || p.Status == q.status) && (q.one == nil || p.ID == *q.one)
	})
	if !more {
		return http.StatusOK, rows, ""
	}
	filter := ""
	if q.status != "" {
		filter = "&status=" + q.status
	}
	return http.StatusOK, rows, follow("pets", 1, last, q.limit, filter)
}

func (s *simulator) decideOrder(c call) (int, any, string) {
	if c.op == "listOrders" {
		rows, last, more := page(s.orders, c.query, func(o *order) bool {
			return (c.query.status == "" || o.Status == c.query.status) && (c.query.of == nil || o.PetID == *c.query.of)
		})
		if more {
			return http.StatusOK, rows, follow("orders", 2, last, c.query.limit, "")
		}
		return http.StatusOK, rows, ""
	}
	if c.op == "placeOrder" {
		p := s.pets[c.fields.PetID]
		switch {
		case p == nil:
			return refusal(400, petstore.InvalidField, "petId must be the id of an animal; there is no animal %d.", c.fields.PetID)
		case p.Status != available:
			return refusal(409, petstore.PetUnavailable, "This animal is %s, not available. Order another one.", p.Status)
		}
		o := &order{ID: s.next("order"), PetID: p.ID, Status: "open", Reference: c.fields.Reference}
		s.orders[o.ID], p.Status = o, pending
		return http.StatusCreated, *o, ""
	}
	o := s.orders[c.id]
	if o == nil {
		return refusal(404, petstore.NotFound, "There is no order with this id.")
	}
	if to := map[string]petstore.OrderStatus{"completeOrder": petstore.Completed, "cancelOrder": petstore.Cancelled}[c.op]; to != 0 {
		if o.Status == "open" {
			o.Status, s.pets[o.PetID].Status = to.String(), to.Leaves().String()
		}
		if o.Status != to.String() {
			return refusal(409, petstore.OrderClosed, "This order was %s at some time and cannot change any more.", o.Status)
		}
	}
	return http.StatusOK, *o, ""
}

func (s *simulator) decideCategory(c call) (int, any, string) {
	name, named := s.names[c.id]
	switch c.op {
	case "listCategories":
		rows, last, more := page(s.names, c.query, func(string) bool { return true })
		shown := make([]category, len(rows))
		for i, name := range rows {
			for id, other := range s.names {
				if other == name {
					shown[i] = category{id, name}
				}
			}
		}
		if more {
			return http.StatusOK, shown, follow("categories", 3, last+1, c.query.limit, "")
		}
		return http.StatusOK, shown, ""
	case "createCategory", "nameCategory":
		for id, other := range s.names {
			if other == *c.fields.Name && (c.op == "createCategory" || id != c.id) {
				return refusal(409, petstore.NameTaken, "Category %d already has this name.", id)
			}
		}
		status := http.StatusOK
		if c.op == "createCategory" {
			c.id = s.next("category")
		}
		if !named || c.op == "createCategory" {
			status = http.StatusCreated
		}
		s.names[c.id] = *c.fields.Name
		return status, category{c.id, *c.fields.Name}, ""
	}
	if !named {
		return refusal(404, petstore.NotFound, "There is no category with this number.")
	}
	if c.op == "deleteCategory" {
		delete(s.names, c.id)
		return http.StatusNoContent, nil, ""
	}
	return http.StatusOK, category{c.id, name}, ""
}
