package petstore

import (
	"context"
	"time"
)

// Storage keeps everything that outlives a request. Every method is safe for concurrent use. What a writing method has
// acknowledged by returning nil is durable and seen by every read that starts afterwards, here and in every other
// process on the same database. No read shows less than one that ended before it began. A method that cannot do its work
// returns an Error with the code Unavailable and has then changed nothing. A write that is broken off when it may already
// have been done returns an Error with the code OutcomeUnknown: it was done as a whole or not at all, and nobody can say
// which. It is never tried again by itself.
type Storage interface {
	Pets
	Categories
	Orders
	Keys

	// PurgeIdempotency forgets the idempotency records made before that time and returns how many there were. The zero time
	// means those that no longer hold, by the clock of the store.
	PurgeIdempotency(ctx context.Context, before time.Time) (int64, error)
	// Ping returns nil if the storage can be read now.
	Ping(ctx context.Context) error
	// Close finishes what was accepted and releases the storage.
	Close() error
}

// Pets keeps animals. Every write to an animal first closes the order that holds it, if that order has expired.
type Pets interface {
	// ListPets returns at most q.Limit animals, newest first.
	ListPets(ctx context.Context, q PetQuery) ([]Pet, error)
	// GetPet returns one animal, or an Error with the code NotFound.
	GetPet(ctx context.Context, id int64) (Pet, error)
	// CreatePet stores a valid animal under an id never used before, once only if that is asked for.
	CreatePet(ctx context.Context, pet NewPet, idempotency *Idempotency) (Pet, bool, error)
	// AddPets stores valid animals, all of them or none, under ids that rise in their order, and does so once only. It
	// reports whether it has met the request before.
	AddPets(ctx context.Context, pets []NewPet, idempotency *Idempotency) (bool, error)
	// UpdatePet changes what a valid patch names and returns the animal. It returns an Error with the code NotFound,
	// or with PetReserved if an open order holds the animal and the patch changes its status.
	UpdatePet(ctx context.Context, id int64, patch PetPatch) (Pet, error)
	// DeletePet removes an animal; its id is never used again. It returns an Error with the code NotFound, or with
	// PetReserved if an open order holds the animal.
	DeletePet(ctx context.Context, id int64) error
	// Inventory counts the animals of each status, exactly, at one moment during the call.
	Inventory(ctx context.Context) (Inventory, error)
}

// Categories keeps names for numbers. No two categories have the same name, compared by code points.
type Categories interface {
	// ListCategories returns at most q.Limit categories in the order of their ids.
	ListCategories(ctx context.Context, q CategoryQuery) ([]Category, error)
	// GetCategory returns one category, or an Error with the code NotFound.
	GetCategory(ctx context.Context, id int64) (Category, error)
	// CreateCategory gives a valid name to the next number of a counter, once only if that is asked for. The counter
	// begins after the highest number that animals carry when the first category is created, never goes back, and skips
	// numbers that have a name. It returns an Error with the code NameTaken if another category has the name.
	CreateCategory(ctx context.Context, name string, idempotency *Idempotency) (Category, bool, error)
	// NameCategory gives a valid name to a number and reports whether the number had none. It returns an Error with the
	// code NameTaken if another category has the name.
	NameCategory(ctx context.Context, category Category) (bool, error)
	// DeleteCategory takes the name from a number, or returns an Error with the code NotFound.
	DeleteCategory(ctx context.Context, id int64) error
}

// Orders keeps orders. An order and its animal change in one transaction: an animal is pending by an order exactly while
// that order is stored as open. Orders are returned as they count at the moment of the call by the storage's clock.
type Orders interface {
	// ListOrders returns at most q.Limit orders, newest first.
	ListOrders(ctx context.Context, q OrderQuery) ([]Order, error)
	// GetOrder returns one order, or an Error with the code NotFound.
	GetOrder(ctx context.Context, id int64) (Order, error)
	// PlaceOrder holds an available animal, which becomes pending, once only if that is asked for. It returns an Error
	// with the code InvalidField if there is no such animal, or with PetUnavailable if it is not available.
	PlaceOrder(ctx context.Context, order NewOrder, idempotency *Idempotency) (Order, bool, error)
	// CloseOrder brings an order to Completed or Cancelled, and its animal to the status that leaves. An order that is
	// there already is returned as it is. It returns an Error with the code NotFound, or with OrderClosed if the order
	// is closed otherwise.
	CloseOrder(ctx context.Context, id int64, to OrderStatus) (Order, error)
	// ExpireOrders closes the open orders whose time is over, frees their animals, and returns how many there were. Any
	// number of processes may call it at the same time; with nothing to do it writes nothing.
	ExpireOrders(ctx context.Context) (int64, error)
}

// Keys keeps API keys and the bans of their owners.
type Keys interface {
	// CreateKey stores a new key.
	CreateKey(ctx context.Context, key Key, hash SecretHash) error
	// CreateFirstKey stores the key only if there is none at all, and reports whether it did.
	CreateFirstKey(ctx context.Context, key Key, hash SecretHash) (bool, error)
	// EnsureKey stores the key. If its hash is there already, it makes that one usable when the key is made, and changes
	// nothing else about it.
	EnsureKey(ctx context.Context, key Key, hash SecretHash) error
	// FindKey returns the key with that hash, usable or not, or an Error with the code NotFound.
	FindKey(ctx context.Context, hash SecretHash) (Key, error)
	// Keys returns every key, oldest first.
	Keys(ctx context.Context) ([]Key, error)
	// RotateKey replaces a key by its Successor with that hash and lets the old one live for the overlap. It returns an
	// Error with the code NotFound if there is no such key, or Unauthorized if it is not usable any more or was rotated
	// already.
	RotateKey(ctx context.Context, id string, hash SecretHash, now time.Time, overlap time.Duration) (Key, error)
	// UpdateKey makes a Change of a key, of plan and limits for every key of its owner, and returns the key. It returns
	// an Error with the code NotFound if there is no such key, or the refusal of Change.
	UpdateKey(ctx context.Context, id string, change KeyChange, now time.Time) (Key, error)
	// UseKey notes that a key was used in the hour that begins then. It raises LastUsedAt, never lowers it, and writes
	// nothing if there is nothing to raise.
	UseKey(ctx context.Context, id string, hour time.Time) error
	// RevokeKey ends a key for good; revoking it again changes nothing. NotFound if there is no such key.
	RevokeKey(ctx context.Context, id string, now time.Time) error

	// BanOwner starts the owner's next ban and returns it. During a ban it returns that one unchanged. NotFound if no
	// key has that owner, as with UnbanOwner.
	BanOwner(ctx context.Context, owner string, now time.Time) (Ban, error)
	// UnbanOwner lifts the owner's ban and forgets the earlier ones.
	UnbanOwner(ctx context.Context, owner string) error
}

// Versioned is implemented by a Storage that alone writes its animals.
type Versioned interface {
	// Version changes with a write of animals, before the write is acknowledged and before any read shows it. So what
	// a read showed may be shown again as long as the version is what it was before that read.
	Version() uint64
}

// PetQuery selects a page of animals.
type PetQuery struct {
	// Status keeps the animals of that status only; zero keeps all.
	Status Status
	// Before keeps the animals with a lower id only; zero keeps all.
	Before int64
	// Limit is the largest number of animals returned.
	Limit int
}

// CategoryQuery selects a page of categories.
type CategoryQuery struct {
	// From keeps the categories with that id or a higher one only.
	From int64
	// Limit is the largest number of categories returned.
	Limit int
}

// OrderQuery selects a page of orders.
type OrderQuery struct {
	// Status keeps the orders that count as being in that state only; zero keeps all.
	Status OrderStatus
	// PetID keeps the orders of that animal only; nil keeps all.
	PetID *int64
	// Before keeps the orders with a lower id only; zero keeps all.
	Before int64
	// Limit is the largest number of orders returned.
	Limit int
}

// IdempotencyKept is how long an idempotency record holds.
const IdempotencyKept = 24 * time.Hour

// Idempotency names a request that must make something once only, however often it is sent. A method that takes one and
// has met it before makes nothing: it returns what was made the first time, as it was then, and true, or an Error with the
// code IdempotencyConflict if the fingerprints differ. A request that was refused is not remembered.
type Idempotency struct {
	Owner string
	Key   string
	// Fingerprint is of the operation and its body.
	Fingerprint [32]byte
	// Now is when the request came: records made IdempotencyKept before it no longer hold. The zero time means now, by the
	// clock of the store, which all replicas share.
	Now time.Time
}

// IdempotencyKeyReused is the refusal of a key that was used for another request.
func IdempotencyKeyReused() *Error {
	return Errorf(IdempotencyConflict, "This Idempotency-Key was already used for another request. Use a new one for each request.")
}

// AlreadyRotated is the refusal to rotate a key that has a successor.
func AlreadyRotated(id, successor string) *Error {
	return Errorf(Unauthorized, "key %s was rotated already, and key %s is its successor; petstore keys list shows both", id, successor)
}

// NoSuchKey is the refusal of a key id that is not in the storage.
func NoSuchKey(id string) *Error {
	return Errorf(NotFound, "there is no key %s; petstore keys list shows those there are", id)
}
