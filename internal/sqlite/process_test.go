package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
)

var limits = petstore.Limits{PerMinute: 60, PerDay: 1000}

// keyRounds is how many keys the other process creates, rotates and revokes.
const keyRounds = 12

// useKeys repeatedly creates, rotates and revokes keys, as the commands for keys do. Like a command, useKeys opens the
// database anew in each round.
func useKeys(path string) error {
	ctx, now := context.Background(), time.Now()
	for i := range keyRounds {
		db, err := Open(ctx, Config{Path: path, Environment: petstore.Production})
		if err != nil {
			return err
		}
		key := petstore.NewKey("ci", petstore.Free, limits, now, petstore.Forever)
		if err := db.CreateKey(ctx, key, petstore.HashSecret(fmt.Sprint("first ", i)), petstore.KeyRequest{}); err != nil {
			return err
		}
		next, err := db.RotateKey(ctx, key.ID, petstore.HashSecret(fmt.Sprint("second ", i)), petstore.Rotation{Overlap: time.Hour}, petstore.ByOperator(now))
		if err != nil {
			return err
		}
		if _, _, err := db.RevokeKey(ctx, next.ID, petstore.ByOperator(now)); err != nil {
			return err
		}
		if keys, err := db.Keys(ctx); err != nil || len(keys) != 2*(i+1) {
			return fmt.Errorf("%d keys after %d rounds: %w", len(keys), i+1, err)
		}
		if err := db.Close(); err != nil {
			return err
		}
	}
	return nil
}

func TestKeysCanBeManagedBesideABusyServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	server := open(t, Config{Path: path, Create: true, Serve: true})
	var created atomic.Int64
	var busy atomic.Bool
	busy.Store(true)
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for busy.Load() {
				if err := createAndRead(t.Context(), server); err != nil {
					t.Error(err)
					return
				}
				created.Add(1)
			}
		})
	}
	out, err := otherProcess(t, "use keys", path).CombinedOutput()
	busy.Store(false)
	all.Wait()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	keys, err := server.Keys(t.Context())
	noError(t, err)
	if len(keys) != 2*keyRounds {
		t.Errorf("%d keys, want %d", len(keys), 2*keyRounds)
	}
	pets, err := server.ListPets(t.Context(), petstore.PetQuery{Limit: 1_000_000})
	noError(t, err)
	if int64(len(pets)) != created.Load() {
		t.Errorf("%d animals, %d were acknowledged", len(pets), created.Load())
	}
	checkIntegrity(t, server)
}

// createAndRead creates an animal and reads it. The animal is so large that SQLite soon moves the WAL into the database.
func createAndRead(ctx context.Context, db *DB) error {
	pet, _, err := db.CreatePet(ctx, petstore.NewPet{Name: strings.Repeat("🐈", 500), Status: petstore.Sold}, nil)
	if err != nil {
		return err
	}
	_, err = db.GetPet(ctx, pet.ID)
	return err
}

// keepCreating creates animals until the process is killed, and orders some of them. It prints each animal that was
// acknowledged.
func keepCreating(path string) error {
	ctx := context.Background()
	db, err := Open(ctx, Config{Path: path, Environment: petstore.Production, Create: true, Serve: true})
	if err != nil {
		return err
	}
	failures := make(chan error)
	for i := range 16 {
		go func() {
			for j := 0; ; j++ {
				pet, _, err := db.CreatePet(ctx, petstore.NewPet{Name: fmt.Sprintf("%d-%d-%d", os.Getpid(), i, j), Status: petstore.Available}, nil)
				if err != nil {
					failures <- err
				}
				fmt.Printf("%d %s\n", pet.ID, pet.Name)
				if j%2 == 0 {
					continue
				}
				if err := orderAndSell(ctx, db, pet.ID); err != nil {
					failures <- err
				}
			}
		}()
	}
	return <-failures
}

// orderAndSell places an order for an animal and completes it.
func orderAndSell(ctx context.Context, db *DB, petID int64) error {
	order, _, err := db.PlaceOrder(ctx, petstore.NewOrder{PetID: petID, Hold: time.Hour}, nil)
	if err == nil {
		_, _, err = db.CloseOrder(ctx, order.ID, petstore.Completed, nil)
	}
	return err
}

func TestAcknowledgedPetsSurviveAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	acknowledged := make(map[int64]string)
	for range 10 {
		createUntilKilled(t, path, 1+rand.IntN(300), acknowledged)

		db := open(t, Config{Path: path, Serve: true})
		pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 1_000_000})
		noError(t, err)
		stored := make(map[int64]string)
		for _, pet := range pets {
			stored[pet.ID] = pet.Name
		}
		for id, name := range acknowledged {
			if stored[id] != name {
				t.Fatalf("pet %d is %q, acknowledged was %q", id, stored[id], name)
			}
		}
		checkIntegrity(t, db)
		conformance.FeedEqualsStore(t, db)
		noError(t, db.Close())
	}
}

// createUntilKilled starts a process that creates animals, and kills the process after it has printed the given number of
// lines. It adds every printed animal to the map acknowledged.
func createUntilKilled(t *testing.T, path string, lines int, acknowledged map[int64]string) {
	t.Helper()
	cmd := otherProcess(t, "keep busy", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	seen := 0
	for scanner := bufio.NewScanner(out); scanner.Scan(); seen++ {
		if seen == lines {
			noError(t, cmd.Process.Kill())
		}
		var id int64
		var name string
		if _, err := fmt.Sscan(scanner.Text(), &id, &name); err != nil {
			t.Fatalf("%q: %v", scanner.Text(), err)
		}
		if other, twice := acknowledged[id]; twice {
			t.Fatalf("id %d was given to %q and %q", id, other, name)
		}
		acknowledged[id] = name
	}
	cmd.Wait()
	if seen < lines {
		t.Fatalf("the process ended by itself after %d animals", seen)
	}
}

func checkIntegrity(t *testing.T, db *DB) {
	t.Helper()
	var verdict string
	noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { verdict += row.ColumnText(0) }, "PRAGMA integrity_check")
	}))
	if verdict != "ok" {
		t.Fatalf("the database is damaged: %s", verdict)
	}
}

func checkOnce(path string) error {
	_, _, err := Check(context.Background(), production(path))
	return err
}
