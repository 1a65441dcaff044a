package baseline

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// fastSQLite is the only process that writes to its file. It keeps the newest animals and the inventory in memory, as
// petstore does.
type fastSQLite struct {
	readers chan *fastReader
	commits atomic.Uint64 // 1 and the number of commits
	writes  grouped[*change]

	mu      sync.RWMutex
	newest  []pet // all animals from an id on; the place of an animal is its id less the first
	animals inventory

	// Only the goroutine that commits uses these.
	writer                            *sqlite.Conn
	begin, commit, rollback           *sqlite.Stmt
	inserts                           [16]*sqlite.Stmt // for one animal, for two, and so on
	find, update, count               *sqlite.Stmt
	findOrder, placeOrder, closeOrder *sqlite.Stmt
	changed                           []pet // the animals that the running transaction has stored
}

// fastReader keeps its transaction open until the next commit, because to begin one costs as much as to find an animal.
type fastReader struct {
	list, get, begin, rollback *sqlite.Stmt
	version                    uint64
}

// inMemory is how many animals are held in memory.
const inMemory = 300_000

func openFastSQLite(path string) (fastest, error) {
	s := &fastSQLite{readers: make(chan *fastReader, runtime.NumCPU())}
	s.writes.answer = s.commitAll
	s.commits.Store(1)
	var err error
	prepare := func(conn *sqlite.Conn, text string) *sqlite.Stmt {
		stmt, failed := conn.Prepare(text)
		err = errors.Join(err, failed)
		return stmt
	}
	for range cap(s.readers) {
		conn, failed := sqlite.OpenConn(path, sqlite.OpenReadOnly)
		if failed != nil {
			return nil, failed
		}
		s.readers <- &fastReader{prepare(conn, list), prepare(conn, get), prepare(conn, "BEGIN"), prepare(conn, "ROLLBACK"), 0}
	}
	if err != nil {
		return nil, err
	}
	if s.writer, err = sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenWAL); err != nil {
		return nil, err
	}
	err = sqlitex.ExecuteTransient(s.writer, "PRAGMA synchronous = FULL", nil)
	for i := range s.inserts {
		s.inserts[i] = prepare(s.writer, "INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)"+strings.Repeat(", (?, ?, ?)", i))
	}
	s.begin, s.commit, s.rollback = prepare(s.writer, "BEGIN IMMEDIATE"), prepare(s.writer, "COMMIT"), prepare(s.writer, "ROLLBACK")
	s.find = prepare(s.writer, get)
	s.update = prepare(s.writer, "UPDATE pets SET category_id = ?2, status = ?3 WHERE id = ?1")
	s.count = prepare(s.writer, "UPDATE inventory SET animals = ?2 WHERE status = ?1")
	s.findOrder = prepare(s.writer, "SELECT pet_id, created_at, expires_at FROM orders WHERE id = ?1 AND status = 1")
	s.placeOrder = prepare(s.writer, "INSERT INTO orders (pet_id, status, reference, created_at, expires_at) VALUES (?1, 1, '', ?2, ?3)")
	s.closeOrder = prepare(s.writer, "UPDATE orders SET status = 2, closed_at = ?2 WHERE id = ?1")
	if err != nil {
		return nil, err
	}
	err = sqlitex.Execute(s.writer, "SELECT status, animals FROM inventory", &sqlitex.ExecOptions{ResultFunc: func(row *sqlite.Stmt) error {
		s.animals[row.ColumnInt(0)] = row.ColumnInt64(1)
		return nil
	}})
	const newest = "SELECT id, name, category_id, status FROM pets WHERE id > (SELECT max(id) FROM pets) - ?1 ORDER BY id"
	return s, errors.Join(err, sqlitex.Execute(s.writer, newest, &sqlitex.ExecOptions{Args: []any{inMemory}, ResultFunc: func(row *sqlite.Stmt) error {
		s.newest = append(s.newest, readPet(row))
		return nil
	}}))
}

func readPet(row *sqlite.Stmt) pet {
	return pet{row.ColumnInt64(0), row.ColumnText(1), row.ColumnInt64(2), names[row.ColumnInt64(3)]}
}

func (s *fastSQLite) inventory() (inventory, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.animals, nil
}

func (s *fastSQLite) get(id int64) (pet, error) {
	if p, ok := s.remembered(id); ok {
		return p, nil
	}
	pets, err := s.read(func(r *fastReader) *sqlite.Stmt { return r.get }, id)
	if err != nil || len(pets) == 0 {
		return pet{}, errors.Join(err, errNotFound)
	}
	return pets[0], nil
}

func (s *fastSQLite) remembered(id int64) (p pet, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.newest) == 0 {
		return p, false
	}
	i := id - s.newest[0].ID
	if i < 0 || i >= int64(len(s.newest)) {
		return p, false
	}
	return s.newest[i], true
}

func (s *fastSQLite) list(before, limit int64) ([]pet, error) {
	s.mu.RLock()
	if n := len(s.newest); n > 0 {
		if end := min(before-s.newest[0].ID, int64(n)); end >= limit {
			defer s.mu.RUnlock()
			page := make([]pet, limit)
			for i := range page {
				page[i] = s.newest[end-1-int64(i)]
			}
			return page, nil
		}
	}
	s.mu.RUnlock()
	return s.read(func(r *fastReader) *sqlite.Stmt { return r.list }, before, limit)
}

// read steps a reader's statement through its rows. The reader shows every commit that was complete when read was called.
func (s *fastSQLite) read(statement func(*fastReader) *sqlite.Stmt, args ...int64) (pets []pet, err error) {
	version := s.version()
	r := <-s.readers
	defer func() { s.readers <- r }()
	if r.version != version {
		if r.version > 0 {
			err = run(r.rollback)
		}
		r.version = version // 0 means that no transaction has begun
		if err := errors.Join(err, run(r.begin)); err != nil {
			return nil, err
		}
	}
	stmt := statement(r)
	defer stmt.Reset()
	for i, arg := range args {
		stmt.BindInt64(i+1, arg)
	}
	for {
		row, err := stmt.Step()
		if err != nil || !row {
			return pets, err
		}
		pets = append(pets, readPet(stmt))
	}
}

// run executes a statement with whole numbers as its arguments.
func run(stmt *sqlite.Stmt, args ...int64) error {
	for i, arg := range args {
		stmt.BindInt64(i+1, arg)
	}
	defer stmt.Reset()
	_, err := stmt.Step()
	return err
}

func (s *fastSQLite) version() uint64 { return s.commits.Load() }

func (s *fastSQLite) change(c *change) error { return s.writes.do(c) }
