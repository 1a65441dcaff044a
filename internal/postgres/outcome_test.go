package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// uncertainWrites has a write of each kind. The SQL of each write contains the argument name. The function done reports
// whether the write has happened.
var uncertainWrites = []struct {
	name  string
	write func(ctx context.Context, db *DB, name string) error
	done  func(ctx context.Context, db *DB, name string) (bool, error)
}{
	{"a create", func(ctx context.Context, db *DB, name string) error { return createNamed(ctx, db, name, nil) }, hasPet},
	{"an update", func(ctx context.Context, db *DB, name string) error {
		return writeError(db.UpdatePet(ctx, 1, petstore.PetPatch{Name: &name}, nil))
	}, hasPet},
	{"a new key", func(ctx context.Context, db *DB, name string) error {
		return db.CreateKey(ctx, keyNamed(name), petstore.HashSecret(name), petstore.KeyRequest{})
	}, hasKey},
}

func keyNamed(name string) petstore.Key {
	return petstore.NewKey(name, petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, time.Now(), petstore.Forever)
}

func hasPet(ctx context.Context, db *DB, name string) (bool, error) {
	pets, err := db.ListPets(ctx, petstore.PetQuery{Limit: 10_000})
	for _, pet := range pets {
		if pet.Name == name {
			return true, err
		}
	}
	return false, err
}

func hasKey(ctx context.Context, db *DB, name string) (bool, error) {
	_, err := db.FindKey(ctx, petstore.HashSecret(name))
	if petstore.IsCode(err, petstore.NotFound) {
		return false, nil
	}
	return err == nil, err
}

func TestAWriteWhoseAnswerIsLostMayHaveHappened(t *testing.T) {
	t.Parallel()
	server := testservice.StartPostgres(t)
	proxy := testservice.StartProxy(t, server.Address)
	direct := open(t, server.URL)
	mustCreate(t, direct)
	url := "postgres://postgres@" + proxy.Address + "/postgres?sslmode=disable"
	for _, way := range []struct {
		name string
		db   *DB
		lose func(sent string) <-chan struct{}
	}{
		{"the connection breaks", open(t, url), proxy.Break},
		{"the deadline ends", openAsShipped(t, url), proxy.Silence},
	} {
		for _, c := range uncertainWrites {
			t.Run(c.name+", "+way.name, func(t *testing.T) {
				answered := way.lose(t.Name())
				err := c.write(t.Context(), way.db, t.Name())
				if !petstore.IsCode(err, petstore.OutcomeUnknown) {
					t.Errorf("got %v, want a refusal with the code %s", err, petstore.OutcomeUnknown)
				}
				<-answered
				if done, err := c.done(t.Context(), direct, t.Name()); err != nil || !done {
					t.Errorf("the server has done the write: %v, %v", done, err)
				}
			})
		}
	}
}

func TestACommitWhoseAnswerIsLostMayHaveHappened(t *testing.T) {
	t.Parallel()
	server := testservice.StartPostgres(t)
	proxy := testservice.StartProxy(t, server.Address)
	db := open(t, "postgres://postgres@"+proxy.Address+"/postgres?sslmode=disable")
	key := keyNamed("old")
	noError(t, db.CreateKey(t.Context(), key, petstore.HashSecret("old"), petstore.KeyRequest{}))
	rotate := func(secret string) error {
		_, err := db.RotateKey(t.Context(), key.ID, petstore.HashSecret(secret), petstore.Rotation{Overlap: time.Hour}, petstore.ByOperator(time.Now()))
		return err
	}
	for _, c := range []struct {
		lost string
		code petstore.Code
		done bool
	}{
		{"begin", petstore.Unavailable, false},
		{"UPDATE keys", petstore.Unavailable, false},
		{"commit\x00", petstore.OutcomeUnknown, true},
	} {
		proxy.Break(c.lost)
		if err := rotate(c.lost); !petstore.IsCode(err, c.code) {
			t.Errorf("without the answer to %s: got %v, want a refusal with the code %s", c.lost, err, c.code)
		}
		if done, err := hasKey(t.Context(), db, c.lost); err != nil || done != c.done {
			t.Errorf("without the answer to %s: done is %v, want %v (%v)", c.lost, done, c.done, err)
		}
	}
}

// A write has not happened if the server refuses it, or if it never reaches the server.
func TestAWriteThatTheServerRefusesIsKnownNotToHaveHappened(t *testing.T) {
	t.Parallel()
	server := testservice.StartPostgres(t)
	setup, db := open(t, server.URL), openAsShipped(t, server.URL)
	mustCreate(t, setup)
	refuse := map[string]func(){
		"its statement takes too long": func() {
			execute(t, server.URL, `
				CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
				CREATE TRIGGER wait AFTER INSERT ON pets EXECUTE FUNCTION wait()`)
		},
		"its connection is ended by the server": func() {
			execute(t, server.URL, `
				DROP TRIGGER IF EXISTS wait ON pets;
				CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
				CREATE TRIGGER leave AFTER INSERT ON pets EXECUTE FUNCTION leave()`)
		},
		"there is no server": func() { server.Stop(t) },
	}
	for _, why := range []string{"its statement takes too long", "its connection is ended by the server", "there is no server"} {
		refuse[why]()
		for _, create := range []string{"create", "create once"} {
			if err := calls[create](t.Context(), db); !petstore.IsCode(err, petstore.Unavailable) {
				t.Errorf("%s, %s: got %v, want a refusal with the code %s", create, why, err, petstore.Unavailable)
			}
		}
	}
	server.Start(t)
	if pets, err := setup.ListPets(t.Context(), petstore.PetQuery{Limit: 10}); err != nil || len(pets) != 1 {
		t.Errorf("the store has %v, %v", pets, err)
	}
	execute(t, server.URL, "DROP TRIGGER leave ON pets")
	if _, replayed, err := setup.CreatePet(t.Context(), rex, &petstore.Idempotency{Owner: "ann", Key: "k"}); err != nil || replayed {
		t.Errorf("a refused create has used its idempotency: %v, %v", replayed, err)
	}
}

func TestAFailedWriteIsNotDoneOnlyIfTheServerRolledItBack(t *testing.T) {
	for _, c := range []struct {
		answer string
		err    pgconn.PgError
		code   petstore.Code
	}{
		{"a deadlock", pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "40P01"}, petstore.Unavailable},
		{"a shutdown of the server", pgconn.PgError{SeverityUnlocalized: "FATAL", Code: adminShutdown}, petstore.Unavailable},
		{"a panic, perhaps during the commit", pgconn.PgError{SeverityUnlocalized: "PANIC", Code: "XX000"}, petstore.OutcomeUnknown},
		{"a pooler that has lost the server", pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "08P01"}, petstore.OutcomeUnknown},
	} {
		t.Run(c.answer, func(t *testing.T) {
			if err := writeFailure(&c.err); !petstore.IsCode(err, c.code) {
				t.Errorf("got %v, want a refusal with the code %s", err, c.code)
			}
		})
	}
}
