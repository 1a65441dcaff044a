package history

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"petstore/internal/petstore"
)

// outcome is what became of a request, as far as its answer shows.
type outcome uint8

const (
	nothing outcome = iota // it changed nothing and tells nothing about the store
	done
	refused // the store refused it because of its contents
	unknown // it may have been done already, or may still be done
)

// pet, order and category have the fields that answers show.
type pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

type order struct {
	ID        int64  `json:"id"`
	PetID     int64  `json:"petId"`
	Status    string `json:"status"`
	Reference string `json:"reference"`
	CreatedAt string `json:"createdAt"`
	ExpiresAt string `json:"expiresAt"`
	ClosedAt  string `json:"closedAt"`
}

type category struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// call is an exchange whose request and answer have been parsed.
type call struct {
	Exchange
	at      int    // its place in the history
	op      string // the name of the operation in the interface
	id      int64  // the id in the path
	outcome outcome

	// What was asked.
	query    query
	fields   request
	replayed bool

	// What was answered.
	pets       []pet
	orders     []order
	categories []category
	inventory  map[string]int64
	code       petstore.Code
	other      int64  // the order or category that a refusal names
	was        string // the status that a refusal names
}

// query selects a page.
type query struct {
	limit      int
	status     string
	one, of    *int64 // the id of the only animal that is asked for; the animal whose orders are asked for
	from, to   int64  // the page has ids from from on, and below to
	more       bool   // another page follows
	descending bool
}

// request is a body. A member that the body does not have is nil.
type request struct {
	Name        *string `json:"name"`
	CategoryID  *int64  `json:"categoryId"`
	Status      *string `json:"status"`
	PetID       int64   `json:"petId"`
	Reference   string  `json:"reference"`
	HoldSeconds int64   `json:"holdSeconds"`
}

// routes name the operations by method and path. The word id stands for any id.
var routes = map[string]string{
	"GET pets": "listPets", "POST pets": "createPet", "GET pets/id": "getPet", "PATCH pets/id": "updatePet", "DELETE pets/id": "deletePet",
	"GET inventory":  "getInventory",
	"GET categories": "listCategories", "POST categories": "createCategory",
	"GET categories/id": "getCategory", "PUT categories/id": "nameCategory", "DELETE categories/id": "deleteCategory",
	"GET orders": "listOrders", "POST orders": "placeOrder", "GET orders/id": "getOrder",
	"POST orders/id/complete": "completeOrder", "POST orders/id/cancel": "cancelOrder",
}

// read makes a call of an exchange. A request that is not one of the operations tells nothing.
func read(at int, e Exchange) call {
	c := call{Exchange: e, at: at}
	path, rawQuery, _ := strings.Cut(strings.TrimPrefix(e.Path, "/v1/"), "?")
	parts := strings.Split(path, "/")
	if len(parts) > 1 {
		id, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			return c
		}
		c.id, parts[1] = id, "id"
	}
	c.op = routes[e.Method+" "+strings.Join(parts, "/")]
	if c.op == "" {
		return c
	}
	json.Unmarshal(e.Body, &c.fields)
	c.replayed = e.Header.Get("Idempotency-Replayed") == "true"
	c.readQuery(rawQuery)
	c.readAnswer()
	return c
}

func (c *call) readQuery(raw string) {
	values, _ := url.ParseQuery(raw)
	q := query{limit: 20, status: values.Get("status"), from: math.MinInt64, to: math.MaxInt64, descending: c.op != "listCategories", more: nextPage(c.Header) != ""}
	if n, err := strconv.Atoi(values.Get("limit")); err == nil {
		q.limit = n
	}
	number := func(name string) *int64 {
		if n, err := strconv.ParseInt(values.Get(name), 10, 64); err == nil {
			return &n
		}
		return nil
	}
	q.one, q.of = number("id"), number("petId")
	if raw, err := base64.RawURLEncoding.DecodeString(values.Get("cursor")); err == nil && len(raw) == 9 {
		id := int64(binary.BigEndian.Uint64(raw[1:]))
		if q.descending {
			q.to = id
		} else {
			q.from = id
		}
	}
	c.query = q
}

// readAnswer finds out what became of the request, and reads what the answer shows.
func (c *call) readAnswer() {
	switch {
	case c.Status == NoAnswer && c.makes() && !c.valid(): // it cannot have made anything
	case c.Status == NoAnswer:
		c.outcome = unknown
	case c.Status < 300:
		c.outcome = done
		c.readShown()
	default:
		c.readRefusal()
	}
}

func (c *call) readShown() {
	switch c.op {
	case "listPets":
		json.Unmarshal(c.Answer, &c.pets)
	case "createPet", "getPet", "updatePet":
		c.pets = make([]pet, 1)
		json.Unmarshal(c.Answer, &c.pets[0])
	case "getInventory":
		json.Unmarshal(c.Answer, &c.inventory)
	case "listOrders":
		json.Unmarshal(c.Answer, &c.orders)
	case "placeOrder", "getOrder", "completeOrder", "cancelOrder":
		c.orders = make([]order, 1)
		json.Unmarshal(c.Answer, &c.orders[0])
	case "listCategories":
		json.Unmarshal(c.Answer, &c.categories)
	case "createCategory", "getCategory", "nameCategory":
		c.categories = make([]category, 1)
		json.Unmarshal(c.Answer, &c.categories[0])
	}
	ids := len(c.pets) + len(c.orders) + len(c.categories)
	if c.query.more && ids > 0 { // the page ends with its last row
		switch c.op {
		case "listPets":
			c.query.from = c.pets[ids-1].ID
		case "listOrders":
			c.query.from = c.orders[ids-1].ID
		case "listCategories":
			c.query.to = c.categories[ids-1].ID + 1
		}
	}
}

// readRefusal distinguishes refusals that show something about the store from those that do not. An answer without a
// code does not come from the service: a proxy that gave it may have passed the request on.
func (c *call) readRefusal() {
	var e struct{ Code, Message string }
	json.Unmarshal(c.Answer, &e)
	c.code = petstore.Code(e.Code)
	switch c.code {
	case "", petstore.OutcomeUnknown, "internal_error":
		if !c.makes() || c.valid() {
			c.outcome = unknown
		}
	case petstore.NotFound, petstore.PetReserved, petstore.PetUnavailable, petstore.OrderClosed, petstore.NameTaken, petstore.IdempotencyConflict:
		c.outcome = refused
	case petstore.InvalidField:
		if c.op == "placeOrder" && strings.Contains(e.Message, "there is no animal") {
			c.outcome = refused
		}
	}
	switch c.code {
	case petstore.PetReserved:
		fmt.Sscanf(e.Message, "Order %d", &c.other)
	case petstore.NameTaken:
		fmt.Sscanf(e.Message, "Category %d", &c.other)
	case petstore.PetUnavailable:
		c.was, _, _ = strings.Cut(strings.TrimPrefix(e.Message, "This animal is "), ",")
	case petstore.OrderClosed:
		c.was, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(e.Message, "This order "), "was "), " ")
	}
}

// reads reports whether the operation changes nothing.
func (c *call) reads() bool { return c.Method == "GET" }

// makes reports whether the operation makes something, and can be limited to once by an Idempotency-Key.
func (c *call) makes() bool {
	return c.op == "createPet" || c.op == "placeOrder" || c.op == "createCategory"
}

// valid reports whether a request that makes something has all required members.
func (c *call) valid() bool {
	return c.op == "placeOrder" || c.fields.Name != nil && (c.op == "createCategory" || c.fields.CategoryID != nil)
}

func (c call) String() string {
	text := fmt.Sprintf("%s %s by client %d from %v to %v", c.Method, c.Path, c.Client, c.Called, c.Returned)
	if len(c.Body) > 0 {
		text += " with " + string(c.Body)
	}
	if c.Status == NoAnswer {
		return text + ", without an answer"
	}
	answer := string(c.Answer)
	if len(answer) > 300 {
		answer = answer[:300] + "…"
	}
	return text + fmt.Sprintf(", answered %d %s", c.Status, answer)
}
