package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"

	"petstore/internal/testservice"
)

// The commands are those of docs/continuous-backup.md.
func TestWhatWasAcknowledgedBeforeATableIsDroppedComesBackFromPgBackRest(t *testing.T) {
	t.Parallel()
	db := testservice.StartArchivedPostgres(t)
	server := testservice.Serve(t, "--database", db.URL, "--rate-limits", "off")
	backedUp := make(chan struct{})
	acknowledged := make(chan []int64, 4)
	for range cap(acknowledged) {
		go func() { acknowledged <- createUntil(t, server, backedUp) }()
	}
	db.Backrest(t, "--type=full", "backup")
	close(backedUp)
	var ids []int64
	for range cap(acknowledged) {
		ids = append(ids, <-acknowledged...)
	}

	conn, err := pgx.Connect(t.Context(), db.URL)
	noError(t, err)
	var before string
	noError(t, conn.QueryRow(t.Context(), "SELECT clock_timestamp()::text").Scan(&before))
	_, err = conn.Exec(t.Context(), "DROP TABLE pets CASCADE")
	noError(t, err)
	noError(t, conn.Close(t.Context()))
	server.Stop(t)
	db.RestoreTo(t, before)
	mustInvoke(t, "events", "reset", "--database", db.URL)

	restored := testservice.Serve(t, "--database", db.URL, "--rate-limits", "off")
	restored.Key = server.Key
	found := make(map[int64]bool)
	for _, pet := range restored.EveryPet(t) {
		found[pet.ID] = true
	}
	for _, id := range ids {
		if !found[id] {
			t.Errorf("animal %d was acknowledged and is gone", id)
		}
	}
	t.Logf("%d of %d animals were restored", len(found), len(ids))
}

// createUntil creates animals until the channel is closed, and 100 more. It returns the ids that were acknowledged.
func createUntil(t *testing.T, server *testservice.Instance, closed <-chan struct{}) (ids []int64) {
	for more := 100; more > 0; {
		select {
		case <-closed:
			more--
		default:
		}
		got, err := testservice.Request(server.URL, server.Key, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
		var pet struct{ ID int64 }
		if err != nil || got.Status != http.StatusCreated || json.Unmarshal([]byte(got.Body), &pet) != nil {
			t.Errorf("a create was answered with %+v, %v", got, err)
			return ids
		}
		ids = append(ids, pet.ID)
	}
	return ids
}
