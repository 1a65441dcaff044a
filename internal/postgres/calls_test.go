package postgres

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestAReaderThatGivesUpBreaksNoConnection(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: mustCreate(t, db).ID, Hold: time.Hour}, nil)
	noError(t, err)
	holder := holdLocks(t, url, "LOCK TABLE orders")
	before := db.pool.Stat().TotalConns()
	caller, giveUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := db.GetOrder(caller, order.ID)
		ended <- err
	}()
	awaitLockWaits(t, url, 1)
	giveUp()
	noError(t, errorOf(holder.Exec(t.Context(), "COMMIT")))
	if err := <-ended; err != nil {
		t.Errorf("the read did not finish: %v", err)
	}
	if after := db.pool.Stat(); after.TotalConns() < before || after.CanceledAcquireCount() > 0 {
		t.Errorf("%d of %d connections are left", after.TotalConns(), before)
	}
}

func TestTheDatabasesIsolationDoesNotMatter(t *testing.T) {
	url := testservice.Postgres(t)
	execute(t, url, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$")
	var isolation string
	if err := open(t, url).pool.QueryRow(t.Context(), "SHOW transaction_isolation").Scan(&isolation); err != nil || isolation != "read committed" {
		t.Errorf("a transaction has the isolation level %q, %v", isolation, err)
	}
}

// leavingCaller is the context of a caller that gives up as soon as its call has begun. To the server, a client that has
// closed only its side of the connection looks the same, and still waits for the answer.
type leavingCaller struct {
	context.Context              // a context that has ended
	calls           atomic.Int64 // how often Err was called
}

func (l *leavingCaller) Err() error {
	if l.calls.Add(1) == 1 {
		return nil
	}
	return context.Canceled
}

func TestACallThatHasBegunFinishesAlthoughItsCallerGivesUp(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	ended, end := context.WithCancel(t.Context())
	end()
	pet, pending := mustCreate(t, db), petstore.Pending
	order := petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}
	placed, _, err := db.PlaceOrder(t.Context(), order, nil)
	noError(t, err)
	for _, c := range []struct {
		what string
		do   func(ctx context.Context) error
		want petstore.Code // the code of the refusal, or empty if the call succeeds
	}{
		{"an order of a held animal", func(ctx context.Context) error { _, _, err := db.PlaceOrder(ctx, order, nil); return err }, petstore.PetUnavailable},
		{"an update of a held animal", func(ctx context.Context) error {
			return writeError(db.UpdatePet(ctx, pet.ID, petstore.PetPatch{Status: &pending}, nil))
		}, ""},
		{"a delete of a held animal", func(ctx context.Context) error { return errorOf(db.DeletePet(ctx, pet.ID, nil)) }, petstore.PetReserved},
		{"a cancel", func(ctx context.Context) error {
			return writeError(db.CloseOrder(ctx, placed.ID, petstore.Cancelled, nil))
		}, ""},
		{"a second cancel", func(ctx context.Context) error {
			return writeError(db.CloseOrder(ctx, placed.ID, petstore.Cancelled, nil))
		}, ""},
		{"a delete", func(ctx context.Context) error { return errorOf(db.DeletePet(ctx, pet.ID, nil)) }, ""},
		{"a delete of a category that does not exist", func(ctx context.Context) error { return errorOf(db.DeleteCategory(ctx, 7, nil)) }, petstore.NotFound},
		{"a second delete", func(ctx context.Context) error { return errorOf(db.DeletePet(ctx, pet.ID, nil)) }, petstore.NotFound},
	} {
		err := c.do(&leavingCaller{Context: ended})
		if ok := err == nil && c.want == "" || petstore.IsCode(err, c.want); !ok {
			t.Errorf("%s ended with %v, want %q", c.what, err, c.want)
		}
	}
}
