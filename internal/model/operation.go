package model

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"petstore/internal/contract"
)

// Operation is an exchange whose request and answer have been parsed.
type Operation struct {
	Exchange
	Name string // the name of the operation in the interface
	Noun string // what the operation is about: pets, orders, categories or inventory
	// ID is the id in the path. If the operation creates something, ID is the new id, or 0 if nobody knows the new id.
	ID     int64
	Fields Fields
	Page   Page

	// Unknown means that the answer does not show the outcome of the request. The store may have done the request, or may
	// do it later.
	Unknown  bool
	Code     string // the code of a refusal
	Message  string
	Replayed bool

	// These fields hold what the answer shows.
	Pets       []Pet
	Orders     []Order
	Categories []Category
	Inventory  Inventory
}

// Fields are the members of a body. A member that the body does not have is nil, and a text that is null is empty.
type Fields struct {
	Name, Status, Reference        *string
	CategoryID, PetID, HoldSeconds *int64
}

// interfaceOperation is an operation of the published interface. The path has {} in place of an id.
type interfaceOperation struct {
	method, path string
	do           func(State, *Operation) []outcome
}

// operations has all operations of the interface, by name.
var operations = map[string]interfaceOperation{
	"createPet":      {"POST", "/v1/pets", State.createPet},
	"listPets":       {"GET", "/v1/pets", State.listPets},
	"getPet":         {"GET", "/v1/pets/{}", State.getPet},
	"updatePet":      {"PATCH", "/v1/pets/{}", State.updatePet},
	"deletePet":      {"DELETE", "/v1/pets/{}", State.deletePet},
	"getInventory":   {"GET", "/v1/inventory", State.getInventory},
	"createCategory": {"POST", "/v1/categories", State.createCategory},
	"listCategories": {"GET", "/v1/categories", State.listCategories},
	"getCategory":    {"GET", "/v1/categories/{}", State.getCategory},
	"nameCategory":   {"PUT", "/v1/categories/{}", State.nameCategory},
	"deleteCategory": {"DELETE", "/v1/categories/{}", State.deleteCategory},
	"placeOrder":     {"POST", "/v1/orders", State.placeOrder},
	"listOrders":     {"GET", "/v1/orders", State.listOrders},
	"getOrder":       {"GET", "/v1/orders/{}", State.getOrder},
	"updateOrder":    {"PATCH", "/v1/orders/{}", State.updateOrder},
	"completeOrder":  {"POST", "/v1/orders/{}/complete", State.completeOrder},
	"cancelOrder":    {"POST", "/v1/orders/{}/cancel", State.cancelOrder},
}

// Operations returns the names of all operations that the model knows.
func Operations() (names []string) {
	for name := range operations {
		names = append(names, name)
	}
	return names
}

// Parse parses an exchange. It returns false if the exchange shows nothing about the store.
func Parse(e Exchange) (op *Operation, ok bool) {
	op = &Operation{Exchange: e, Replayed: e.Header.Get("Idempotency-Replayed") == "true"}
	path, query, _ := strings.Cut(e.Path, "?")
	parts := strings.Split(path, "/")
	if len(parts) > 3 {
		id, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			return nil, false
		}
		op.ID, parts[3] = id, "{}"
	}
	for name, o := range operations {
		if o.method == e.Method && o.path == strings.Join(parts, "/") {
			op.Name, op.Noun = name, parts[2]
		}
	}
	if op.Name == "" {
		return nil, false
	}
	op.parseFields()
	return op, op.parseAnswer(query)
}

// Makes reports whether the operation creates something with a new id.
func (op *Operation) Makes() bool {
	return op.Method == "POST" && !strings.Contains(operations[op.Name].path, "{}")
}

// IsFinal reports whether repeating the operation has no effect, whatever happens in between. For example, a deleted animal
// stays deleted, and a closed order stays closed.
func (op *Operation) IsFinal() bool {
	return op.Name == "deletePet" || op.Name == "completeOrder" || op.Name == "cancelOrder"
}

// Lists reports whether the operation reads several rows, as a list or an inventory does.
func (op *Operation) Lists() bool {
	return op.Method == "GET" && !strings.Contains(operations[op.Name].path, "{}")
}

// GivenName returns the name or the reference in the request, or "" if there is none.
func (op *Operation) GivenName() string {
	for _, name := range []*string{op.Fields.Name, op.Fields.Reference} {
		if name != nil {
			return *name
		}
	}
	return ""
}

func (op *Operation) parseFields() {
	members, _ := contract.Members(op.Body)
	f := &op.Fields
	f.Name, _ = contract.Text(members, "name", 1000)
	f.Status, _ = contract.Text(members, "status", 10)
	f.Reference, _ = contract.Text(members, "reference", 200)
	f.CategoryID, _ = contract.Whole(members, "categoryId")
	f.PetID, _ = contract.Whole(members, "petId")
	f.HoldSeconds, _ = contract.Whole(members, "holdSeconds")
}

// parseAnswer parses the answer, and reports whether the answer shows something about the store. An error without a code
// does not come from the service, but from a proxy. The proxy may have passed the request on.
func (op *Operation) parseAnswer(query string) bool {
	if op.Status >= 200 && op.Status < 300 {
		op.parseShown()
		op.parsePage(query)
		return true
	}
	var refusal struct{ Code, Message string }
	json.Unmarshal(op.Answer, &refusal)
	op.Code, op.Message = refusal.Code, refusal.Message
	switch op.Code {
	case "", "outcome_unknown", "internal_error":
		op.Unknown = op.Method != "GET"
		return op.Unknown
	case "not_found", "pet_reserved", "pet_unavailable", "order_closed", "name_taken", "idempotency_conflict":
		return true
	}
	return op.Code == "invalid_field" && strings.Contains(op.Message, "there is no animal")
}

func (op *Operation) parseShown() {
	switch op.Noun {
	case "inventory":
		json.Unmarshal(op.Answer, &op.Inventory)
	case "pets":
		shown(op.Answer, &op.Pets)
	case "orders":
		shown(op.Answer, &op.Orders)
	case "categories":
		shown(op.Answer, &op.Categories)
	}
	if rows := op.Rows(); op.Makes() && len(rows) == 1 {
		op.ID = rows[0].ID
	}
}

// The function shown parses an answer with several rows, one row or no row.
func shown[T any](answer []byte, rows *[]T) {
	if bytes.HasPrefix(answer, []byte("{")) {
		answer = slices.Concat([]byte("["), answer, []byte("]"))
	}
	json.Unmarshal(answer, rows)
}

// UsesIdempotencyKey reports whether the request has an Idempotency-Key, which every write honors.
func (op *Operation) UsesIdempotencyKey() bool { return op.IdempotencyKey != "" && op.Method != "GET" }
