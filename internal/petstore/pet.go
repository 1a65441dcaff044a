// Package petstore is the domain: animals, orders, API keys and plans, and the interfaces of what stores and counts them.
// It imports the standard library only and knows nothing of HTTP, SQL or the command line.
//
// Each noun has a file with its fields and its rules, such as pet.go and order.go. The interfaces are [Storage] and
// [Limiter]; what they promise is written there, and package conformance tests it. Every refusal is an [Error].
package petstore

// MaxNameLength is the longest name of an animal, in Unicode code points.
const MaxNameLength = 1000

// Status is the availability of an animal. Its numbers are stored: never renumber them.
type Status uint8

// AnyStatus in a query selects the animals of every status. No animal has it.
const AnyStatus Status = 0

// The states an animal can be in.
const (
	Available Status = 1
	Pending   Status = 2
	Sold      Status = 3
)

// Statuses lists every status in the order of the published interface.
var Statuses = []Status{Available, Pending, Sold}

// ParseStatus reads the published spelling of a status.
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

// String is the published spelling.
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

// Pet is an animal in the store. No other animal ever had its id or ever will.
type Pet struct {
	ID int64
	NewPet
}

// Validate returns what is wrong with the fields. It returns no faults if the animal may be stored.
func (p NewPet) Validate() Faults {
	var faults Faults
	faults.Add("name", CheckPetName(p.Name))
	faults.Add("status", CheckStatus(p.Status))
	return faults
}

// CheckPetName says what is wrong with the name of an animal. It returns "" if the name may be stored.
func CheckPetName(name string) (problem string) { return CheckText(name, MaxNameLength) }

// CheckStatus says what is wrong with the status of an animal. It returns "" for a known status.
func CheckStatus(s Status) (problem string) {
	if s.String() == "" {
		return "must be one of available, pending, sold"
	}
	return ""
}

// PetPatch says what to change about an animal. A nil field stays as it is.
type PetPatch struct {
	Name       *string
	CategoryID *int64
	Status     *Status
}

// Patch is the animal after the patch. It refuses to change the status while an open order, the holder, holds the animal.
func (p Pet) Patch(patch PetPatch, holder *Order) (Pet, error) {
	if patch.Status != nil && *patch.Status != p.Status && holder != nil {
		return Pet{}, PetReservedBy(*holder)
	}
	p.Name, p.CategoryID, p.Status = or(patch.Name, p.Name), or(patch.CategoryID, p.CategoryID), or(patch.Status, p.Status)
	return p, nil
}

// Inventory counts the animals of each status.
type Inventory struct {
	Available, Pending, Sold int64
}

// Add counts n more animals of a status.
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

// NoSuchPet is the refusal of an id that no animal has.
func NoSuchPet() *Error { return noSuchPet }

var noSuchPet = &Error{Code: NotFound, Noun: PetNoun}

// PetReservedBy is the refusal to change or delete an animal that an open order holds.
func PetReservedBy(holder Order) *Error { return &Error{Code: PetReserved, Order: &holder} }
