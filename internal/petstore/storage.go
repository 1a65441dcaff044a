package petstore

import (
	"context"
	"time"
)

// Storage keeps animals, keys and idempotency records. Every method is safe for concurrent use. What a writing method
// has acknowledged by returning nil is durable and seen by every read that starts afterwards, here and in every other
// process on the same database. No read of animals shows less than one that ended before it began.
// A method that cannot do its work returns an Error with the code Unavailable and has
// then stored nothing; only where the connection broke before the answer came, it may have stored everything.
type Storage interface {
	// ListPets returns at most q.Limit animals, newest first.
	ListPets(ctx context.Context, q PetQuery) ([]Pet, error)
	// GetPet returns one animal, or an Error with the code NotFound.
	GetPet(ctx context.Context, id int64) (Pet, error)
	// CreatePet stores a valid animal under an id never used before. With a once that is not nil and was met before,
	// it stores nothing: it returns the animal of the first time and true, or an Error with the code
	// IdempotencyConflict if the fingerprints differ.
	CreatePet(ctx context.Context, pet NewPet, once *Once) (Pet, bool, error)
	// PurgeOnce forgets the idempotency records made before that time and returns how many there were.
	PurgeOnce(ctx context.Context, before time.Time) (int64, error)

	// CreateKey stores a new key.
	CreateKey(ctx context.Context, key Key, hash SecretHash) error
	// CreateFirstKey stores the key only if there is none at all, and reports whether it did.
	CreateFirstKey(ctx context.Context, key Key, hash SecretHash) (bool, error)
	// EnsureKey stores the key, or if its hash is there already makes that one usable again, with the plan and limits of key.
	EnsureKey(ctx context.Context, key Key, hash SecretHash) error
	// FindKey returns the key with that hash, usable or not, or an Error with the code NotFound.
	FindKey(ctx context.Context, hash SecretHash) (Key, error)
	// Keys returns every key, oldest first.
	Keys(ctx context.Context) ([]Key, error)
	// RotateKey replaces a key by its Successor with that hash and lets the old one live for the overlap. It
	// returns an Error with the code NotFound if there is no such key, or Unauthorized if it is not usable any more.
	RotateKey(ctx context.Context, id string, hash SecretHash, now time.Time, overlap time.Duration) (Key, error)
	// RevokeKey ends a key for good; revoking it again changes nothing. NotFound if there is no such key.
	RevokeKey(ctx context.Context, id string, now time.Time) error

	// BanOwner starts the owner's next ban and returns it. During a ban it returns that one unchanged. NotFound if no
	// key has that owner, as with UnbanOwner.
	BanOwner(ctx context.Context, owner string, now time.Time) (Ban, error)
	// UnbanOwner lifts the owner's ban and forgets the earlier ones.
	UnbanOwner(ctx context.Context, owner string) error

	// Ping returns nil if the storage can be read now.
	Ping(ctx context.Context) error
	// Close finishes what was accepted and releases the storage.
	Close() error
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

// OnceKept is how long an idempotency record holds.
const OnceKept = 24 * time.Hour

// Once names a create that must happen once only, however often it is sent.
type Once struct {
	Owner       string
	Key         string
	Fingerprint [32]byte
	// Now is when the request came: records made OnceKept before it no longer hold.
	Now time.Time
}

// ConflictOnce is the refusal of a key that was used for another request.
func ConflictOnce() *Error {
	return Errorf(IdempotencyConflict, "This Idempotency-Key was already used for another animal. Use a new one for each animal.")
}

// NoSuchPet is the refusal of an id that no animal has.
func NoSuchPet() *Error { return Errorf(NotFound, "There is no animal with this id.") }

// NoSuchKey is the refusal of a key id that is not in the storage.
func NoSuchKey(id string) *Error {
	return Errorf(NotFound, "there is no key %s; petstore keys list shows those there are", id)
}
