package postgres

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestExpireOrdersEndsWhileAnotherReplicaFoldsTheInventory(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	execute(t, url, "INSERT INTO inventory SELECT 1, 0 FROM generate_series(1, 1000)")
	other, err := db.pool.Begin(t.Context())
	noError(t, err)
	defer other.Rollback(t.Context())
	if _, err := other.Exec(t.Context(), "SET LOCAL idle_in_transaction_session_timeout = 0; SELECT FROM inventory FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: mustCreate(t, db).ID}, nil) // a zero hold: the order is overdue immediately
	noError(t, err)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	if n, err := db.ExpireOrders(ctx); n != 1 || err != nil {
		t.Errorf("ExpireOrders closed %d orders, want order %d (%v)", n, order.ID, err)
	}
}

func TestExpireOrdersFoldsTheInventory(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	execute(t, url, "INSERT INTO inventory SELECT n % 2 + 1, 1 FROM generate_series(1, 25000) n")
	noError(t, errorOf(db.ExpireOrders(t.Context())))
	var deltas int
	if err := db.pool.QueryRow(t.Context(), "SELECT count(*) FROM inventory").Scan(&deltas); err != nil || deltas > fewDeltas {
		t.Errorf("%d deltas are left, %v", deltas, err)
	}
	if n, err := db.Inventory(t.Context()); err != nil || n != (petstore.Inventory{Available: 12_500, Pending: 12_500}) {
		t.Errorf("the inventory is %+v, %v", n, err)
	}
}

// A publication refuses to delete from a table without a primary key. A blue/green upgrade replicates every table.
func TestEveryTableCanBeReplicatedLogically(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	execute(t, url, "CREATE PUBLICATION everything FOR ALL TABLES; INSERT INTO inventory SELECT 1, 0 FROM generate_series(1, 1000)")
	pet := mustCreate(t, db)
	if _, err := db.ExpireOrders(t.Context()); err != nil {
		t.Errorf("the inventory cannot be folded: %v", err)
	}
	if _, err := db.DeletePet(t.Context(), pet.ID, nil); err != nil {
		t.Errorf("an animal cannot be deleted: %v", err)
	}
	noError(t, errorOf(db.AddUsage(t.Context(), []petstore.OwnerUsage{{Owner: "ann"}}, nil)))
	if _, err := db.PurgeUsage(t.Context(), time.Time{}); err != nil {
		t.Errorf("the usage cannot be folded and purged: %v", err)
	}
	var lacking []string
	err := db.pool.QueryRow(t.Context(), `
		SELECT array_agg(relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
			AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)`).Scan(&lacking)
	if err != nil || len(lacking) > 0 {
		t.Errorf("these tables have no primary key: %v, %v", lacking, err)
	}
}

// Logical replication leaves sequences as they are.
func TestTheCommandOfThePageCarriesEverySequenceOver(t *testing.T) {
	page, err := os.ReadFile("../../docs/upgrades.md")
	noError(t, err)
	_, rest, _ := strings.Cut(string(page), `psql -At "$OLD" -c "`)
	statement, _, found := strings.Cut(rest, `" | psql "$NEW"`)
	if !found {
		t.Fatal("the page has no such command")
	}
	before, after := testservice.Postgres(t), testservice.Postgres(t)
	old, taken := open(t, before), open(t, after)
	for range 3 {
		mustCreate(t, old)
	}
	noError(t, errorOf(old.DeletePet(t.Context(), 3, nil)))
	texts := func(db *DB, query string) []string {
		rows, err := db.pool.Query(t.Context(), query)
		noError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		noError(t, err)
		return found
	}
	for _, statement := range texts(old, statement) {
		execute(t, after, statement)
	}
	const values = "SELECT sequencename || ' ' || coalesce(last_value, 0) FROM pg_sequences ORDER BY 1"
	if want, got := texts(old, values), texts(taken, values); !slices.Equal(got, want) || !slices.Contains(want, "event_slips_id_seq 4") {
		t.Errorf("the sequences are %q, want %q", got, want)
	}
	if pet := mustCreate(t, taken); pet.ID != 4 {
		t.Errorf("the next animal has the id %d", pet.ID)
	}
}

func TestWritesThatFollowEachOtherShareTheRowsOfTheInventory(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	holder := holdLocks(t, url, "INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 1)")
	for range 20 {
		pet := mustCreate(t, db)
		noError(t, errorOf2(db.UpdatePet(t.Context(), pet.ID, petstore.PetPatch{Status: new(petstore.Sold)}, nil)))
	}
	noError(t, errorOf(holder.Exec(t.Context(), "COMMIT")))
	var rows int
	if err := db.pool.QueryRow(t.Context(), "SELECT count(*) FROM inventory").Scan(&rows); err != nil || rows > 3 {
		t.Errorf("the inventory has %d rows, %v", rows, err)
	}
	if n, err := db.Inventory(t.Context()); err != nil || n != (petstore.Inventory{Available: 1, Sold: 20}) {
		t.Errorf("the inventory is %+v, %v", n, err)
	}
}
