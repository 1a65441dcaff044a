package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// newConn opens a connection that ends with the test.
func newConn(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	noError(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

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
