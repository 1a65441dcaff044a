package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
	"petstore/internal/usage"
)

// addedUsage is a storage that sums up the requests that it is given, or fails.
type addedUsage struct {
	passed int64
	err    error
}

func (s *addedUsage) AddUsage(_ context.Context, added []petstore.OwnerUsage, _ *petstore.Idempotency) (bool, error) {
	if s.err != nil {
		return false, s.err
	}
	for _, u := range added {
		s.passed += u.Passed
	}
	return false, nil
}

func TestUsageIsStoredEveryTenSecondsAndAtTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, log := new(addedUsage), new(bytes.Buffer)
		counter := usage.New(storage)
		count := func() { counter.Count("ann", time.Now(), false) }
		stop := flushUsage(counter, slog.New(slog.NewTextHandler(log, nil)))
		for n := range int64(3) {
			count()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if storage.passed != n+1 {
				t.Errorf("after 10 seconds, %d requests are stored, want %d", storage.passed, n+1)
			}
		}
		storage.err = errors.New("the disk is full")
		for range 3 {
			count()
			time.Sleep(10 * time.Second)
		}
		storage.err = nil
		time.Sleep(10 * time.Second)
		count()
		stop()
		if storage.passed != 7 {
			t.Errorf("at the end, %d requests are stored, want 7", storage.passed)
		}
		if said := log.String(); strings.Count(said, "usage cannot be stored") != 1 || strings.Count(said, "usage is stored again") != 1 {
			t.Errorf("the log says %s", said)
		}
	})
}

func TestAStoppedServerHasStoredItsUsage(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"SQLite": "sqlite:" + filepath.Join(t.TempDir(), "pets.db"), "PostgreSQL": testservice.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			s := testservice.ServeRaced(t, "--database", url)
			for range 5 {
				s.Ask(t, "GET", "/v1/pets", "")
			}
			s.Ask(t, "GET", "/v1/pets/7", "")
			s.Stop(t)
			err := database.Flags{Environment: petstore.Production, Database: url}.With(t.Context(), database.ToUse, func(storage *database.Storage) error {
				key, err := storage.FindKey(t.Context(), petstore.HashSecret(s.Key))
				noError(t, err)
				if key.Access != petstore.Admin {
					t.Errorf("the first key may %s", key.Access)
				}
				used, err := storage.Usage(t.Context(), key.Owner, time.Time{})
				passed := int64(0)
				for _, u := range used {
					passed += u.Passed
				}
				if passed < 6 { // the start of the server may have asked too
					t.Errorf("the usage is %+v", used)
				}
				return err
			})
			noError(t, err)
		})
	}
}

func TestAKeyThatTheOperatorNamesIsNoAdministrators(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	const named = "a-key-of-my-own-choice"
	testservice.Serve(t, "--database", url, "--api-key", named).Stop(t)
	err := database.Flags{Environment: petstore.Production, Database: url}.With(t.Context(), database.ToUse, func(storage *database.Storage) error {
		key, err := storage.FindKey(t.Context(), petstore.HashSecret(named))
		if key.Access != petstore.ReadWrite {
			t.Errorf("it may %s", key.Access)
		}
		return err
	})
	noError(t, err)
}
