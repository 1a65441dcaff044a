package petstore

import (
	"context"
	"errors"
	"time"
)

// Database is everything that a database does for the program. Code takes only the interface that it needs; only code
// that opens or tests databases takes all of them.
type Database interface {
	Storage
	Upkeep
	Loader
	Source
	Target
}

// Storage stores animals, profiles, categories, orders, their events, webhooks, and keys. It is what the HTTP edge needs to
// answer requests. Every method is safe for concurrent use.
//
// When a method that writes returns nil, the write is durable. Every read that starts later sees it, in this process and
// in every other process on the same database. A read never shows an older state than a read that ended before it began.
//
// A method that cannot do its work returns an Error with the code Unavailable and has changed nothing. A write that was
// interrupted but may have been made returns an Error with the code OutcomeUnknown. Such a write was made completely or
// not at all, and the Storage never retries it.
type Storage interface {
	Pets
	Profiles
	Categories
	Orders
	Events
	Webhooks
	Keys

	// Describe returns facts about the storage for administrators. Its cost is proportional to the number of photos.
	Describe(ctx context.Context) (StorageDescription, error)
	// Ping returns nil if the storage can be read now.
	Ping(ctx context.Context) error
	// Close completes the calls that are under way and releases the storage.
	Close() error
}

// Pets stores animals. Every write to an animal first closes the order that holds it, if that order has expired.
type Pets interface {
	// ListPets returns at most q.Limit animals, newest first. A search that would take longer than SearchTimeout returns an
	// Error with the code Unavailable.
	ListPets(ctx context.Context, q PetQuery) ([]Pet, error)
	// GetPet returns one animal, or an Error with the code NotFound.
	GetPet(ctx context.Context, id int64) (Pet, error)
	// Inventory counts the animals of each status. The counts are exact for one moment during the call.
	Inventory(ctx context.Context) (Inventory, error)

	// CreatePet stores a valid animal under an id that was never used before.
	CreatePet(ctx context.Context, pet NewPet, idempotency *Idempotency) (made Pet, replayed bool, err error)
	// UpdatePet changes the fields that a valid patch names and returns the animal. It returns an Error with the code
	// NotFound, or PetReserved if an open order holds the animal and the patch changes its status.
	UpdatePet(ctx context.Context, id int64, patch PetPatch, idempotency *Idempotency) (changed Pet, replayed bool, err error)
	// DeletePet removes an animal, whose id is never used again, with its profile and photos. It returns an Error with the
	// code NotFound, or PetReserved if an open order holds the animal.
	DeletePet(ctx context.Context, id int64, idempotency *Idempotency) (replayed bool, err error)
}

// Profiles stores what is known about animals beyond their Pet, and their photos. All of its methods that take the id of an
// animal return an Error with the code NotFound if there is no such animal, except Profiles.
type Profiles interface {
	// GetProfile returns the profile of one animal, which is empty if nothing is known.
	GetProfile(ctx context.Context, petID int64) (Profile, error)
	// Profiles returns the profiles of animals by their ids. It leaves out animals that do not exist.
	Profiles(ctx context.Context, petIDs []int64) (map[int64]Profile, error)
	// PhotoFile returns a file of the photo with that token, or an Error with the code NotFound.
	PhotoFile(ctx context.Context, token string, size PhotoSize) ([]byte, error)

	// UpdateProfile changes the facts that a valid patch names and returns the profile.
	UpdateProfile(ctx context.Context, petID int64, patch ProfilePatch, idempotency *Idempotency) (changed Profile, replayed bool, err error)
	// AddPhoto stores a photo under an id that was never used before. It returns an Error with the code TooManyPhotos if
	// the animal has MaxPhotos.
	AddPhoto(ctx context.Context, petID int64, photo NewPhoto, idempotency *Idempotency) (added Photo, replayed bool, err error)
	// CoverPhoto makes a photo of the animal its cover and returns the profile. It returns an Error with the code NotFound
	// if the animal has no such photo.
	CoverPhoto(ctx context.Context, petID, photoID int64, idempotency *Idempotency) (changed Profile, replayed bool, err error)
	// DeletePhoto removes a photo of the animal, or returns an Error with the code NotFound. If it was the cover, the
	// earliest of the others takes its place.
	DeletePhoto(ctx context.Context, petID, photoID int64, idempotency *Idempotency) (replayed bool, err error)
}

// Categories stores names for numbers. No two categories have the same name; names are compared code point by code
// point.
type Categories interface {
	// ListCategories returns at most q.Limit categories, ordered by id.
	ListCategories(ctx context.Context, q CategoryQuery) ([]Category, error)
	// GetCategory returns one category, or an Error with the code NotFound.
	GetCategory(ctx context.Context, id int64) (Category, error)

	// CreateCategory gives a valid name to the next number of a counter. The counter starts after the highest number that
	// any animal has when the first category is created. It never goes back, and it skips numbers that already have a
	// name. CreateCategory returns an Error with the code NameTaken if another category has the name.
	CreateCategory(ctx context.Context, name string, idempotency *Idempotency) (made Category, replayed bool, err error)
	// NameCategory gives a valid name to a number and reports whether the number had none before. It returns an Error
	// with the code NameTaken if another category has the name.
	NameCategory(ctx context.Context, category Category, idempotency *Idempotency) (isNew, replayed bool, err error)
	// DeleteCategory removes the name of a number, or returns an Error with the code NotFound.
	DeleteCategory(ctx context.Context, id int64, idempotency *Idempotency) (replayed bool, err error)
}

// Orders stores orders. An order and its animal change in one transaction, so the animal is pending for exactly as long
// as the order is stored as open. Orders are returned as of the time of the call, by the storage's clock.
type Orders interface {
	// ListOrders returns at most q.Limit orders, newest first. Like GetOrder, it stores that an order has expired
	// before it returns the order as expired. So an order that was once shown as expired stays expired.
	ListOrders(ctx context.Context, q OrderQuery) ([]Order, error)
	// GetOrder returns one order, or an Error with the code NotFound.
	GetOrder(ctx context.Context, id int64) (Order, error)

	// PlaceOrder places an order for an available animal, which becomes pending. It returns an Error with the code
	// InvalidField if there is no such animal, or PetUnavailable if the animal is not available.
	PlaceOrder(ctx context.Context, order NewOrder, idempotency *Idempotency) (placed Order, replayed bool, err error)
	// UpdateOrder changes what a valid patch names and returns the order. It returns an Error with the code NotFound, or
	// OrderClosed if the patch has a hold and the order is closed.
	UpdateOrder(ctx context.Context, id int64, patch OrderPatch, idempotency *Idempotency) (changed Order, replayed bool, err error)
	// CloseOrder moves an order to Completed or Cancelled, and gives its animal the status that this state Leaves. It
	// returns an order that is already in that state unchanged. It returns an Error with the code NotFound, or
	// OrderClosed if the order is closed in another state.
	CloseOrder(ctx context.Context, id int64, to OrderStatus, idempotency *Idempotency) (closed Order, replayed bool, err error)
}

// Keys stores API keys, the bans of their owners, and how much each owner uses the service.
//
// A method that takes a KeyRequest first authorizes the key that asks, if a key asks: it returns an Error with the code
// Unauthorized if that key is no longer usable, or Forbidden if it is not an administrator's. It returns an Error with the
// code OwnKey if the rules for administrators forbid the change. All this is decided in the transaction of the change.
type Keys interface {
	// Creating keys:

	// CreateKey stores a new key. If the same request has already created a key, CreateKey returns an Error with the code
	// SecretShown that names that key.
	CreateKey(ctx context.Context, key Key, hash SecretHash, request KeyRequest) error
	// CreateFirstKey stores the key only if the storage has no keys, and reports whether it did.
	CreateFirstKey(ctx context.Context, key Key, hash SecretHash) (bool, error)
	// EnsureKey stores the key. If a key with that hash already exists, EnsureKey makes that key usable at
	// key.CreatedAt and changes nothing else about it.
	EnsureKey(ctx context.Context, key Key, hash SecretHash) error

	// Finding keys, and recording that they are used:

	// FindKey returns the key with that hash, even if it is no longer usable, or an Error with the code NotFound.
	FindKey(ctx context.Context, hash SecretHash) (Key, error)
	// GetKey returns the key with that id, even if it is no longer usable, or an Error with the code NotFound.
	GetKey(ctx context.Context, id string) (Key, error)
	// ListKeys returns at most q.Limit keys, newest first. Keys that were created at the same time are ordered by id, the
	// highest first.
	ListKeys(ctx context.Context, q KeyQuery) ([]Key, error)
	// Keys returns every key, oldest first.
	Keys(ctx context.Context) ([]Key, error)
	// UseKey records that a key was used in the hour that begins at that time. It never moves LastUsedAt back, and
	// writes nothing if LastUsedAt does not change.
	UseKey(ctx context.Context, id string, hour time.Time) error

	// Changing and ending keys:

	// RotateKey makes a Rotation of a key and returns the successor, which has that hash. RotateKey returns an Error with
	// the code NotFound if there is no such key, KeyRevoked if the key is no longer usable or was already rotated, or
	// SecretShown, which names the successor, if the same request has already rotated the key.
	RotateKey(ctx context.Context, id string, hash SecretHash, rotation Rotation, request KeyRequest) (Key, error)
	// UpdateKey makes a Change to a key and returns the key. A change of plan or limits affects every key of the same
	// owner. UpdateKey returns an Error with the code NotFound if there is no such key, or the error of Change.
	UpdateKey(ctx context.Context, id string, change KeyChange, request KeyRequest) (changed Key, replayed bool, err error)
	// RevokeKey ends a key permanently and returns it. Revoking it again changes nothing. It returns an Error with the code
	// NotFound if there is no such key.
	RevokeKey(ctx context.Context, id string, request KeyRequest) (revoked Key, replayed bool, err error)

	// Banning owners:

	// BanOwner starts the owner's next ban and returns it. If a ban is in force, it returns that ban unchanged. It
	// returns an Error with the code NotFound if no key has that owner.
	BanOwner(ctx context.Context, owner string, now time.Time) (Ban, error)
	// UnbanKey lifts the ban of a key's owner, deletes the record of earlier ones, and returns the key. It returns an Error
	// with the code NotFound if there is no such key.
	UnbanKey(ctx context.Context, id string, request KeyRequest) (unbanned Key, replayed bool, err error)

	// Usage:

	// Usage returns the usage of an owner in each hour with requests, from the given time on, oldest first. It returns
	// nothing that is older than UsageKept, by the storage's clock.
	Usage(ctx context.Context, owner string, since time.Time) ([]Usage, error)
}

// StorageDescription has facts about a storage for administrators.
type StorageDescription struct {
	// Database is the kind of database: sqlite or postgres.
	Database string
	// Schema is the version of the schema.
	Schema int64
	// DatabaseBytes is the size of the whole database. PhotoBytes is the size of the files of photos, which are a part of it.
	DatabaseBytes, PhotoBytes int64
	// Events is the number of events that are kept.
	Events int64
}

// Upkeep is what a server does with its storage besides answering requests.
type Upkeep interface {
	EventUpkeep
	WebhookDelivering

	// MarkServed records permanently that a server serves from this storage. From then on, nothing can be copied into
	// it.
	MarkServed(ctx context.Context) error
	// ExpireOrders closes the open orders that have expired, makes their animals available, and returns the number of
	// these orders. Any number of processes may call it at the same time. It writes nothing if no order has expired.
	ExpireOrders(ctx context.Context) (int64, error)
	// PurgeIdempotency deletes the idempotency records made before that time and returns their number. If the time is
	// zero, it deletes the records that are older than IdempotencyKept, by the storage's clock.
	PurgeIdempotency(ctx context.Context, before time.Time) (int64, error)
	// AddUsage adds usage to what is stored. The argument added has each owner and hour at most once. If AddUsage fails, it
	// may have added a part; a repeat with the same idempotency then adds the rest, and nothing twice. Any number of
	// processes may call it at the same time.
	AddUsage(ctx context.Context, added []OwnerUsage, idempotency *Idempotency) (replayed bool, err error)
	// PurgeUsage deletes the usage in hours that began before that time and returns the number of records. If the time is
	// zero, it deletes what is older than UsageKept, by the storage's clock. A server calls it every minute, so a
	// storage may also merge then what AddUsage has added. Merging changes no sum.
	PurgeUsage(ctx context.Context, before time.Time) (int64, error)
	// Connections returns how many connections are in use now.
	Connections() Connections
	// OpenOrders counts the orders that hold an animal. Its cost is proportional to their number.
	OpenOrders(ctx context.Context) (int64, error)
	// PhotoBytes returns how many bytes all files of photos have. Its cost is proportional to the number of photos.
	PhotoBytes(ctx context.Context) (int64, error)
}

// Loader adds many animals at once, for an import directly into a database.
type Loader interface {
	// AddPets stores valid animals under ascending ids: either all of them or none, and only once.
	AddPets(ctx context.Context, pets []NewPet, idempotency *Idempotency) (replayed bool, err error)
	// Counters returns the highest ids ever assigned.
	Counters(ctx context.Context) (Counters, error)
}

// Versioned is implemented by a Storage that can be the only process that writes its animals.
type Versioned interface {
	// Version returns a number that changes with every write of animals, before the write is acknowledged and before
	// any read shows it. So the answer to a read may be reused for as long as the version is the one from before that
	// read. If another process may write animals, ok is false and the version means nothing.
	Version() (version uint64, ok bool)
}

// PetQuery selects a page of animals.
type PetQuery struct {
	// ID selects the animal with that id; zero selects all.
	ID int64
	// Status selects the animals of that status; AnyStatus selects all.
	Status Status
	// Category selects the animals of that category, if OfCategory is set.
	Category   int64
	OfCategory bool
	// Search selects the animals whose name and breed have the Words of this text, as FoundBy compares them; "" selects all.
	Search string
	// Before selects the animals with a lower id; zero selects all.
	Before int64
	// Limit is the largest number of animals returned.
	Limit int
}

// Selects reports whether an animal meets all conditions of the query but its Search.
func (q PetQuery) Selects(pet Pet) bool {
	return (q.ID == 0 || pet.ID == q.ID) &&
		(q.Status == AnyStatus || pet.Status == q.Status) &&
		(!q.OfCategory || pet.CategoryID == q.Category) &&
		(q.Before == 0 || pet.ID < q.Before)
}

// IsPlain reports whether the query names nothing but a status and a position.
func (q PetQuery) IsPlain() bool { return q.ID == 0 && !q.OfCategory && q.Search == "" }

// SearchTimeout is how long a search may take.
const SearchTimeout = 2 * time.Second

// ErrSearchTimeout is the cause of an Error with the code Unavailable if a search has used up its SearchTimeout.
var ErrSearchTimeout = errors.New("the search takes too long")

// CategoryQuery selects a page of categories.
type CategoryQuery struct {
	// From selects the categories with that id or a higher one.
	From int64
	// Limit is the largest number of categories returned.
	Limit int
}

// OrderQuery selects a page of orders.
type OrderQuery struct {
	// Status selects the orders that are in that state at the time of the call; AnyOrderStatus selects all.
	Status OrderStatus
	// PetID selects the orders of that animal; nil selects all.
	PetID *int64
	// Before selects the orders with a lower id; zero selects all.
	Before int64
	// Limit is the largest number of orders returned.
	Limit int
}

// KeyQuery selects a page of keys.
type KeyQuery struct {
	// UsableAt selects the keys that can be used at that time; the zero time selects all.
	UsableAt time.Time
	// After selects the keys that follow the key that was created at that time and has that id; its zero value selects all.
	After KeyPlace
	// Limit is the largest number of keys returned.
	Limit int
}

// KeyPlace is the place of a key in the list of keys.
type KeyPlace struct {
	CreatedAt time.Time
	ID        string
}

// IdempotencyKept is how long an idempotency record is valid.
const IdempotencyKept = 24 * time.Hour

// Idempotency identifies a write that must be made only once, however often it is sent. If the same owner and key come
// again, the method changes nothing and reports replayed: it returns what it returned the first time, even if others have
// changed that since. A profile that is too large for a record is returned as it is now. The method returns an Error with
// the code IdempotencyConflict if the fingerprints differ. Refused requests are not recorded. A nil Idempotency makes the write each time.
type Idempotency struct {
	Owner string
	Key   string
	// Fingerprint is a hash of the operation, what it is applied to, and its body.
	Fingerprint [32]byte
	// Now is when the request arrived. Records made IdempotencyKept or longer before that are no longer valid. The zero
	// time means now, by the storage's clock, which all replicas share.
	Now time.Time
}

// IdempotencyKeyReused returns the refusal of a key that was used for another request.
func IdempotencyKeyReused() *Error { return &Error{Code: IdempotencyConflict} }
