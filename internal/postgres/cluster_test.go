package postgres

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// bothHosts returns the URL of a database on two servers.
func bothHosts(first, second *testservice.PostgresServer, name string) string {
	return fmt.Sprintf("postgres://postgres@%s,%s/%s?sslmode=disable", first.Address, second.Address, name)
}

func TestADeposedPrimaryThatStillAnswersIsLeft(t *testing.T) {
	t.Parallel()
	old := testservice.StartPostgres(t)
	successor := old.Standby(t)
	url := bothHosts(old, successor, "postgres")
	problems := make(chan error, 10)
	db := openConfig(t, Config{URL: url, Create: true, Replaced: func(problem error) { problems <- problem }})
	pet := mustCreate(t, db)

	holdLocks(t, old.URL, "LOCK TABLE pets") // a read on the old primary waits for this lock and does not end
	var got petstore.Pet
	var err error
	var reading sync.WaitGroup
	reading.Go(func() { got, err = db.GetPet(t.Context(), pet.ID) })
	awaitLockWaits(t, old.URL, 1)
	successor.Promote(t)
	execute(t, successor.URL, fmt.Sprintf("UPDATE pets SET name = 'Renamed' WHERE id = %d", pet.ID))

	reading.Wait()
	if err != nil || got.Name != "Renamed" {
		t.Errorf("a read that had begun at the deposed primary got %v, %v", got, err)
	}
	for range 2 * maxConns {
		if got, err := db.GetPet(t.Context(), pet.ID); err != nil || got.Name != "Renamed" {
			t.Errorf("a later read got %v, %v", got, err)
		}
	}
	want := fmt.Sprintf("the PostgreSQL at %s is still the primary of timeline 1, but timeline 2 has another primary; stop it", old.Address)
	if problem := <-problems; problem.Error() != want {
		t.Errorf("reported: %v\nwant:     %s", problem, want)
	}
	if got, err := open(t, url).GetPet(t.Context(), pet.ID); err != nil || got.Name != "Renamed" {
		t.Errorf("a replica that starts now read %v, %v", got, err)
	}

	successor.Stop(t)
	if _, err := db.GetPet(t.Context(), pet.ID); !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("while the new primary is stopped, a read from the deposed one got %v", err)
	}
}

func TestAStandbyWithoutTheDatabaseIsSkipped(t *testing.T) {
	t.Parallel()
	primary := testservice.StartPostgres(t)
	standby := primary.Standby(t)
	execute(t, standby.URL, "SELECT pg_wal_replay_pause()")
	execute(t, primary.URL, "CREATE DATABASE pets")
	url := bothHosts(standby, primary, "pets")
	db := open(t, url)
	db.pool.Reset()
	mustCreate(t, db)
	if _, _, err := Check(t.Context(), Config{URL: url, Environment: petstore.Production, timeout: longTimeout}); err != nil {
		t.Errorf("the check says %v", err)
	}
}

func TestHostsOfDifferentClustersAreRefused(t *testing.T) {
	t.Parallel()
	one, other := testservice.StartPostgres(t), testservice.StartForeignPostgres(t)
	url := bothHosts(one, other, "postgres")
	_, opened := Open(t.Context(), Config{URL: url, Environment: petstore.Production, timeout: longTimeout})
	_, _, checked := Check(t.Context(), Config{URL: url, Environment: petstore.Production, timeout: longTimeout})
	want := fmt.Sprintf("the PostgreSQL database postgres at %s, %s has hosts that are not of one PostgreSQL cluster; name a primary and its standbys in --database", one.Address, other.Address)
	for _, err := range []error{opened, checked} {
		if err == nil || err.Error() != want {
			t.Errorf("got:  %v\nwant: %s", err, want)
		}
	}
}

func TestAHostOfAnotherClusterThatComesLaterIsNotUsed(t *testing.T) {
	t.Parallel()
	one, other := testservice.StartPostgres(t), testservice.StartForeignPostgres(t)
	other.Stop(t)
	db := openAsShipped(t, bothHosts(one, other, "postgres"))
	other.Start(t)
	one.Stop(t)
	if err := db.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "another PostgreSQL cluster") {
		t.Errorf("got %v", err)
	}
}

func TestARoleWithoutRightsMayAskWhoIsThePrimary(t *testing.T) {
	server := testservice.StartPostgres(t)
	execute(t, server.URL, "CREATE ROLE ann LOGIN")
	conn, err := pgconn.Connect(t.Context(), strings.Replace(server.URL, "postgres@", "ann@", 1))
	noError(t, err)
	defer conn.Close(t.Context())
	if s, err := ask(t.Context(), conn); err != nil || s.timeline != 1 || s.system == "" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestNobodyLooksAtTheOnlyHost(t *testing.T) {
	if db := open(t, testservice.Postgres(t)); db.cluster != nil {
		t.Error("the only host is being watched")
	}
}
