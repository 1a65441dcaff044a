// Package petstore is the domain: animals, categories, orders, API keys and plans. It also has the interfaces for storing
// them and for counting requests. It imports only the standard library and knows nothing about HTTP, SQL or the command
// line.
//
// Each noun has a file with its fields and its rules, such as pet.go and order.go. The interfaces are [Storage] and
// [Limiter]. Their comments say what an implementation promises, and package conformance tests these promises. Every refusal
// is an [Error].
package petstore

// MaxID is the highest id that an animal or an order can have: 2^53 - 1. JavaScript clients read numbers up to MaxID
// exactly. The lowest id is 1.
const MaxID = 1<<53 - 1

// MaxNameLength is the greatest length of an animal's name in Unicode code points.
const MaxNameLength = 1000

// Status is the availability of an animal. Databases store the number of a status, so the numbers must never change.
type Status uint8

// AnyStatus selects the animals of every status in a query. No animal has this status.
const AnyStatus Status = 0

// The statuses of an animal.
const (
	Available Status = 1
	Pending   Status = 2
	Sold      Status = 3
)

// Statuses lists every status, in the order in which the API documents them.
var Statuses = []Status{Available, Pending, Sold}

// ParseStatus reads a status as the API spells it.
func ParseStatus(s string) (Status, bool) {
	switch s {
	case "available":
		return Available, true
	case "pending":
		return Pending, true
	case "sold":
		return Sold, true
	}
	return 0, false
}

// String returns the status as the API spells it.
func (s Status) String() string {
	switch s {
	case Available:
		return "available"
	case Pending:
		return "pending"
	case Sold:
		return "sold"
	}
	return ""
}

// NewPet is an animal before it has an id.
type NewPet struct {
	Name       string
	CategoryID int64
	Status     Status
}

// Pet is an animal in the store. Its id is never given to another animal, even after the animal is deleted.
type Pet struct {
	ID int64
	NewPet
}

// CheckPetName returns what is wrong with the name of an animal, or "" if the name may be stored.
func CheckPetName(name string) (problem string) { return CheckText(name, MaxNameLength) }

// CheckStatus returns what is wrong with the status of an animal, or "" if it is a known status.
func CheckStatus(s Status) (problem string) {
	if s.String() == "" {
		return "must be one of available, pending, sold"
	}
	return ""
}

// PetPatch says what to change about an animal. A nil field changes nothing.
type PetPatch struct {
	Name       *string
	CategoryID *int64
	Status     *Status
}

// Patch returns the animal after the patch. The open order that holds the animal is holder, or nil. Patch refuses to change
// the status of an animal that an open order holds.
func (p Pet) Patch(patch PetPatch, holder *Order) (Pet, error) {
	if patch.Status != nil && *patch.Status != p.Status && holder != nil {
		return Pet{}, PetReservedBy(*holder)
	}
	p.Name, p.CategoryID, p.Status = valueOr(patch.Name, p.Name), valueOr(patch.CategoryID, p.CategoryID), valueOr(patch.Status, p.Status)
	return p, nil
}

// Inventory counts the animals of each status.
type Inventory struct {
	Available, Pending, Sold int64
}

// Add adds n animals to the count of a status.
func (i *Inventory) Add(status Status, n int64) {
	switch status {
	case Available:
		i.Available += n
	case Pending:
		i.Pending += n
	case Sold:
		i.Sold += n
	}
}

// NoSuchPet returns the refusal of an id that no animal has.
func NoSuchPet() *Error { return noSuchPet }

var noSuchPet = &Error{Code: NotFound, Noun: PetNoun}

// PetReservedBy returns the refusal to delete an animal that an open order holds, or to change its status.
func PetReservedBy(holder Order) *Error { return &Error{Code: PetReserved, Order: &holder} }
