package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

func addWebhook(t *testing.T, db *DB) petstore.Webhook {
	t.Helper()
	w, err := db.CreateWebhook(t.Context(), petstore.NewWebhook(petstore.WebhookSettings{URL: "https://a.example/", Types: []string{"*"}}, time.Now()), nil)
	noError(t, err)
	return w
}

func TestALeaseEndsAfterHalfAMinute(t *testing.T) {
	now := time.Date(2026, time.November, 18, 12, 0, 0, 0, time.UTC)
	db := open(t, Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Create: true, Now: func() time.Time { return now }})
	w := addWebhook(t, db)
	held := func(holder string) bool {
		t.Helper()
		webhooks, err := db.LeaseWebhooks(t.Context(), holder)
		noError(t, err)
		return len(webhooks) == 1
	}
	if !held("a") {
		t.Fatal("a webhook without a holder was not given to the first who asked")
	}
	for range 3 { // prolonged each time
		if now = now.Add(petstore.WebhookLease - time.Millisecond); held("b") || !held("a") {
			t.Fatal("a lease ended early")
		}
	}
	if now = now.Add(petstore.WebhookLease); !held("b") || held("a") {
		t.Fatal("a lease did not end")
	}
	refused, err := db.SaveAttempts(t.Context(), "a", []petstore.WebhookAttempts{{ID: w.ID, Version: w.Version}})
	noError(t, err)
	if len(refused) != 1 {
		t.Error("the holder of before moved the webhook")
	}
}

func TestARestoreDisablesWebhooks(t *testing.T) {
	database, _ := newWithBackup(t, 5)
	db := open(t, production(database))
	w := addWebhook(t, db)
	fillPets(t, db, 3)
	backup := filepath.Join(t.TempDir(), "backup.db")
	noError(t, Backup(t.Context(), production(database), backup, noProgress))
	db.Close()
	elsewhere := filepath.Join(t.TempDir(), "new.db")
	_, err := Restore(t.Context(), production(elsewhere), backup, false, noProgress)
	noError(t, err)
	restored, err := open(t, production(elsewhere)).GetWebhook(t.Context(), w.ID)
	noError(t, err)
	if restored.Enabled || restored.Reason != petstore.WebhookRestored || restored.Behind != 0 || restored.Position != w.Position+3 || restored.Feed == w.Feed {
		t.Errorf("%+v was restored as %+v", w.WithoutSecrets(), restored.WithoutSecrets())
	}
	if restored.Secret != w.Secret {
		t.Error("the secret was not restored")
	}
}

// Nobody would ever remove such a delivery.
func TestTheDeliveryOfADeletedWebhookIsNotStored(t *testing.T) {
	db := openNew(t)
	w := addWebhook(t, db)
	_, err := db.DeleteWebhook(t.Context(), w.ID, nil)
	noError(t, err)
	late := petstore.Delivery{ID: petstore.NewDeliveryID(time.Now()), WebhookID: w.ID, EventID: "evt_test_1", At: time.Now(), Status: 200}
	_, err = db.SaveAttempts(t.Context(), "a", []petstore.WebhookAttempts{{ID: w.ID, Version: w.Version, Deliveries: []petstore.Delivery{late}}})
	noError(t, err)
	noError(t, db.RecordPing(t.Context(), w, late))
	stored := -1
	noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { stored = row.ColumnInt(0) }, "SELECT count(*) FROM webhook_deliveries")
	}))
	if stored != 0 {
		t.Errorf("%d deliveries are stored", stored)
	}
}
