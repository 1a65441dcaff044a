package testservice

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestPostgresReturnsAnEmptyDatabaseEachTime(t *testing.T) {
	first, second := Postgres(t), Postgres(t)
	execute(t, first, "CREATE TABLE t ()")
	execute(t, second, "CREATE TABLE t ()")
}

func TestAPostgresServerKeepsItsDataAfterStopAndKill(t *testing.T) {
	s := StartPostgres(t)
	execute(t, s.URL, "CREATE TABLE t ()")
	s.Stop(t)
	if s.answers() == nil {
		t.Error("the server answers although it was stopped")
	}
	s.Start(t)
	s.Kill(t)
	if s.answers() == nil {
		t.Error("the server answers although it was killed")
	}
	s.Start(t)
	execute(t, s.URL, "DROP TABLE t")
}

func TestAPausedPostgresServerHangs(t *testing.T) {
	s := StartPostgres(t)
	conn, err := pgx.Connect(t.Context(), s.URL)
	noError(t, err)
	s.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := conn.Ping(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an open connection: %v", err)
	}
	s.Resume(t)
	if err := s.answers(); err != nil {
		t.Errorf("after Resume: %v", err)
	}
}

func TestAPromotedStandbyHasTheData(t *testing.T) {
	primary := StartPostgres(t)
	standby := primary.Standby(t)
	execute(t, primary.URL, "CREATE TABLE t ()")
	primary.Kill(t)
	standby.Promote(t)
	execute(t, standby.URL, "DROP TABLE t")
}

// The test runs its own binary as a second process, which starts a server and is then killed.
func TestServersEndWithAKilledTestProcess(t *testing.T) {
	if os.Getenv("PETSTORE_TEST_VICTIM") != "" {
		s := sharedPostgres(t)
		os.Stdout.WriteString(s.URL + "\n" + s.dir + "\n")
		select {}
	}
	newPostgres(t, folder(t, "postgres")) // skips the test if PostgreSQL is not installed
	victim := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	victim.Env = append(os.Environ(), "PETSTORE_TEST_VICTIM=yes")
	out, err := victim.StdoutPipe()
	noError(t, err)
	noError(t, victim.Start())
	lines := bufio.NewScanner(out)
	lines.Scan()
	s := &PostgresServer{URL: lines.Text()}
	lines.Scan()
	s.dir = lines.Text()
	noError(t, s.answers())

	_ = victim.Process.Signal(syscall.SIGKILL)
	_ = victim.Wait()
	gone := func() bool {
		_, err := os.Stat(s.dir)
		return os.IsNotExist(err) && s.answers() != nil
	}
	for deadline := time.Now().Add(serviceTimeout); !gone(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the server or its folder %s outlived the test process", s.dir)
		}
	}
}
