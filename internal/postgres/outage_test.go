package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// calls has a call of each kind: a grouped call, a shared call, a single statement, and a transaction.
var calls = map[string]func(ctx context.Context, db *DB) error{
	"list": func(ctx context.Context, db *DB) error {
		return errorOf(db.ListPets(ctx, petstore.PetQuery{Limit: 20}))
	},
	"get":       func(ctx context.Context, db *DB) error { return errorOf(db.GetPet(ctx, 1)) },
	"keys":      func(ctx context.Context, db *DB) error { return errorOf(db.Keys(ctx)) },
	"ping":      func(ctx context.Context, db *DB) error { return db.Ping(ctx) },
	"inventory": func(ctx context.Context, db *DB) error { return errorOf(db.Inventory(ctx)) },
	"create":    func(ctx context.Context, db *DB) error { return createNamed(ctx, db, "Rex", nil) },
	"update": func(ctx context.Context, db *DB) error {
		return writeError(db.UpdatePet(ctx, 1, petstore.PetPatch{Name: new(time.Now().String())}, nil))
	},
	"create once": func(ctx context.Context, db *DB) error {
		return createNamed(ctx, db, "Rex", &petstore.Idempotency{Owner: "ann", Key: "k"})
	},
	"ban": func(ctx context.Context, db *DB) error { return errorOf(db.BanOwner(ctx, "key_a", time.Now())) },
}

// errorOf returns the error of a call and drops the result.
func errorOf[T any](_ T, err error) error { return err }

// writeError returns the error of a write and drops the result.
func writeError[T any](_ T, _ bool, err error) error { return err }

func createNamed(ctx context.Context, db *DB, name string, once *petstore.Idempotency) error {
	_, _, err := db.CreatePet(ctx, petstore.NewPet{Name: name, CategoryID: 7, Status: petstore.Available}, once)
	return err
}

// openUsed opens a database and makes calls, so that the pool has several connections.
func openUsed(t *testing.T, url string, timeout time.Duration) *DB {
	t.Helper()
	setup := open(t, url)
	key := petstore.Key{ID: "key_a", Owner: "key_a", Plan: petstore.Free, Access: petstore.ReadWrite, CreatedAt: time.Now()}
	noError(t, setup.CreateKey(t.Context(), key, petstore.SecretHash{}, petstore.KeyRequest{}))
	mustCreate(t, setup)
	setup.Close()
	db := openConfig(t, Config{URL: url, timeout: timeout})
	awaitSuccess(t, db)
	callAll(t, db, 10) // on a busy machine, the database may refuse some of the calls
	return db
}

// callAll makes each call several times, all calls at the same time, and returns their errors.
func callAll(t *testing.T, db *DB, times int) map[string][]error {
	var mu sync.Mutex
	results := make(map[string][]error)
	var all sync.WaitGroup
	for name, call := range calls {
		for range times {
			all.Go(func() {
				err := call(t.Context(), db)
				mu.Lock()
				defer mu.Unlock()
				results[name] = append(results[name], err)
			})
		}
	}
	all.Wait()
	return results
}

// wantRefused fails the test unless every call was refused: a read with Unavailable, a write with Unavailable or
// OutcomeUnknown.
func wantRefused(t *testing.T, results map[string][]error) {
	t.Helper()
	writes := []string{"create", "create once", "update", "ban"}
	for name, errs := range results {
		for _, err := range errs {
			if petstore.IsCode(err, petstore.Unavailable) || petstore.IsCode(err, petstore.OutcomeUnknown) && slices.Contains(writes, name) {
				continue
			}
			t.Errorf("%s: got %v, want a refusal with the code %s", name, err, petstore.Unavailable)
		}
	}
}

// awaitSuccess repeats every call until it succeeds.
func awaitSuccess(t *testing.T, db *DB) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for name, call := range calls {
		for err := call(t.Context(), db); err != nil; err = call(t.Context(), db) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", name, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func TestReadsSurviveBrokenConnections(t *testing.T) {
	url := testservice.Postgres(t)
	db := openUsed(t, url, longTimeout)
	for _, name := range []string{"list", "get", "keys", "ping"} {
		execute(t, url, `
			SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		if err := calls[name](t.Context(), db); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		callAll(t, db, 10) // fill the pool again
	}
}

func TestCallsAreRefusedWhileTheServerIsStopped(t *testing.T) {
	t.Parallel()
	server := testservice.StartPostgres(t)
	db := openUsed(t, server.URL, callTimeout)
	server.Stop(t)
	wantRefused(t, callAll(t, db, 3))
	server.Start(t)
	awaitSuccess(t, db)
}

func TestCallsAreRefusedWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	server := testservice.StartPostgres(t)
	db := openUsed(t, server.URL, callTimeout)
	server.Pause(t)
	results := make(chan map[string][]error)
	go func() { results <- callAll(t, db, 10) }()
	select {
	case all := <-results:
		wantRefused(t, all)
	case <-time.After(10 * callTimeout):
		t.Fatal("a call hangs")
	}
	if _, err := Open(t.Context(), Config{URL: server.URL, Environment: petstore.Production}); err == nil {
		t.Error("a database that hangs was opened")
	}
	server.Resume(t)
	awaitSuccess(t, db)
}

func TestAStandbyTakesOverAndNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	primary := testservice.StartPostgres(t)
	standby := primary.Standby(t)
	url := fmt.Sprintf("postgres://postgres@%s,%s/postgres?sslmode=disable", primary.Address, standby.Address)
	db := openAsShipped(t, url)

	ctx, stop := context.WithCancel(t.Context())
	acknowledged := make(chan petstore.Pet)
	unavailable := make([][]string, 8) // the names of the animals that were refused as Unavailable, by writer
	var writers sync.WaitGroup
	for i := range unavailable {
		writers.Go(func() { unavailable[i] = createUntil(ctx, t, db, i, acknowledged) })
	}
	var pets []petstore.Pet
	for len(pets) < 300 {
		pets = append(pets, <-acknowledged)
	}
	primary.Kill(t)
	standby.Promote(t)
	for before := len(pets); len(pets) < before+300; {
		pets = append(pets, <-acknowledged)
	}
	stop()
	writers.Wait()

	stored, err := open(t, url).ListPets(t.Context(), petstore.PetQuery{Limit: 100_000})
	noError(t, err)
	byID, byName := make(map[int64]petstore.Pet), make(map[string]int)
	for _, pet := range stored {
		byID[pet.ID] = pet
		byName[pet.Name]++
	}
	seen := make(map[int64]bool)
	for _, pet := range pets {
		if byID[pet.ID] != pet {
			t.Errorf("%v was acknowledged, and %v is stored", pet, byID[pet.ID])
		}
		if seen[pet.ID] {
			t.Errorf("the id %d was given twice", pet.ID)
		}
		seen[pet.ID] = true
		if byName[pet.Name] != 1 {
			t.Errorf("%s was stored %d times", pet.Name, byName[pet.Name])
		}
	}
	for _, name := range slices.Concat(unavailable...) {
		if byName[name] != 0 {
			t.Errorf("%s was refused as %s, and is stored", name, petstore.Unavailable)
		}
	}
}

// The first call of each change is cut off while it waits for the standby. The test then repeats the change.
func TestAnAnswerThatAChangeWasMadeWaitsForTheStandby(t *testing.T) {
	t.Parallel()
	primary := testservice.StartPostgres(t)
	standby := primary.Standby(t)
	db := open(t, primary.URL)
	ctx := t.Context()
	ordered, unwanted := mustCreate(t, db), mustCreate(t, db)
	order, _, err := db.PlaceOrder(ctx, petstore.NewOrder{PetID: ordered.ID, Hold: time.Hour}, nil)
	noError(t, err)
	category, _, err := db.CreateCategory(ctx, "dogs", nil)
	noError(t, err)
	standby.Stop(t)
	var all sync.WaitGroup
	for name, change := range map[string]func(replica *DB) error{
		"CloseOrder": func(replica *DB) error {
			_, _, err := replica.CloseOrder(ctx, order.ID, petstore.Completed, nil)
			return err
		},
		"DeletePet":      func(replica *DB) error { return errorOf(replica.DeletePet(ctx, unwanted.ID, nil)) },
		"DeleteCategory": func(replica *DB) error { return errorOf(replica.DeleteCategory(ctx, category.ID, nil)) },
	} {
		replica := openAsShipped(t, primary.URL) // each change has its own replica, so that no change waits for another
		all.Go(func() {
			for range 2 {
				if err := change(replica); !petstore.IsCode(err, petstore.OutcomeUnknown) {
					t.Errorf("while no standby has the change, %s says %v", name, err)
				}
			}
		})
	}
	all.Wait()
	standby.Start(t)
	if order, _, err := db.CloseOrder(ctx, order.ID, petstore.Completed, nil); err != nil || order.Status != petstore.Completed {
		t.Errorf("once the standby is back, CloseOrder says %v", err)
	}
	for name, err := range map[string]error{"DeletePet": errorOf(db.DeletePet(ctx, unwanted.ID, nil)), "DeleteCategory": errorOf(db.DeleteCategory(ctx, category.ID, nil))} {
		if !petstore.IsCode(err, petstore.NotFound) {
			t.Errorf("once the standby is back, %s says %v", name, err)
		}
	}
}

func TestCallsLeaveAPrimaryThatBecomesReadOnly(t *testing.T) {
	t.Parallel()
	primary := testservice.StartPostgres(t)
	standby := primary.Standby(t)
	db := openUsed(t, fmt.Sprintf("postgres://postgres@%s,%s/postgres?sslmode=disable", primary.Address, standby.Address), callTimeout)
	execute(t, primary.URL, "ALTER SYSTEM SET default_transaction_read_only = on")
	execute(t, primary.URL, "SELECT pg_reload_conf()")
	standby.Promote(t)
	awaitSuccess(t, db)
}

// createUntil creates animals with unique names until ctx ends. Every second create has an idempotency key. createUntil
// repeats these creates until the database acknowledges them. For creates without a key, createUntil returns the names of
// the animals that were refused as Unavailable.
func createUntil(ctx context.Context, t *testing.T, db *DB, writer int, acknowledged chan<- petstore.Pet) (unavailable []string) {
	for n := 0; ctx.Err() == nil; n++ {
		pet := petstore.NewPet{Name: fmt.Sprintf("Pet %d of %d", n, writer), Status: petstore.Available}
		var idempotency *petstore.Idempotency
		if n%2 == 0 {
			idempotency = &petstore.Idempotency{Owner: "ann", Key: pet.Name, Now: time.Now()}
		}
		created, _, err := db.CreatePet(ctx, pet, idempotency)
		for idempotency != nil && err != nil && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
			created, _, err = db.CreatePet(ctx, pet, idempotency)
		}
		switch {
		case petstore.IsCode(err, petstore.Unavailable) && idempotency == nil:
			unavailable = append(unavailable, pet.Name)
		case err == nil:
			select {
			case acknowledged <- created:
			case <-ctx.Done():
			}
		case !petstore.IsCode(err, petstore.Unavailable) && !petstore.IsCode(err, petstore.OutcomeUnknown):
			t.Errorf("got %v, want a refusal with the code %s or %s", err, petstore.Unavailable, petstore.OutcomeUnknown)
		}
	}
	return unavailable
}

// The test frees connections when the waiting calls have too little time left. A call that is cut off during its work
// breaks its connection, so under overload hardly any work would finish.
func TestNoWorkBeginsWithoutTimeToFinish(t *testing.T) {
	db := openUsed(t, testservice.Postgres(t), longTimeout)
	var held []*pgxpool.Conn
	for range maxConns {
		conn, err := db.pool.Acquire(t.Context())
		noError(t, err)
		held = append(held, conn)
	}
	before := db.pool.Stat().NewConnsCount()
	db.timeouts.call = db.timeouts.work / 2
	var all sync.WaitGroup
	isRefused := func(call func() error) {
		all.Go(func() {
			if err := call(); !petstore.IsCode(err, petstore.Unavailable) {
				t.Errorf("got %v, want a refusal with the code %s", err, petstore.Unavailable)
			}
		})
	}
	begins := func(*pgxpool.Conn) error {
		t.Error("work begins")
		return nil
	}
	for range 4 {
		isRefused(func() error {
			return db.write(t.Context(), func(_ context.Context, conn *pgxpool.Conn) error { return begins(conn) })
		})
		isRefused(func() error {
			return db.read(t.Context(), func(ctx context.Context) error { return db.pool.AcquireFunc(ctx, begins) })
		})
	}
	for _, conn := range held {
		conn.Release()
	}
	all.Wait()
	db.timeouts.call = longTimeout
	awaitSuccess(t, db)
	if after := db.pool.Stat().NewConnsCount(); after != before {
		t.Errorf("%d connections were made instead of %d", after, before)
	}
}

func TestCloseDoesNotWaitForAServerThatHangs(t *testing.T) {
	t.Parallel()
	server := testservice.StartPostgres(t)
	db := openUsed(t, server.URL, callTimeout)
	server.Pause(t)
	defer server.Resume(t)
	callAll(t, db, 1)
	closed := make(chan error)
	go func() { closed <- db.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second): // the driver would give up later
		t.Error("after 10 s, Close still waits for the server")
	}
}
