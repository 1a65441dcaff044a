package postgres

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petcache"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// serving marks a database as served, so that it keeps animals in memory.
func serving(t testing.TB, db *DB) *DB {
	t.Helper()
	noError(t, db.MarkServed(t.Context()))
	return db
}

// memoryTest compares the memory of a replica with what the primary shows. The changes come from another replica and from
// transactions that stay open meanwhile.
type memoryTest struct {
	*testing.T
	*DB
	url    string
	random *rand.Rand
	other  *DB
	open   []*pgx.Conn // each in a transaction
	orders []int64
}

func newMemoryTest(t *testing.T, url string, seed uint64) *memoryTest {
	m := &memoryTest{T: t, url: url, random: rand.New(rand.NewPCG(seed, 1)), other: openEmptied(t, url)}
	m.DB = serving(t, open(t, url))
	m.recent.pets.MaxBytes = 6 * petcache.BlockSize * petcache.SizeOf(petstore.Pet{NewPet: rex})
	return m
}

func (m *memoryTest) connect() *pgx.Conn {
	m.Helper()
	conn, err := pgx.Connect(m.Context(), m.url)
	noError(m, err)
	m.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func (m *memoryTest) pet() petstore.NewPet {
	return petstore.NewPet{Name: fmt.Sprint("Pet ", m.random.IntN(1000)), CategoryID: m.random.Int64N(9), Status: petstore.Statuses[m.random.IntN(3)]}
}

// id returns a random id, usually of an animal that exists.
func (m *memoryTest) id() (id int64) {
	noError(m, m.other.pool.QueryRow(m.Context(), "SELECT last_value FROM pets_id").Scan(&id))
	return 1 + m.random.Int64N(id+2)
}

// change changes something in an open transaction, unless another one has locked it.
func (m *memoryTest) change(conn *pgx.Conn) {
	m.Helper()
	free := fmt.Sprintf("(SELECT id FROM pets WHERE id BETWEEN %d AND %d FOR UPDATE SKIP LOCKED)", m.id(), m.id())
	for _, sql := range [][]string{
		{"INSERT INTO pets (name, category_id, status) SELECT 'new', 3, 1 FROM generate_series(1, 3)"},
		{"UPDATE pets SET category_id = category_id + 1, status = 1 + (status + 1) % 3 WHERE id IN " + free},
		{"DELETE FROM pets WHERE id % 7 = 0 AND id IN " + free},
		{"UPDATE pets SET name = name || 'x' WHERE id IN " + free, "UPDATE pets SET name = 'later' WHERE id IN " + free},
	}[m.random.IntN(4)] {
		noError(m, errorOf(conn.Exec(m.Context(), sql)))
	}
}

// changesOfEveryKind has a function for everything that changes animals, slips or events. The storage may refuse a change.
var changesOfEveryKind = map[string]func(m *memoryTest){
	"create": func(m *memoryTest) { m.other.CreatePet(m.Context(), m.pet(), nil) },
	"create many": func(m *memoryTest) {
		pets := make([]petstore.NewPet, 1+m.random.IntN(300))
		for i := range pets {
			pets[i] = m.pet()
		}
		_, err := m.other.AddPets(m.Context(), pets, nil)
		noError(m, err)
	},
	"update": func(m *memoryTest) {
		name := m.pet().Name
		m.tryFor(func(ctx context.Context) { m.other.UpdatePet(ctx, m.id(), petstore.PetPatch{Name: &name}, nil) })
	},
	"delete": func(m *memoryTest) { m.tryFor(func(ctx context.Context) { m.other.DeletePet(ctx, m.id(), nil) }) },
	"order": func(m *memoryTest) {
		m.tryFor(func(ctx context.Context) {
			if order, _, err := m.other.PlaceOrder(ctx, petstore.NewOrder{PetID: m.id(), Hold: time.Hour}, nil); err == nil {
				m.orders = append(m.orders, order.ID)
			}
		})
	},
	"begin": func(m *memoryTest) {
		conn := m.connect()
		noError(m, errorOf(conn.Exec(m.Context(), "BEGIN")))
		m.change(conn)
		m.open = append(m.open, conn)
	},
	"change in an open transaction": func(m *memoryTest) {
		if len(m.open) > 0 {
			m.change(m.open[m.random.IntN(len(m.open))])
		}
	},
	"commit":    func(m *memoryTest) { m.end("COMMIT") },
	"roll back": func(m *memoryTest) { m.end("ROLLBACK") },
	"number":    func(m *memoryTest) { noError(m, m.other.NumberEvents(m.Context())) },
	"trim": func(m *memoryTest) {
		_, err := m.other.TrimEvents(m.Context(), petstore.EventsKept{Age: time.Hour, Bytes: 20_000})
		noError(m, err)
	},
	"reset the feed": func(m *memoryTest) {
		if m.random.IntN(10) == 0 {
			noError(m, m.other.ResetFeed(m.Context()))
		}
	},
}

func (m *memoryTest) end(how string) {
	if len(m.open) == 0 {
		return
	}
	i := m.random.IntN(len(m.open))
	noError(m, errorOf(m.open[i].Exec(m.Context(), how)))
	noError(m, m.open[i].Close(m.Context()))
	m.open = slices.Delete(m.open, i, i+1)
}

// tryFor makes a change, unless an open transaction has locked the animal.
func (m *memoryTest) tryFor(change func(context.Context)) {
	if len(m.open) == 0 {
		change(m.Context())
	}
}

func (m *memoryTest) check() {
	m.Helper()
	for range 4 {
		q := petstore.PetQuery{Limit: 1 + m.random.IntN(500), Before: m.random.Int64N(2) * m.id(), Status: petstore.Status(m.random.IntN(4))}
		got, err := m.ListPets(m.Context(), q)
		noError(m, err)
		want, err := m.other.readPage(q)
		if noError(m, err); !slices.Equal(got, want) {
			m.Fatalf("%+v shows %d animals, the primary %d", q, len(got), len(want))
		}
		id := m.id()
		pet, err := m.GetPet(m.Context(), id)
		pets, _ := m.other.getBatch([]int64{id})
		if (err == nil) != (pets[0].ID != 0) || pet != pets[0] {
			m.Fatalf("the animal %d is %+v (%v), the primary shows %+v", id, pet, err, pets[0])
		}
	}
	all, err := m.other.readPage(petstore.PetQuery{Limit: math.MaxInt32})
	noError(m, err)
	m.recent.queries.Do(m.Context(), struct{}{})
	m.recent.mu.RLock()
	defer m.recent.mu.RUnlock()
	held, _ := m.recent.pets.List(petstore.PetQuery{Limit: math.MaxInt32})
	all = slices.DeleteFunc(all, func(p petstore.Pet) bool { return p.ID < m.recent.pets.From() })
	if !slices.Equal(held, all) {
		m.Fatalf("%d animals are in memory from %d on, the primary has %d", len(held), m.recent.pets.From(), len(all))
	}
}

func TestTheMemoryShowsWhatThePrimaryShows(t *testing.T) {
	url := testservice.Postgres(t)
	names := make([]string, 0, len(changesOfEveryKind))
	for name := range changesOfEveryKind {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			m := newMemoryTest(t, url, seed)
			for range 150 {
				name := names[m.random.IntN(len(names))]
				changesOfEveryKind[name](m)
				if m.random.IntN(3) > 0 {
					m.check()
				}
				if t.Failed() {
					t.Fatal("after: ", name)
				}
			}
			if m.Memory().Answered == 0 {
				t.Error("no read was answered from memory")
			}
		})
	}
}

// fillMemory creates animals and reads them until a page comes from memory.
func fillMemory(t *testing.T, db *DB) {
	t.Helper()
	mustCreate(t, db)
	for before := db.Memory().Answered; db.Memory().Answered == before; {
		_, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 9})
		noError(t, err)
	}
}

func TestReadsGoToThePrimaryWhenTheMemoryCannotFollow(t *testing.T) {
	url := testservice.Postgres(t)
	for reason, sql := range map[string]string{
		"too_many_changes": "DO $$ BEGIN FOR i IN 1..1100 LOOP INSERT INTO pets (name, category_id, status) VALUES ('Max', 1, 1); END LOOP; END $$",
		"unreadable":       "INSERT INTO event_slips (n, record) VALUES (1, '[[99,1]]')",
		"other_history":    "UPDATE feed SET name = 'abcd'",
	} {
		t.Run(reason, func(t *testing.T) {
			db := serving(t, openEmptied(t, url))
			fillMemory(t, db)
			execute(t, url, sql)
			before := db.Memory()
			want, err := db.readPage(petstore.PetQuery{Limit: 9})
			noError(t, err)
			got, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 9})
			if noError(t, err); !slices.Equal(got, want) {
				t.Errorf("listed are %v, the primary has %v", got, want)
			}
			if now := db.Memory(); now.Asked != before.Asked+1 || now.Emptied[reason] != 1 {
				t.Errorf("the memory says %+v, before it said %+v", now, before)
			}
		})
	}
}

func TestTheMemoryIsOfTheServerThatAnswers(t *testing.T) {
	server := testservice.StartPostgres(t, "fsync=off")
	db := serving(t, open(t, server.URL))
	fillMemory(t, db)
	server.Stop(t)
	server.Start(t)
	execute(t, server.URL, "SET petstore.copying = on; UPDATE pets SET name = 'Max'") // without an event, as after a restore
	pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 9})
	if noError(t, err); len(pets) != 1 || pets[0].Name != "Max" {
		t.Errorf("after a restart of the server, listed are %v", pets)
	}
}

func TestTheMemoryFollowsInTheTextFormatOfTheProtocol(t *testing.T) {
	url := testservice.Postgres(t) + "&default_query_exec_mode=simple_protocol"
	db := serving(t, open(t, url))
	fillMemory(t, db)
	pet := mustCreate(t, open(t, url))
	noError(t, db.NumberEvents(t.Context()))
	pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 1})
	if noError(t, err); len(pets) != 1 || pets[0] != pet || db.Memory().Answered != 2 {
		t.Errorf("listed are %v, want %v from memory", pets, pet)
	}
}

// Before a server serves, a copy may change animals without leaving slips.
func TestADatabaseThatNobodyServesHoldsNoAnimalsInMemory(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	mustCreate(t, db)
	_, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 1})
	if noError(t, err); db.Memory().Answered+db.Memory().Asked != 0 {
		t.Errorf("the memory says %+v", db.Memory())
	}
}

// The transaction that ends later has the newer id, but the older slip. When the memory has seen the newer slip, it must not
// count the older one as seen.
func TestTheMemoryFollowsATransactionThatEndsLate(t *testing.T) {
	url := testservice.Postgres(t)
	db := serving(t, open(t, url))
	fillMemory(t, db)
	const insert = "INSERT INTO pets (name, category_id, status) VALUES ('Max', 1, 1)"
	early := holdLocks(t, url, "SELECT pg_current_xact_id()")
	late := holdLocks(t, url, insert)
	noError(t, errorOf(early.Exec(t.Context(), insert+"; COMMIT")))
	for range 3 {
		_, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 9})
		noError(t, err)
	}
	noError(t, errorOf(late.Exec(t.Context(), "COMMIT")))
	pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 9})
	if noError(t, err); len(pets) != 3 {
		t.Errorf("listed are %v, want three animals", pets)
	}
}

// A read must not be answered from what the memory held before the read arrived.
func TestAReadOfTheMemoryWaitsForAQueryThatBeginsAfterIt(t *testing.T) {
	url := testservice.Postgres(t)
	db := serving(t, open(t, url))
	fillMemory(t, db)
	locker := holdLocks(t, url, "LOCK TABLE feed")
	var running sync.WaitGroup
	running.Go(func() { db.ListPets(t.Context(), petstore.PetQuery{Limit: 9}) })
	awaitLockWaits(t, url, 1)
	noError(t, errorOf(locker.Exec(t.Context(), "UPDATE pets SET name = 'Max'")))
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if pets, err := db.ListPets(impatient, petstore.PetQuery{Limit: 9}); err == nil {
		t.Errorf("while an earlier query is running, listed are %v", pets)
	}
	if pet, err := db.GetPet(impatient, 1); err == nil {
		t.Errorf("while an earlier query is running, the animal is %v", pet)
	}
	noError(t, errorOf(locker.Exec(t.Context(), "COMMIT")))
	running.Wait()
}

// halfMemory returns a database with 300 animals, of which the newest block is in memory. The next query reads the rest.
func halfMemory(t *testing.T, url string) *DB {
	t.Helper()
	db := serving(t, open(t, url))
	_, err := db.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{rex}, 300), nil)
	noError(t, err)
	follow := func() { noError(t, errorOf(db.recent.queries.Do(t.Context(), struct{}{}))) }
	db.recent.wanted.Store(true)
	follow()
	if from := db.recent.pets.From(); from != 300-petcache.BlockSize+1 {
		t.Fatalf("the memory begins at %d", from)
	}
	follow()
	db.recent.wanted.Store(true)
	return db
}

// namesInMemory returns the names of the oldest and the newest animal in memory.
func namesInMemory(t *testing.T, db *DB) (oldest, newest string) {
	t.Helper()
	db.recent.mu.RLock()
	defer db.recent.mu.RUnlock()
	pets, _ := db.recent.pets.List(petstore.PetQuery{Limit: math.MaxInt32})
	return pets[len(pets)-1].Name, pets[0].Name
}

func TestABlockShowsTheMomentOfItsNews(t *testing.T) {
	url := testservice.Postgres(t)
	db := halfMemory(t, url)
	locker := holdLocks(t, url, "LOCK TABLE pets") // the news do not wait for it, the block does
	var reading sync.WaitGroup
	reading.Go(func() { db.recent.queries.Do(t.Context(), struct{}{}) })
	awaitLockWaits(t, url, 1)
	noError(t, errorOf(locker.Exec(t.Context(), "UPDATE pets SET name = 'Max'; COMMIT")))
	reading.Wait()
	if from := db.recent.pets.From(); from != math.MinInt64 {
		t.Fatalf("the memory begins at %d", from)
	}
	if oldest, newest := namesInMemory(t, db); oldest != newest {
		t.Errorf("after one change of all animals, the oldest in memory is %q, the newest %q", oldest, newest)
	}
}

func TestABlockIsDroppedIfItsNewsAreReadAgain(t *testing.T) {
	url := testservice.Postgres(t)
	db := halfMemory(t, url)
	execute(t, url, "UPDATE pets SET name = 'Bo' WHERE id = 300")
	noError(t, db.NumberEvents(t.Context()))
	locker := holdLocks(t, url, "LOCK TABLE events") // only news after a round of numbering wait for it
	var reading sync.WaitGroup
	reading.Go(func() { db.recent.queries.Do(t.Context(), struct{}{}) })
	awaitLockWaits(t, url, 1)
	execute(t, url, "UPDATE pets SET name = 'Max' WHERE id = 1") // after the block was read, before its news are read again
	noError(t, errorOf(locker.Exec(t.Context(), "COMMIT")))
	reading.Wait()
	for db.recent.pets.From() != math.MinInt64 {
		db.recent.wanted.Store(true)
		noError(t, errorOf(db.recent.queries.Do(t.Context(), struct{}{})))
	}
	if oldest, newest := namesInMemory(t, db); oldest != "Max" || newest != "Bo" {
		t.Errorf("in memory are %q and %q", oldest, newest)
	}
}

// A crash of one process ends all connections, but not the server. The pool may replace them without an error.
func TestTheMemoryIsEmptiedAfterACrashThatTheServerSurvives(t *testing.T) {
	server := testservice.StartPostgres(t)
	db := serving(t, open(t, server.URL))
	fillMemory(t, db)
	server.Crash(t)
	db.pool.Reset()
	// A change without an event stands for commits that the crash has lost, as it may with synchronous_commit=off.
	execute(t, server.URL, "SET petstore.copying = on; UPDATE pets SET name = 'Max'")
	pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 9})
	if noError(t, err); len(pets) != 1 || pets[0].Name != "Max" {
		t.Errorf("after the crash, listed are %v", pets)
	}
}

func TestTheMemoryIsOfTheNewPrimary(t *testing.T) {
	old := testservice.StartPostgres(t)
	successor := old.Standby(t)
	replaced := make(chan error, 10)
	url := bothHosts(old, successor, "postgres")
	db := serving(t, openConfig(t, Config{URL: url, Create: true, Replaced: func(problem error) { replaced <- problem }}))
	fillMemory(t, db)
	successor.Promote(t)
	execute(t, successor.URL, "SET petstore.copying = on; UPDATE pets SET name = 'Max'") // without an event
	<-replaced
	for range 2 * maxConns {
		pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 9})
		if noError(t, err); len(pets) != 1 || pets[0].Name != "Max" {
			t.Fatalf("after the old primary was left, listed are %v", pets)
		}
	}
}
