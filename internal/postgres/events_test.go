package postgres

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

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
