package postgres

import (
	"context"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestAReaderThatGivesUpBreaksNoConnection(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: mustCreate(t, db).ID, Hold: time.Hour}, nil)
	if err != nil {
		t.Fatal(err)
	}
	holder := hold(t, url, "LOCK TABLE orders")
	before := db.pool.Stat().TotalConns()
	impatient, giveUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := db.GetOrder(impatient, order.ID)
		ended <- err
	}()
	awaitLockWaits(t, url, 1)
	giveUp()
	if _, err := holder.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the read that went on: %v", err)
	}
	if after := db.pool.Stat(); after.TotalConns() < before || after.CanceledAcquireCount() > 0 {
		t.Errorf("of %d connections %d are left", before, after.TotalConns())
	}
}

func TestTheDatabasesIsolationDoesNotMatter(t *testing.T) {
	url := testservice.Postgres(t)
	execute(t, url, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$")
	var isolation string
	if err := open(t, url).pool.QueryRow(t.Context(), "SHOW transaction_isolation").Scan(&isolation); err != nil || isolation != "read committed" {
		t.Errorf("a transaction has the isolation %q, %v", isolation, err)
	}
}
