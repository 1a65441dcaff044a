package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	insertPets = "INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)" // and as many more as there are rows
	selectOnce = "SELECT id, category_id, status, name, fingerprint FROM idempotency JOIN pets ON id = pet_id WHERE owner = ?1 AND key = ?2 AND created_at > ?3"
	insertOnce = "INSERT OR REPLACE INTO idempotency (owner, key, fingerprint, pet_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)"
	purgeOnce  = "DELETE FROM idempotency WHERE (owner, key) IN (SELECT owner, key FROM idempotency WHERE created_at < ?1 LIMIT ?2)"
)

// maxRows is how many animals one statement stores at most. The work that a statement does besides its rows costs as much
// as half a row; beyond these few there is little left to gain.
const maxRows = 16

// purgeStep is how many records are purged in one transaction, so that creates need not wait for all of them.
const purgeStep = 500

// writer is the one connection that writes, with the statements that every create needs.
type writer struct {
	conn    *sqlite3.Conn
	inserts [maxRows]*sqlite3.Stmt // of one row, of two, and so on
	get     *sqlite3.Stmt
}

func newWriter(ctx context.Context, conn *sqlite3.Conn) (*writer, error) {
	if err := patiently(ctx, conn, func() error { return beginLog(conn) }); err != nil {
		return nil, err
	}
	settings := []string{
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
	statements := map[string]**sqlite3.Stmt{selectPet: &w.get}
	for more := range w.inserts {
		statements[insertPets+strings.Repeat(", (?, ?, ?)", more)] = &w.inserts[more]
	}
	return w, prepare(conn, statements)
}

// beginLog asks for a write-ahead log. SQLite calls it no error if it keeps to another way.
func beginLog(conn *sqlite3.Conn) error {
	mode, err := setting(conn, "PRAGMA journal_mode = WAL")
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the database can keep no write-ahead log where it is (SQLite stays with the journal mode %q); put it on a local disk", mode)
	}
	return err
}

// write lends the writer, in a transaction, and keeps the log small. Nothing is acknowledged that went into a lost file.
func (db *DB) write(ctx context.Context, work func(*writer) error) error {
	w, err := db.writer.take(ctx)
	if err != nil {
		return err
	}
	defer db.writer.give(w)
	if err := db.check(); err != nil {
		return unreachable(err)
	}
	defer db.trimLog(w)
	err = transactionTo(ctx, w.conn, func() error { return work(w) }, func() error { return db.publish(w) })
	if err == nil {
		err = db.check()
	}
	return unreachable(err)
}

// publish commits. For those who read animals the commit and the change of the version are one moment: until it is over
// they show what they hold of the version before, and whoever holds nothing waits.
func (db *DB) publish(w *writer) error {
	db.gate.Lock()
	defer db.gate.Unlock()
	defer db.version.Add(1) // after a failure too: who knows what reached the disk
	return run(w.conn, "COMMIT")
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
	answers := make([]created, len(batch))
	err := db.write(context.Background(), func(w *writer) error { return w.create(batch, answers) })
	if db.batched != nil {
		db.batched(len(batch))
	}
	return answers, err
}

// create stores those that have no Idempotency-Key several at a time, and the others one by one.
func (w *writer) create(batch []create, answers []created) (err error) {
	plain := make([]int, 0, len(batch)) // their places in the batch
	for i, c := range batch {
		if c.once == nil {
			plain = append(plain, i)
		} else if answers[i], err = w.createOnce(c.pet, c.once); err != nil {
			return err
		}
	}
	pets := make([]petstore.NewPet, 0, maxRows)
	for places := range slices.Chunk(plain, maxRows) {
		pets = pets[:0]
		for _, i := range places {
			pets = append(pets, batch[i].pet)
		}
		id, err := w.add(pets...)
		if err != nil {
			return err
		}
		for n, i := range places {
			answers[i].pet = petstore.Pet{ID: id + int64(n), NewPet: pets[n]}
		}
	}
	return nil
}

func (w *writer) createOnce(pet petstore.NewPet, once *petstore.Once) (created, error) {
	if first, met, err := w.recall(once); met || err != nil {
		return first, err
	}
	id, err := w.add(pet)
	if err != nil {
		return created{}, err
	}
	return created{pet: petstore.Pet{ID: id, NewPet: pet}}, run(w.conn, insertOnce, once.Owner, once.Key, once.Fingerprint[:], id, once.Now.UnixMilli())
}

// add stores at most maxRows animals and returns the id of the first; the others' follow it one by one.
func (w *writer) add(pets ...petstore.NewPet) (first int64, err error) {
	insert := w.inserts[len(pets)-1]
	for i, pet := range pets {
		insert.BindText(3*i+1, pet.Name)
		insert.BindInt64(3*i+2, pet.CategoryID)
		insert.BindInt64(3*i+3, int64(pet.Status))
	}
	defer insert.Reset()
	if _, err := insert.Step(); err != nil {
		return 0, err
	}
	return w.conn.LastInsertRowID() - int64(len(pets)-1), nil
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
