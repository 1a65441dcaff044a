package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
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
	passed atomic.Int64
	fails  atomic.Bool
}

var errFullDisk = errors.New("the disk is full")

func (s *addedUsage) AddUsage(_ context.Context, added []petstore.OwnerUsage, _ *petstore.Idempotency) (bool, error) {
	if s.fails.Load() {
		return false, errFullDisk
	}
	for _, u := range added {
		s.passed.Add(u.Passed)
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
			if passed := storage.passed.Load(); passed != n+1 {
				t.Errorf("after 10 seconds, %d requests are stored, want %d", passed, n+1)
			}
		}
		storage.fails.Store(true)
		for range 3 {
			count()
			time.Sleep(10 * time.Second)
		}
		storage.fails.Store(false)
		time.Sleep(10 * time.Second)
		count()
		stop()
		if passed := storage.passed.Load(); passed != 7 {
			t.Errorf("at the end, %d requests are stored, want 7", passed)
		}
		if said := log.String(); strings.Count(said, "usage cannot be stored") != 1 || strings.Count(said, "usage is stored again") != 1 {
			t.Errorf("the log says %s", said)
		}
	})
}

// purgedUsage is a storage that counts how often its usage is purged, or fails.
type purgedUsage struct {
	petstore.Upkeep
	purges atomic.Int64
	fails  atomic.Bool
}

func (s *purgedUsage) PurgeUsage(context.Context, time.Time) (int64, error) {
	s.purges.Add(1)
	if s.fails.Load() {
		return 0, errFullDisk
	}
	return 0, nil
}

func TestUsageIsPurgedAtTheStartAndEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, log := new(purgedUsage), new(bytes.Buffer)
		stop := purgeUsage(storage, slog.New(slog.NewTextHandler(log, nil)))
		for n := range int64(3) {
			synctest.Wait()
			if purges := storage.purges.Load(); purges != n+1 {
				t.Errorf("after %d minutes, the usage was purged %d times", n, purges)
			}
			time.Sleep(time.Minute)
		}
		for _, fails := range []bool{true, false} {
			storage.fails.Store(fails)
			time.Sleep(3 * time.Minute)
		}
		stop()
		if said := log.String(); strings.Count(said, "old usage cannot be deleted") != 1 || strings.Count(said, "old usage is deleted again") != 1 {
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
