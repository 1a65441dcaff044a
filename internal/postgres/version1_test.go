package postgres

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// loadVersionOne fills a database with the data of a store that the first version of the program wrote.
func loadVersionOne(t testing.TB, url string) {
	t.Helper()
	dump, err := os.ReadFile("testdata/version1.sql")
	noError(t, err)
	execute(t, url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	execute(t, url, string(dump))
}

func openMigrated(t testing.TB, url string) *DB {
	t.Helper()
	return openConfig(t, Config{URL: url, Migrate: true})
}

func TestAStoreOfTheFirstVersionIsMigrated(t *testing.T) {
	here, there := testservice.Postgres(t), testservice.Postgres(t)
	conformance.VersionOne(t,
		func(t *testing.T) petstore.Database { loadVersionOne(t, here); return openMigrated(t, here) },
		func(t *testing.T) petstore.Database { return openEmptied(t, there) })
}

// A server of the first version has begun to create an animal, and has not committed, when the migration begins.
func TestAMigrationMissesNothingThatIsWrittenMeanwhile(t *testing.T) {
	const (
		pet    = "INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 1)"
		record = "INSERT INTO idempotency VALUES ('owner', 'key', decode(repeat('00', 32), 'hex'), 1, 1)"
	)
	url := testservice.Postgres(t)
	for name, create := range map[string][2]string{
		"a create":                     {pet, "SELECT"},
		"a create with an idempotency": {record, pet},
	} {
		t.Run(name, func(t *testing.T) {
			loadVersionOne(t, url)
			older, err := pgx.Connect(t.Context(), url)
			noError(t, err)
			defer older.Close(t.Context())
			execute := func(sql string) {
				t.Helper()
				noError(t, errorOf(older.Exec(t.Context(), sql)))
			}
			execute("BEGIN")
			execute(create[0])
			migrated := make(chan error, 1)
			go func() {
				db, err := Open(t.Context(), Config{URL: url, Environment: petstore.Production, Migrate: true, timeout: longTimeout})
				if err == nil {
					db.Close()
				}
				migrated <- err
			}()
			awaitLockWaits(t, url, 1)
			execute(create[1])
			execute("COMMIT")
			noError(t, <-migrated)
			if err := checkConsistency(t.Context(), openMigrated(t, url)); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkConsistency compares the inventory with the animals, and the animals with the orders that hold them.
func checkConsistency(ctx context.Context, db *DB) error {
	pets, err := db.ListPets(ctx, petstore.PetQuery{Limit: 1_000_000})
	if err != nil {
		return err
	}
	orders, err := db.StoredOrders(ctx, petstore.Order{}, 1_000_000)
	if err != nil {
		return err
	}
	var counted petstore.Inventory
	status := map[int64]petstore.Status{}
	for _, pet := range pets {
		counted.Add(pet.Status, 1)
		status[pet.ID] = pet.Status
	}
	for _, order := range orders {
		if order.Status == petstore.Open && status[order.PetID] != petstore.Pending {
			return fmt.Errorf("order %+v holds an animal that is %q", order, status[order.PetID])
		}
	}
	got, err := db.Inventory(ctx)
	if err == nil && got != counted {
		err = fmt.Errorf("the inventory is %+v; there are %+v", got, counted)
	}
	return err
}

// awaitLockWaits waits until n sessions of the database wait for a lock.
func awaitLockWaits(t *testing.T, url string, n int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	conn, err := pgx.Connect(ctx, url)
	noError(t, err)
	defer conn.Close(ctx)
	for waits := 0; waits < n; time.Sleep(time.Millisecond) {
		err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waits)
		noError(t, err)
	}
}

// BenchmarkMigration migrates a store of the first version with a million animals, and then stores their words, which a
// server does in the background. Run it with -benchtime 1x.
func BenchmarkMigration(b *testing.B) {
	url := testservice.Postgres(b)
	for b.Loop() {
		b.StopTimer()
		loadVersionOne(b, url)
		execute(b, url, `
			INSERT INTO pets (name, category_id, status)
			SELECT 'Pet number ' || i, i % 40 + 1, i % 3 + 1 FROM generate_series(1, 1000000) i;
			INSERT INTO idempotency SELECT 'owner', id, decode(repeat('00', 32), 'hex'), id, id FROM pets WHERE id <= 100000;
			ANALYZE`)
		b.StartTimer()
		db := openMigrated(b, url)
		b.StopTimer()
		began := time.Now()
		mustStoreWords(b, db)
		b.ReportMetric(time.Since(began).Seconds(), "s/words")
		db.Close()
		b.StartTimer()
	}
}
