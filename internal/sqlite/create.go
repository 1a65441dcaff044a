package sqlite

import (
	"context"
	"fmt"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	insertPet  = "INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)"
	selectOnce = "SELECT id, category_id, status, name, fingerprint FROM idempotency JOIN pets ON id = pet_id WHERE owner = ?1 AND key = ?2 AND created_at > ?3"
	insertOnce = "INSERT OR REPLACE INTO idempotency (owner, key, fingerprint, pet_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)"
	purgeOnce  = "DELETE FROM idempotency WHERE (owner, key) IN (SELECT owner, key FROM idempotency WHERE created_at < ?1 LIMIT ?2)"
)

// purgeStep is how many records are purged in one transaction, so that creates need not wait for all of them.
const purgeStep = 500

// writer is the one connection that writes, with the statements that every create needs.
type writer struct {
	conn   *sqlite3.Conn
	insert *sqlite3.Stmt
	get    *sqlite3.Stmt
}

func newWriter(ctx context.Context, conn *sqlite3.Conn) (*writer, error) {
	settings := []string{
		"PRAGMA journal_mode = WAL",
		"PRAGMA synchronous = FULL",
		"PRAGMA fullfsync = ON", // macOS: an ordinary fsync there does not reach the disk
		"PRAGMA checkpoint_fullfsync = ON",
		fmt.Sprintf("PRAGMA journal_size_limit = %d", logLimit),
	}
	for _, setting := range settings {
		if err := patiently(ctx, conn, func() error { return run(conn, setting) }); err != nil {
			return nil, err
		}
	}
	w := &writer{conn: conn}
	return w, prepare(conn, map[string]**sqlite3.Stmt{insertPet: &w.insert, selectPet: &w.get})
}

// write lends the writer, in a transaction.
func (db *DB) write(ctx context.Context, work func(*writer) error) error {
	w, err := db.writer.take(ctx)
	if err != nil {
		return err
	}
	defer db.writer.give(w)
	return unreachable(transaction(ctx, w.conn, func() error { return work(w) }))
}

type create struct {
	pet  petstore.NewPet
	once *petstore.Once
}

type created struct {
	pet      petstore.Pet
	replayed bool
	conflict error
}

// CreatePet stores an animal in the next commit, together with those that others create at the same time.
func (db *DB) CreatePet(ctx context.Context, pet petstore.NewPet, once *petstore.Once) (petstore.Pet, bool, error) {
	if err := ctx.Err(); err != nil {
		return petstore.Pet{}, false, petstore.Unreachable(err)
	}
	// Whoever has been accepted waits for the outcome, even if ctx ends: a refusal always means that nothing was stored.
	answer, err := db.creates.Do(context.Background(), create{pet, once})
	if err != nil {
		return petstore.Pet{}, false, unreachable(err)
	}
	return answer.pet, answer.replayed, answer.conflict
}

// commit stores a batch in one transaction.
func (db *DB) commit(batch []create) ([]created, error) {
	defer db.version.Add(1) // after a failure too: who knows what reached the disk
	answers := make([]created, len(batch))
	err := db.write(context.Background(), func(w *writer) (err error) {
		for i, c := range batch {
			if answers[i], err = w.create(c); err != nil {
				return err
			}
		}
		return nil
	})
	db.trimLog()
	if db.batched != nil {
		db.batched(len(batch))
	}
	return answers, err
}

func (w *writer) create(c create) (created, error) {
	if c.once == nil {
		pet, err := w.add(c.pet)
		return created{pet: pet}, err
	}
	if first, met, err := w.recall(c.once); met || err != nil {
		return first, err
	}
	pet, err := w.add(c.pet)
	if err != nil {
		return created{}, err
	}
	once := c.once
	return created{pet: pet}, run(w.conn, insertOnce, once.Owner, once.Key, once.Fingerprint[:], pet.ID, once.Now.UnixMilli())
}

func (w *writer) add(pet petstore.NewPet) (petstore.Pet, error) {
	w.insert.BindText(1, pet.Name)
	w.insert.BindInt64(2, pet.CategoryID)
	w.insert.BindInt64(3, int64(pet.Status))
	defer w.insert.Reset()
	if _, err := w.insert.Step(); err != nil {
		return petstore.Pet{}, err
	}
	return petstore.Pet{ID: w.conn.LastInsertRowID(), NewPet: pet}, nil
}

// recall answers a create that was met before.
func (w *writer) recall(once *petstore.Once) (first created, met bool, err error) {
	var fingerprint [32]byte
	err = query(w.conn, func(row *sqlite3.Stmt) {
		first, met = created{pet: scanPet(row), replayed: true}, true
		row.ColumnBytes(4, fingerprint[:])
	}, selectOnce, once.Owner, once.Key, once.Now.Add(-petstore.OnceKept).UnixMilli())
	if met && fingerprint != once.Fingerprint {
		first = created{conflict: petstore.ConflictOnce()}
	}
	return first, met, err
}

// PurgeOnce forgets old idempotency records, a few at a time.
func (db *DB) PurgeOnce(ctx context.Context, before time.Time) (int64, error) {
	for purged := int64(0); ; {
		var some int
		err := db.write(ctx, func(w *writer) error {
			err := run(w.conn, purgeOnce, before.UnixMilli(), purgeStep)
			some = w.conn.Changes()
			return err
		})
		if err != nil {
			return purged, err
		}
		purged += int64(some)
		if some < purgeStep {
			return purged, nil
		}
	}
}
