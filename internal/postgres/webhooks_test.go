package postgres

import (
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestALeaseEndsByTheClockOfTheDatabase(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	w, err := db.CreateWebhook(t.Context(), petstore.NewWebhook(petstore.WebhookSettings{URL: "https://a.example/", Types: []string{"*"}}, time.Now()), nil)
	noError(t, err)
	held := func(holder string) bool {
		t.Helper()
		webhooks, err := db.LeaseWebhooks(t.Context(), holder)
		noError(t, err)
		return len(webhooks) == 1
	}
	if !held("a") || held("b") {
		t.Fatal("the first who asked does not hold the webhook")
	}
	var left int64
	noError(t, db.pool.QueryRow(t.Context(), "SELECT held_until - "+nowMillis+" FROM webhooks").Scan(&left))
	if most := petstore.WebhookLease.Milliseconds(); left <= 0 || left > most {
		t.Errorf("the lease ends in %d ms by the clock of the database, want up to %d", left, most)
	}
	_, err = db.pool.Exec(t.Context(), "UPDATE webhooks SET held_until = "+nowMillis)
	noError(t, err)
	if !held("b") || held("a") {
		t.Fatal("a lease did not end")
	}
	refused, err := db.SaveAttempts(t.Context(), "a", []petstore.WebhookAttempts{{ID: w.ID, Version: w.Version}})
	noError(t, err)
	if len(refused) != 1 {
		t.Error("the holder of before moved the webhook")
	}
}
