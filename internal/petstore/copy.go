package petstore

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Movable is a Storage whose whole content can be copied into another. Loading is safe to repeat: what is there
// already, and the same, is left as it is.
type Movable interface {
	Storage
	// CountPets returns how many animals there are.
	CountPets(ctx context.Context) (int64, error)
	// DumpKeys returns every key with its hash and its owner's ban.
	DumpKeys(ctx context.Context) ([]StoredKey, error)
	// DumpOnce returns at most limit idempotency records in the order of owner and key, those after the given one.
	DumpOnce(ctx context.Context, after StoredOnce, limit int) ([]StoredOnce, error)
	// LoadPets stores animals under the ids they have and makes sure that no new one will get an id up to theirs. An
	// id that another animal has is refused with a sentence, and then none of them is stored.
	LoadPets(ctx context.Context, pets []Pet) error
	// LoadKeys stores keys with their hashes and bans; a key that is there already takes the state of the one loaded.
	LoadKeys(ctx context.Context, keys []StoredKey) error
	// LoadOnce stores idempotency records.
	LoadOnce(ctx context.Context, records []StoredOnce) error
}

// StoredKey is a key as it is stored.
type StoredKey struct {
	Key
	Hash SecretHash
	Ban  Ban
}

// StoredOnce is an idempotency record as it is stored.
type StoredOnce struct {
	Owner       string
	Key         string
	Fingerprint [32]byte
	Answer      string
	MadeAt      time.Time
}

// copyStep is how many records are moved at a time.
const copyStep = 1000

// Copy moves everything from one storage into another and tells how far the animals are. They come last: of what is
// created meanwhile, no idempotency record comes over without its animal. Run again, it brings over what was added.
func Copy(ctx context.Context, from, to Movable, progress func(done, total int64)) error {
	keys, err := from.DumpKeys(ctx)
	if err != nil {
		return fmt.Errorf("the keys could not be read: %w", err)
	}
	for some := range slices.Chunk(keys, copyStep) {
		if err := to.LoadKeys(ctx, some); err != nil {
			return fmt.Errorf("the keys could not be stored: %w", err)
		}
	}
	if err := copyOnce(ctx, from, to); err != nil {
		return err
	}
	return copyPets(ctx, from, to, progress)
}

func copyOnce(ctx context.Context, from, to Movable) error {
	for after := (StoredOnce{}); ; {
		records, err := from.DumpOnce(ctx, after, copyStep)
		if err != nil {
			return fmt.Errorf("the idempotency records could not be read: %w", err)
		}
		if len(records) == 0 {
			return nil
		}
		if err := to.LoadOnce(ctx, records); err != nil {
			return fmt.Errorf("the idempotency records could not be stored: %w", err)
		}
		after = records[len(records)-1]
	}
}

func copyPets(ctx context.Context, from, to Movable, progress func(done, total int64)) error {
	total, err := from.CountPets(ctx)
	if err != nil {
		return fmt.Errorf("the animals could not be counted: %w", err)
	}
	query := PetQuery{Limit: copyStep}
	for done := int64(0); ; {
		pets, err := from.ListPets(ctx, query)
		if err != nil {
			return fmt.Errorf("the animals could not be read: %w", err)
		}
		if len(pets) == 0 {
			return nil
		}
		if err := to.LoadPets(ctx, pets); err != nil {
			return fmt.Errorf("the animals could not be stored: %w", err)
		}
		done += int64(len(pets))
		progress(done, max(done, total))
		query.Before = pets[len(pets)-1].ID
	}
}
