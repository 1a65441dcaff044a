package petstore

import (
	"context"
	"time"
)

// Database is all that a database does for the program. Code takes the one of these seams that it needs; only those who
// open and test databases take the whole.
type Database interface {
	Storage
	Upkeep
	Loader
	Source
	Target
}

// Storage keeps everything that outlives a request; it is what the edge needs to answer one. Every method is safe for concurrent use. When a writing method
// returns nil, its write is durable, and every read that starts later sees it, in this process and in every other one
// on the same database. No read shows less than a read that ended before it began. A method that cannot do its work
// returns an Error with the code Unavailable and has changed nothing. A write that was broken off, but may have been
// done, returns an Error with the code OutcomeUnknown: it was done as a whole or not at all, and nobody can say which.
// The Storage never tries such a write again.
type Storage interface {
	Pets
	Categories
	Orders
	Keys

	// Ping returns nil if the storage can be read now.
	Ping(ctx context.Context) error
	// Close finishes the work that was accepted and releases the storage.
	Close() error
}

// Pets keeps animals. Every write to an animal first closes the order that holds it, if that order has expired.
type Pets interface {
	// ListPets returns at most q.Limit animals, newest first.
	ListPets(ctx context.Context, q PetQuery) ([]Pet, error)
	// GetPet returns one animal, or an Error with the code NotFound.
	GetPet(ctx context.Context, id int64) (Pet, error)
	// Inventory counts the animals of each status, exactly, at one moment during the call.
	Inventory(ctx context.Context) (Inventory, error)

	// CreatePet stores a valid animal under an id never used before, only once if idempotency is given.
	CreatePet(ctx context.Context, pet NewPet, idempotency *Idempotency) (made Pet, replayed bool, err error)
	// UpdatePet changes what a valid patch names and returns the animal. It returns an Error with the code NotFound,
	// or with PetReserved if an open order holds the animal and the patch changes its status.
	UpdatePet(ctx context.Context, id int64, patch PetPatch) (Pet, error)
	// DeletePet removes an animal; its id is never used again. It returns an Error with the code NotFound, or with
	// PetReserved if an open order holds the animal.
	DeletePet(ctx context.Context, id int64) error
}

// Categories keeps names for numbers. No two categories have the same name, compared by code points.
type Categories interface {
	// ListCategories returns at most q.Limit categories in the order of their ids.
	ListCategories(ctx context.Context, q CategoryQuery) ([]Category, error)
	// GetCategory returns one category, or an Error with the code NotFound.
	GetCategory(ctx context.Context, id int64) (Category, error)

	// CreateCategory gives a valid name to the next number of a counter, only once if idempotency is given. The counter
	// begins after the highest number that animals carry when the first category is created. It never goes back, and it
	// skips numbers that have a name. CreateCategory returns an Error with the code NameTaken if another category has
	// the name.
	CreateCategory(ctx context.Context, name string, idempotency *Idempotency) (made Category, replayed bool, err error)
	// NameCategory gives a valid name to a number and reports whether the number had no name before. It returns an Error
	// with the code NameTaken if another category has the name.
	NameCategory(ctx context.Context, category Category) (isNew bool, err error)
	// DeleteCategory takes the name from a number, or returns an Error with the code NotFound.
	DeleteCategory(ctx context.Context, id int64) error
}

// Orders keeps orders. An order and its animal change in one transaction: an order makes its animal pending exactly while
// the order is stored as open. Orders are returned as they count at the moment of the call, by the storage's clock.
type Orders interface {
	// ListOrders returns at most q.Limit orders, newest first. Like GetOrder, it stores that an order has expired
	// before it shows the order as expired. So an order that was shown as expired stays expired.
	ListOrders(ctx context.Context, q OrderQuery) ([]Order, error)
	// GetOrder returns one order, or an Error with the code NotFound.
	GetOrder(ctx context.Context, id int64) (Order, error)

	// PlaceOrder holds an available animal, which becomes pending, only once if idempotency is given. It returns an Error
	// with the code InvalidField if there is no such animal, or with PetUnavailable if the animal is not available.
	PlaceOrder(ctx context.Context, order NewOrder, idempotency *Idempotency) (placed Order, replayed bool, err error)
	// CloseOrder brings an order to the state to, which is Completed or Cancelled, and gives its animal the status that
	// this state Leaves. It returns an order already in that state as it is. It returns an Error with the code NotFound,
	// or with OrderClosed if the order is closed in another state.
	CloseOrder(ctx context.Context, id int64, to OrderStatus) (Order, error)
}

// Keys keeps API keys and the bans of their owners.
type Keys interface {
	// How a key comes into being:

	// CreateKey stores a new key.
	CreateKey(ctx context.Context, key Key, hash SecretHash) error
	// CreateFirstKey stores the key only if there is none at all, and reports whether it did.
	CreateFirstKey(ctx context.Context, key Key, hash SecretHash) (bool, error)
	// EnsureKey stores the key. If there is a key with that hash already, EnsureKey only makes that key usable at the time
	// key.CreatedAt, and changes nothing else about it.
	EnsureKey(ctx context.Context, key Key, hash SecretHash) error

	// How keys are found and their use is noted:

	// FindKey returns the key with that hash, usable or not, or an Error with the code NotFound.
	FindKey(ctx context.Context, hash SecretHash) (Key, error)
	// Keys returns every key, oldest first.
	Keys(ctx context.Context) ([]Key, error)
	// UseKey notes that a key was used in the hour that begins at that time. It raises LastUsedAt, never lowers it, and
	// writes nothing if there is nothing to raise.
	UseKey(ctx context.Context, id string, hour time.Time) error

	// How a key changes and ends:

	// RotateKey replaces a key with its Successor, which has that hash, and lets the old key live for the overlap. It
	// returns an Error with the code NotFound if there is no such key, or KeyRevoked if the key is no longer usable
	// or was already rotated.
	RotateKey(ctx context.Context, id string, hash SecretHash, now time.Time, overlap time.Duration) (Key, error)
	// UpdateKey makes a Change to a key and returns the key. A change of plan or limits goes to every key of the same
	// owner. UpdateKey returns an Error with the code NotFound if there is no such key, or the refusal of Change.
	UpdateKey(ctx context.Context, id string, change KeyChange, now time.Time) (Key, error)
	// RevokeKey ends a key for good; revoking it again changes nothing. It returns an Error with the code NotFound if
	// there is no such key.
	RevokeKey(ctx context.Context, id string, now time.Time) error

	// How its owner is banned:

	// BanOwner starts the owner's next ban and returns it. During a ban it returns that ban unchanged. It returns an
	// Error with the code NotFound if no key has that owner.
	BanOwner(ctx context.Context, owner string, now time.Time) (Ban, error)
	// UnbanOwner lifts the owner's ban and forgets the earlier ones. It returns an Error with the code NotFound if no key
	// has that owner.
	UnbanOwner(ctx context.Context, owner string) error
}

// Upkeep is what a server does to its storage besides answering requests.
type Upkeep interface {
	// MarkServed records for good that a server serves from this storage. From then on nothing can be copied into it.
	MarkServed(ctx context.Context) error
	// ExpireOrders closes the open orders whose time is over, frees their animals, and returns how many there were. Any
	// number of processes may call it at the same time. It writes nothing if there is nothing to do.
	ExpireOrders(ctx context.Context) (int64, error)
	// PurgeIdempotency deletes the idempotency records made before that time and returns how many there were. The zero time
	// means those that no longer count, by the clock of the storage.
	PurgeIdempotency(ctx context.Context, before time.Time) (int64, error)
	// Connections tells how many connections are in use at this moment.
	Connections() Connections
	// OpenOrders counts the orders that hold an animal. Its cost grows with their number.
	OpenOrders(ctx context.Context) (int64, error)
}

// Loader adds many animals at once, for an import straight into a database.
type Loader interface {
	// AddPets stores valid animals, all of them or none, under ascending ids, and does so only once.
	AddPets(ctx context.Context, pets []NewPet, idempotency *Idempotency) (replayed bool, err error)
	// Counters returns the highest ids that were ever given out.
	Counters(ctx context.Context) (Counters, error)
}

// Versioned is implemented by a Storage that can be the only writer of its animals.
type Versioned interface {
	// Version changes with every write of animals, before the write is acknowledged and before any read shows it. So
	// the answer of a read may be used again as long as the version is the same as before that read. If another process
	// may write animals, ok is false and the version says nothing.
	Version() (version uint64, ok bool)
}

// PetQuery selects a page of animals.
type PetQuery struct {
	// Status selects the animals of that status; AnyStatus selects all.
	Status Status
	// Before selects the animals with a lower id; zero selects all.
	Before int64
	// Limit is the largest number of animals returned.
	Limit int
}

// CategoryQuery selects a page of categories.
type CategoryQuery struct {
	// From selects the categories with that id or a higher one.
	From int64
	// Limit is the largest number of categories returned.
	Limit int
}

// OrderQuery selects a page of orders.
type OrderQuery struct {
	// Status selects the orders that count as being in that state; AnyOrderStatus selects all.
	Status OrderStatus
	// PetID selects the orders of that animal; nil selects all.
	PetID *int64
	// Before selects the orders with a lower id; zero selects all.
	Before int64
	// Limit is the largest number of orders returned.
	Limit int
}

// IdempotencyKept is how long an idempotency record counts.
const IdempotencyKept = 24 * time.Hour

// Idempotency names a request that must make something only once, however often it is sent. A method that gets one it
// has seen before makes nothing: the request is replayed. The method returns what was made the first time, as it was
// then; or an Error with the code IdempotencyConflict if the fingerprints differ. A request that was refused is not
// remembered.
type Idempotency struct {
	Owner string
	Key   string
	// Fingerprint is a hash of the operation and its body.
	Fingerprint [32]byte
	// Now is when the request arrived. Records made IdempotencyKept before that no longer count. The zero time means now, by
	// the clock of the store, which all replicas share.
	Now time.Time
}

// IdempotencyKeyReused is the refusal of a key that was used for another request.
func IdempotencyKeyReused() *Error { return &Error{Code: IdempotencyConflict} }
