package postgres

import (
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// Two changes wait, and a key is created between them. Only the second change sees the new key when it begins, and the id
// of the new key sorts first.
func TestConcurrentChangesOfAnOwnersKeysDoNotDeadlock(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	first := petstore.NewKey("first", petstore.Free, petstore.Limits{}, time.Now(), petstore.Forever)
	noError(t, db.CreateKey(t.Context(), first, petstore.HashSecret("first"), petstore.KeyRequest{}))
	holder := holdLocks(t, url, "SELECT FROM keys FOR UPDATE")
	changed := make(chan error, 2)
	change := func(plan petstore.Plan) {
		_, _, err := db.UpdateKey(t.Context(), first.ID, petstore.KeyChange{Plan: &plan}, petstore.ByOperator(time.Now()))
		changed <- err
	}
	go change(petstore.Pro)
	awaitLockWaits(t, url, 1)
	second := first
	second.ID = "key_0"
	noError(t, db.CreateKey(t.Context(), second, petstore.HashSecret("second"), petstore.KeyRequest{}))
	go change(petstore.Business)
	awaitLockWaits(t, url, 2)
	noError(t, errorOf(holder.Exec(t.Context(), "COMMIT")))
	for range 2 {
		if err := <-changed; err != nil {
			t.Errorf("a change is refused: %v", err)
		}
	}
	keys, err := db.Keys(t.Context())
	if err != nil || keys[0].Plan != keys[1].Plan {
		t.Errorf("the owner's keys are %+v, %v", keys, err)
	}
}

func TestNoFirstKeyIsCreatedWhileAnotherKeyIsBeingCreated(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	other := holdLocks(t, url, "SELECT")
	noError(t, errorOf(other.Exec(t.Context(), insertKey, keyArgs(keyNamed("other"), petstore.HashSecret("other"))...)))
	type result struct {
		made bool
		err  error
	}
	results := make(chan result, 1)
	go func() {
		made, err := db.CreateFirstKey(t.Context(), keyNamed("first"), petstore.HashSecret("first"))
		results <- result{made, err}
	}()
	awaitLockWaits(t, url, 1)
	noError(t, errorOf(other.Exec(t.Context(), "COMMIT")))
	if got := <-results; got.made || got.err != nil {
		t.Errorf("a first key was created beside another: %v, %v", got.made, got.err)
	}
}
