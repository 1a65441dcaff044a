package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// follow returns all events after a sequence.
func follow(t testing.TB, db *DB, after int64) (events []petstore.Event) {
	t.Helper()
	q := petstore.EventQuery{Limit: 1000}
	for {
		page, err := db.ListEvents(t.Context(), q)
		noError(t, err)
		for _, e := range page.Events {
			if e.Sequence > after {
				events = append(events, e)
			}
		}
		if page.End {
			return events
		}
		q.After = &page.Next
	}
}

// newConn opens a connection that ends with the test.
func newConn(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	noError(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// summary returns the types and the animals of events.
func summary(events []petstore.Event) string {
	var words []string
	for _, e := range events {
		words = append(words, fmt.Sprintf("%v %d", e.Type, e.PetID()))
	}
	return strings.Join(words, ", ")
}

func wantDense(t testing.TB, events []petstore.Event) {
	t.Helper()
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d is in place %d", e.Sequence, i+1)
		}
	}
}

var hostileTexts = []string{
	`"`, `\`, `\"`, `\\u0041`, "],[", `"],["`, "\x01\x1f\x7f", "a\b\f\n\r\tz", "犬🐕", "\u2028\u2029\ufeff", "<&>", "é e\u0301", "null",
	strings.Repeat("犬", 1000), strings.Repeat("🐕", 1000), strings.Repeat(`"`, 1000), strings.Repeat("\x01", 1000),
}

func TestTextsOfAnyKindArriveInTheFeed(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	ctx := t.Context()
	var want []petstore.Event
	for i, text := range hostileTexts {
		pet, _, err := db.CreatePet(ctx, petstore.NewPet{Name: text, CategoryID: -5, Status: petstore.Available}, nil)
		noError(t, err)
		renamed, _, err := db.UpdatePet(ctx, pet.ID, petstore.PetPatch{Name: &hostileTexts[(i+1)%len(hostileTexts)]}, nil)
		noError(t, err)
		order, _, err := db.PlaceOrder(ctx, petstore.NewOrder{PetID: pet.ID, Reference: text, Hold: time.Hour}, nil)
		noError(t, err)
		held := renamed
		held.Status = petstore.Pending
		other := hostileTexts[(i+2)%len(hostileTexts)]
		corrected, _, err := db.UpdateOrder(ctx, order.ID, petstore.OrderPatch{Reference: &other}, nil)
		noError(t, err)
		closed, _, err := db.CloseOrder(ctx, order.ID, petstore.Cancelled, nil)
		noError(t, err)
		category, _, err := db.CreateCategory(ctx, text, nil)
		noError(t, err)
		noError(t, errorOf(db.DeleteCategory(ctx, category.ID, nil)))
		noError(t, errorOf(db.DeletePet(ctx, pet.ID, nil)))
		want = append(want,
			petstore.PetChanged(nil, &pet), petstore.PetChanged(&pet, &renamed),
			petstore.OrderChanged(nil, order), petstore.PetChanged(&renamed, &held),
			petstore.OrderChanged(&order, corrected),
			petstore.OrderChanged(&corrected, closed), petstore.PetChanged(&held, &renamed),
			petstore.CategoryChanged(nil, &category), petstore.CategoryChanged(&category, nil),
			petstore.PetChanged(&renamed, nil))
	}
	got := follow(t, db, 0)
	wantDense(t, got)
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d: %s", len(got), len(want), summary(got))
	}
	for i := range got {
		want[i].Sequence, want[i].At = got[i].Sequence, got[i].At
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("event %d is %s, want %s", i+1, petstore.AppendEventRecord(nil, got[i:i+1]), petstore.AppendEventRecord(nil, want[i:i+1]))
		}
	}
}

func TestTheEventOfAnOrderComesDirectlyBeforeThatOfItsAnimal(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	const animals = 50
	var all sync.WaitGroup
	for range animals {
		all.Go(func() {
			pet, _, err := db.CreatePet(t.Context(), rex, nil)
			if err == nil {
				_, _, err = db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID}, nil) // overdue at once
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	noError(t, errorOf(db.ExpireOrders(t.Context()))) // in one statement
	pairs := 0
	events := follow(t, db, 0)
	for i, e := range events {
		if e.Order == nil {
			continue
		}
		pairs++
		if next := events[i+1]; next.Type != petstore.PetUpdated || next.PetID() != e.PetID() {
			t.Errorf("%v %d is followed by %v %d", e.Type, e.PetID(), next.Type, next.PetID())
		}
	}
	if pairs != 2*animals || len(events) != 5*animals {
		t.Errorf("%d events, and %d of orders", len(events), pairs)
	}
}

func TestOrdersArePairedWithTheRightChangeOfTheirAnimal(t *testing.T) {
	pet := func(id int64, from, to petstore.Status) petstore.Event {
		p := petstore.Pet{ID: id, NewPet: petstore.NewPet{Status: from}}
		after := p
		after.Status = to
		return petstore.PetChanged(&p, &after)
	}
	order := func(id int64, to petstore.OrderStatus) petstore.Event {
		before := petstore.Order{PetID: id, Status: petstore.Open}
		if to == petstore.Open {
			return petstore.OrderChanged(nil, before)
		}
		after := before
		after.Status = to
		return petstore.OrderChanged(&before, after)
	}
	updated := petstore.Event{Type: petstore.OrderUpdated, Order: &petstore.Changed[petstore.Order]{Now: petstore.Order{PetID: 1}, Before: &petstore.Order{PetID: 1}}}
	const a, p, s = petstore.Available, petstore.Pending, petstore.Sold
	type transaction = [][]petstore.Event
	for name, c := range map[string]struct {
		statements transaction
		want       string
	}{
		"placed, with the animal first": {
			transaction{{pet(1, a, p)}, {order(1, petstore.Open)}},
			"order.placed 1, pet.updated 1",
		},
		"placed and closed in one transaction": {
			transaction{{pet(1, a, p)}, {order(1, petstore.Open)}, {order(1, petstore.Completed)}, {pet(1, p, s)}},
			"order.placed 1, pet.updated 1, order.completed 1, pet.updated 1",
		},
		"placed twice": {
			transaction{{pet(1, a, p)}, {order(1, petstore.Open)}, {order(1, petstore.Expired)}, {pet(1, p, a)}, {pet(1, a, p)}, {order(1, petstore.Open)}},
			"order.placed 1, pet.updated 1, order.expired 1, pet.updated 1, order.placed 1, pet.updated 1",
		},
		"changed by hand before": {
			transaction{{pet(1, a, p)}, {pet(1, p, a)}, {pet(1, a, p)}, {order(1, petstore.Open)}},
			"pet.updated 1, pet.updated 1, order.placed 1, pet.updated 1",
		},
		"many in one statement": {
			transaction{{order(1, petstore.Expired), order(2, petstore.Expired)}, {pet(2, p, a), pet(1, p, a)}},
			"order.expired 2, pet.updated 2, order.expired 1, pet.updated 1",
		},
		"updated only":        {transaction{{updated}, {pet(1, a, s)}}, "order.updated 1, pet.updated 1"},
		"without the animal":  {transaction{{pet(2, p, a)}, {order(1, petstore.Expired)}}, "pet.updated 2, order.expired 1"},
		"with another change": {transaction{{pet(1, a, s)}, {order(1, petstore.Expired)}}, "pet.updated 1, order.expired 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(pairOrders(c.statements)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRowsOfEventsAreBounded(t *testing.T) {
	created := func(id int64, name string) string {
		pet := petstore.Pet{ID: id, NewPet: petstore.NewPet{Name: name, Status: petstore.Available}}
		return string(petstore.AppendEventRecord(nil, []petstore.Event{petstore.PetChanged(nil, &pet)}))
	}
	var slips []slip
	for i := range int64(1500) {
		slips = append(slips, slip{id: i, xid: "7", low: i + 1, high: i + 1, n: 1, record: created(i+1, "Rex")})
	}
	for i := range int64(40) {
		slips = append(slips, slip{id: 1500 + i, xid: "8", low: 5000 + i*100, high: 5000 + i*100, n: 1, record: created(5000+i*100, "Rex")})
	}
	for i := range int64(40) {
		slips = append(slips, slip{id: 1540 + i, xid: "9", low: 9000 + i, high: 9000 + i, n: 1, record: created(9000+i, strings.Repeat("犬", 1000))})
	}
	rows := eventRows{next: 1}
	noError(t, rows.addAll(slips))
	next, bytes := int64(1), int64(0)
	for _, row := range rows.rows {
		events, err := petstore.ReadEventRecord(string(row.record), row.first, eventTime)
		noError(t, err)
		if row.first != next || int64(len(events)) != row.n || row.start != bytes {
			t.Errorf("row %d has %d events, and begins at byte %d; want %d from event %d and byte %d on", row.first, len(events), row.start, row.n, next, bytes)
		}
		next, bytes = row.first+row.n, bytes+int64(len(row.record))
		if row.n > maxRowEvents || row.high-row.low >= maxRowSpan || len(row.record) > maxRowBytes {
			t.Errorf("row %d has %d events of the animals %d to %d in %d bytes", row.first, row.n, row.low, row.high, len(row.record))
		}
		for _, e := range events {
			if e.PetID() < row.low || e.PetID() > row.high {
				t.Errorf("animal %d is outside of %d to %d", e.PetID(), row.low, row.high)
			}
		}
	}
	if next != 1581 || rows.next != next || rows.bytes != bytes || len(rows.rows) != 2+4+2 {
		t.Errorf("%d events in %d rows and %d bytes, want %d", next-1, len(rows.rows), rows.bytes, bytes)
	}
}

var eventTime = time.Date(2026, time.November, 18, 12, 0, 0, 0, time.UTC)

// Some of the transactions have a slip at the beginning and one far behind it.
func TestABacklogIsNumberedTransactionByTransaction(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	const slips = 100_000
	execute(t, url, fmt.Sprintf(`
		INSERT INTO event_slips (xid, n, record)
		SELECT (1000 + CASE WHEN n > %d AND n %% 3 = 0 THEN n - 7000 ELSE n END)::text::xid8, 1, '[[10,' || n || ',"x"]]'
		FROM generate_series(1, %d) AS n ORDER BY n`, slips/2, slips))
	noError(t, db.NumberEvents(t.Context()))
	events := follow(t, db, 0)
	wantDense(t, events)
	if len(events) != slips {
		t.Fatalf("%d events, want %d", len(events), slips)
	}
	transaction := func(n int64) int64 {
		if n > slips/2 && n%3 == 0 {
			return n - 7000
		}
		return n
	}
	last := make(map[int64]int64) // slip of each transaction
	for n := int64(1); n <= slips; n++ {
		last[transaction(n)] = n
	}
	for i := 1; i < len(events); i++ {
		before, now := events[i-1].Category.Now.ID, events[i].Category.Now.ID
		a, b := transaction(before), transaction(now)
		if a == b && before > now || a != b && last[a] > last[b] {
			t.Fatalf("event %d: slip %d comes before slip %d", i, before, now)
		}
	}
	var left int
	if err := db.pool.QueryRow(t.Context(), "SELECT count(*) FROM event_slips").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d slips are left, %v", left, err)
	}
}

// No part of such a transaction fits into a round.
func TestATransactionOfAnySizeIsNumbered(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	execute(t, url, fmt.Sprintf(`INSERT INTO event_slips (n, record) SELECT 1, '[[10,' || n || ',"x"]]' FROM generate_series(1, %d) AS n`, 3*slipsAtOnce+1))
	if events := follow(t, db, 0); len(events) != 3*slipsAtOnce+1 {
		t.Errorf("%d events", len(events))
	}
}

func TestOpenTransactionsDelayNoEvents(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	holdLocks(t, testservice.Postgres(t), "CREATE TABLE elsewhere (id integer)")
	open := holdLocks(t, url, "INSERT INTO pets (name, category_id, status) VALUES ('late', 1, 1)")
	aborted := holdLocks(t, url, "INSERT INTO pets (name, category_id, status) VALUES ('never', 1, 1)")
	mustCreate(t, db)
	if got := follow(t, db, 0); len(got) != 1 || got[0].Pet.Now.Name != "Rex" {
		t.Errorf("beside open transactions: %s", summary(got))
	}
	noError(t, errorOf(aborted.Exec(t.Context(), "ROLLBACK")))
	noError(t, errorOf(open.Exec(t.Context(), "COMMIT")))
	mustCreate(t, db)
	got := follow(t, db, 0)
	if wantDense(t, got); len(got) != 3 || got[1].Pet.Now.Name != "late" {
		t.Errorf("at the end: %s", summary(got))
	}
}

func TestNumberingThatIsCutOffIsRepeated(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	for range 3 {
		mustCreate(t, db)
	}
	holder := holdLocks(t, url, "SELECT FROM feed FOR UPDATE")
	failed := make(chan error, 1)
	go func() { failed <- db.NumberEvents(t.Context()) }()
	killer := newConn(t, url)
	kill := func() (killed int) {
		noError(t, killer.QueryRow(t.Context(), `
			SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`).Scan(&killed))
		return killed
	}
	testservice.Eventually(t, "numbering waits for the lock", time.Minute, func() bool { return kill() > 0 })
	if err := <-failed; !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("numbering that was cut off returns %v", err)
	}
	noError(t, errorOf(holder.Exec(t.Context(), "ROLLBACK")))
	if got := follow(t, db, 0); len(got) != 3 {
		t.Errorf("then: %s", summary(got))
	}
}

// Backends are killed at random while three replicas write, number and read.
func TestEveryReplicaReadsTheSameFeed(t *testing.T) {
	url := testservice.Postgres(t)
	replicas := openReplicas(t, url)
	ctx, stop := context.WithCancel(t.Context())
	var writing, reading sync.WaitGroup
	killer := newConn(t, url)
	reading.Go(func() {
		for ctx.Err() == nil {
			_, _ = killer.Exec(context.Background(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%feed%' ORDER BY random() LIMIT 1`)
			time.Sleep(time.Millisecond)
		}
	})
	var feeds [3][]petstore.Event
	read := func(i int, db *DB, q *petstore.EventQuery) bool {
		page, err := db.ListEvents(context.Background(), *q)
		if err != nil {
			return false
		}
		feeds[i] = append(feeds[i], page.Events...)
		q.After = &page.Next
		return page.End
	}
	queries := [3]petstore.EventQuery{{Limit: 7}, {Limit: 100}, {Limit: 1000}}
	for i, db := range replicas {
		reading.Go(func() {
			for ctx.Err() == nil {
				read(i, db, &queries[i])
			}
		})
		for range 3 {
			writing.Go(func() { changeAtRandom(t, db, 60) })
		}
	}
	writing.Wait()
	stop()
	reading.Wait()
	for i, db := range replicas {
		testservice.Eventually(t, "the feed ends", time.Minute, func() bool { return read(i, db, &queries[i]) })
		wantDense(t, feeds[i])
		if !reflect.DeepEqual(feeds[i], feeds[0]) {
			t.Errorf("replica %d has %d events, and replica 0 has %d", i, len(feeds[i]), len(feeds[0]))
		}
	}
	wantReplayed(t, replicas[0], feeds[0])
}

// changeAtRandom makes changes to one animal after the other. Its own changes are in the feed in their order, which
// wantReplayed checks: a change of something else than the state before would not fit.
func changeAtRandom(t *testing.T, db *DB, changes int) {
	ctx := context.Background()
	var pet petstore.Pet
	for range changes {
		var err error
		switch n := rand.IntN(8); {
		case n < 3 || pet.ID == 0:
			pet, _, err = db.CreatePet(ctx, rex, nil)
		case n < 5:
			name := fmt.Sprint("Rex ", rand.IntN(100))
			_, _, err = db.UpdatePet(ctx, pet.ID, petstore.PetPatch{Name: &name}, nil)
		case n < 6:
			_, err = db.DeletePet(ctx, pet.ID, nil)
			pet = petstore.Pet{}
		default:
			var order petstore.Order
			if order, _, err = db.PlaceOrder(ctx, petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil); err == nil {
				_, _, err = db.CloseOrder(ctx, order.ID, petstore.Cancelled, nil)
			}
		}
		if _, refused := err.(*petstore.Error); err != nil && !refused {
			t.Error(err)
		}
	}
}

// wantReplayed checks that every event begins with the state that the event before has left, and that the events make the
// animals that are stored.
func wantReplayed(t *testing.T, db *DB, events []petstore.Event) {
	t.Helper()
	pets := make(map[int64]petstore.Pet)
	for _, e := range events {
		if e.Pet == nil {
			continue
		}
		now, known := pets[e.PetID()]
		switch {
		case e.Type == petstore.PetCreated && known, e.Type == petstore.PetDeleted && now != e.Pet.Now, e.Type == petstore.PetUpdated && now != *e.Pet.Before:
			t.Errorf("event %d: %v of %+v, which was %+v", e.Sequence, e.Type, e.Pet.Now, now)
		}
		pets[e.PetID()] = e.Pet.Now
		if e.Type == petstore.PetDeleted {
			delete(pets, e.PetID())
		}
	}
	stored, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 10_000})
	noError(t, err)
	if len(stored) != len(pets) {
		t.Errorf("%d animals are stored, and %d follow from the feed", len(stored), len(pets))
	}
	for _, pet := range stored {
		if pets[pet.ID] != pet {
			t.Errorf("%+v is stored, and %+v follows from the feed", pet, pets[pet.ID])
		}
	}
}

// What was acknowledged before another change began comes first, and is in every page that is asked for later.
func TestAnAcknowledgedChangeIsInTheNextPageAndBeforeTheNextChange(t *testing.T) {
	replicas := openReplicas(t, testservice.Postgres(t))
	var all sync.WaitGroup
	for w := range 6 {
		all.Go(func() {
			for i := range 40 {
				writer, reader := replicas[(w+i)%3], replicas[(w+i+1)%3]
				first, _, err := writer.CreatePet(t.Context(), rex, nil)
				if err != nil {
					t.Error(err)
					return
				}
				page, err := reader.ListEvents(t.Context(), petstore.EventQuery{PetID: &first.ID, Limit: 10})
				if err != nil || len(page.Events) != 1 {
					t.Errorf("the page after the creation of animal %d has %s, %v", first.ID, summary(page.Events), err)
					return
				}
				second, _, err := reader.CreatePet(t.Context(), rex, nil)
				if err != nil {
					t.Error(err)
					return
				}
				later, err := writer.ListEvents(t.Context(), petstore.EventQuery{PetID: &second.ID, Limit: 10})
				if err != nil || len(later.Events) != 1 || later.Events[0].Sequence <= page.Events[0].Sequence {
					t.Errorf("animal %d is event %d, and animal %d after it is %+v, %v", first.ID, page.Events[0].Sequence, second.ID, later.Events, err)
				}
			}
		})
	}
	all.Wait()
}

// A server of the previous version is in the middle of a transaction when the migration begins: it holds a lock on one of the
// tables, and then needs the other.
func TestAMigrationWaitsForTransactionsOfThePreviousVersion(t *testing.T) {
	const (
		pets   = "UPDATE pets SET status = 2 WHERE id = 1"
		orders = "INSERT INTO orders (pet_id, status, reference, created_at, expires_at) VALUES (1, 1, '', 1, 9e15)"
	)
	for name, statements := range map[string][2]string{"animals first": {pets, orders}, "orders first": {orders, pets}} {
		t.Run(name, func(t *testing.T) {
			url := testservice.Postgres(t)
			openPreviousVersion(t, url)
			older := holdLocks(t, url, statements[0])
			migrated := make(chan *DB, 1)
			go func() { migrated <- openMigrated(t, url) }()
			watcher := newConn(t, url)
			testservice.Eventually(t, "the migration waits", time.Minute, func() bool {
				var waits bool
				noError(t, watcher.QueryRow(t.Context(), `SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database()
					AND pid <> pg_backend_pid() AND query LIKE '%LOCK TABLE pets%'`).Scan(&waits))
				return waits
			})
			noError(t, errorOf(older.Exec(t.Context(), statements[1])))
			noError(t, errorOf(older.Exec(t.Context(), "COMMIT")))
			db := <-migrated
			if got := follow(t, db, 0); len(got) != 0 {
				t.Errorf("the feed begins with %s", summary(got))
			}
			execute(t, url, "UPDATE pets SET status = 1 WHERE id = 1; INSERT INTO pets (name, category_id, status) VALUES ('Max', 1, 1)")
			if got := summary(follow(t, db, 0)); got != "pet.updated 1, pet.created 2" {
				t.Errorf("then the previous version makes %s", got)
			}
		})
	}
}

// openPreviousVersion fills a database with the schema of the previous version and an animal.
func openPreviousVersion(t *testing.T, url string) {
	t.Helper()
	previous := fstest.MapFS{}
	for _, name := range []string{"migrations/0001_first.sql", "migrations/0002_life.sql"} {
		sql, err := embedded.ReadFile(name)
		noError(t, err)
		previous[name] = &fstest.MapFile{Data: sql}
	}
	migrations = previous
	defer func() { migrations = embedded }()
	open(t, url).Close()
	execute(t, url, "INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 1)")
}

func TestARemovedReferenceIsGoneFromTheTables(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	pet := mustCreate(t, db)
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Reference: "Ann", Hold: time.Hour}, nil)
	noError(t, err)
	noError(t, db.NumberEvents(t.Context()))
	other, none := "Anna", ""
	noError(t, errorOf2(db.UpdateOrder(t.Context(), order.ID, petstore.OrderPatch{Reference: &other}, nil)))
	noError(t, errorOf2(db.UpdateOrder(t.Context(), order.ID, petstore.OrderPatch{Reference: &none}, nil)))
	var records []string
	noError(t, db.pool.QueryRow(t.Context(), "SELECT array_agg(record) FROM (SELECT record FROM events UNION ALL SELECT record FROM event_slips) AS every").Scan(&records))
	if slices.ContainsFunc(records, func(record string) bool { return strings.Contains(record, "Ann") }) {
		t.Errorf("the records are %q", records)
	}
	// A server of the previous version removes one.
	execute(t, url, "UPDATE orders SET reference = 'Bob'; UPDATE orders SET reference = ''")
	for _, e := range follow(t, db, 0) {
		if e.Order != nil && (e.Order.Now.Reference != "" || e.Order.Before != nil && e.Order.Before.Reference != "") {
			t.Errorf("event %d has the reference of %+v", e.Sequence, e.Order)
		}
	}
}

func errorOf2[A, B any](_ A, _ B, err error) error { return err }
