package httpapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/sqlite"
)

func TestIdempotencyRecordsOfTheFirstVersionAreReplayed(t *testing.T) {
	const key = "pets-version-one-key"
	then := func() time.Time { return time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC) } // the records are valid then
	content, err := os.ReadFile("../sqlite/testdata/version1.db")
	noError(t, err)
	path := filepath.Join(t.TempDir(), "petstore.db")
	noError(t, os.WriteFile(path, content, 0o600))
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Environment: petstore.Production, Migrate: true, Serve: true, Now: then})
	s := serve(t, on(closeAfterTest(t, db, err)), func(c *httpapi.Config) { c.NamedKey = key })
	if _, err := db.DeletePet(t.Context(), 4, nil); err != nil {
		t.Fatal(err)
	}
	for number, fields := range map[int]string{
		1: `"name":"Biscuit, beagle mix","categoryId":1,"status":"available"`,
		3: `"name":"Zoë 🐕","categoryId":-7,"status":"sold"`,
		4: `"name":"Rex","categoryId":9007199254740993,"status":"available"`,
	} {
		got := s.post(key, "{"+fields+"}", fmt.Sprint("Idempotency-Key: first-", number))
		got.is(t, 201, "")
		if want := fmt.Sprintf(`{"id":%d,%s}`, number, fields); got.body != want || got.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("got %s, replayed %q; want %s", got.body, got.header.Get("Idempotency-Replayed"), want)
		}
	}
}
