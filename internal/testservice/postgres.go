package testservice

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres returns the URL of a new, empty database. The database is on the server that PETSTORE_TEST_POSTGRES names, or
// else on a server that all tests of this process share. The shared server does not sync to disk, so a test that kills its
// server needs StartPostgres.
func Postgres(t testing.TB) string {
	t.Helper()
	if server := os.Getenv("PETSTORE_TEST_POSTGRES"); server != "" {
		return newDatabase(t, server)
	}
	return newDatabase(t, sharedPostgres(t).URL)
}

var sharedServer struct {
	sync.Mutex
	postgres *PostgresServer
}

func sharedPostgres(t testing.TB) *PostgresServer {
	t.Helper()
	sharedServer.Lock()
	defer sharedServer.Unlock()
	if sharedServer.postgres == nil {
		s := newPostgres(t, folder(t, "postgres"), "fsync=off", "full_page_writes=off")
		s.initialize(t)
		s.Start(t)
		sharedServer.postgres = s
	}
	return sharedServer.postgres
}

// newDatabase creates a database on a server, and drops the database when the test ends.
func newDatabase(t testing.TB, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("the PostgreSQL for tests needs a URL such as postgres://user@host/name: %v", err)
	}
	name := "petstore_test_" + strings.ToLower(rand.Text()[:12])
	execute(t, server, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'")
	t.Cleanup(func() { execute(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	u.Path = "/" + name
	return u.String()
}

func execute(t testing.TB, server, sql string) {
	t.Helper()
	if err := tryExecute(server, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func tryExecute(server, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), serviceTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// PostgresServer is a PostgreSQL server for one test. The test may stop, pause or kill the server. All commits are on disk.
type PostgresServer struct {
	// URL leads to the empty database named postgres on this server. Address is the host and port of the server.
	URL     string
	Address string

	programs string
	dir      string
	port     string
	settings []string
	attr     *syscall.SysProcAttr
	process  *process
	paused   []int
}

// StartPostgres starts a server for one test, with settings such as "max_connections=10".
func StartPostgres(t testing.TB, settings ...string) *PostgresServer {
	t.Helper()
	return StartPostgresIn(t, folder(t, "postgres"), settings...)
}

// StartPostgresIn is like StartPostgres, but keeps the data in the given folder, for example on a Disk.
func StartPostgresIn(t testing.TB, folder string, settings ...string) *PostgresServer {
	t.Helper()
	s := newPostgres(t, folder, settings...)
	s.initialize(t)
	s.Start(t)
	t.Cleanup(func() { s.discard(t) })
	return s
}

// StartForeignPostgres is like StartPostgres, but the server has a system identifier of its own. All other servers share
// one, as the servers of one cluster do.
func StartForeignPostgres(t testing.TB) *PostgresServer {
	t.Helper()
	s := newPostgres(t, folder(t, "postgres"))
	s.initdb(t, s.data())
	s.Start(t)
	t.Cleanup(func() { s.discard(t) })
	return s
}

func newPostgres(t testing.TB, folder string, settings ...string) *PostgresServer {
	t.Helper()
	initdb := program("initdb")
	if initdb == "" {
		Missing(t, "a PostgreSQL server", "install it (Debian: apt-get install postgresql) or name one in PETSTORE_TEST_POSTGRES")
	}
	initdb, err := filepath.EvalSymlinks(initdb) // the other programs are in the same folder as the real file
	noError(t, err)
	attr, err := unprivileged()
	if err != nil {
		Missing(t, "a user to run PostgreSQL as", err.Error())
	}
	s := &PostgresServer{programs: filepath.Dir(initdb), dir: folder, settings: settings, attr: attr}
	if err := changeOwner(s.dir, attr); err != nil {
		t.Fatalf("the owner of the folder of PostgreSQL cannot be changed: %v", err)
	}
	s.port = fmt.Sprint(freePort(t))
	s.Address = "127.0.0.1:" + s.port
	s.URL = "postgres://postgres@" + s.Address + "/postgres?sslmode=disable"
	return s
}

func (s *PostgresServer) data() string { return filepath.Join(s.dir, "data") }

func (s *PostgresServer) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.programs, program), args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, s.attr
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	return cmd
}

func (s *PostgresServer) run(t testing.TB, program string, args ...string) {
	t.Helper()
	if out, err := s.command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// initialData is a data folder that initdb has created. initdb takes longer than most tests, so it runs once for all
// servers.
var initialData struct {
	sync.Mutex
	data string
}

// initialize copies initialData to the server's data folder.
func (s *PostgresServer) initialize(t testing.TB) {
	t.Helper()
	initialData.Lock()
	defer initialData.Unlock()
	if initialData.data == "" {
		dir := folder(t, "initdb")
		if err := changeOwner(dir, s.attr); err != nil {
			t.Fatalf("the owner of the folder of PostgreSQL cannot be changed: %v", err)
		}
		data := filepath.Join(dir, "data")
		s.initdb(t, data)
		initialData.data = data
	}
	copying := exec.Command("cp", "-Rp", initialData.data, s.data())
	copying.Dir, copying.SysProcAttr = s.dir, s.attr
	if out, err := copying.CombinedOutput(); err != nil {
		t.Fatalf("the data of PostgreSQL cannot be copied: %v\n%s", err, out)
	}
}

func (s *PostgresServer) initdb(t testing.TB, data string) {
	t.Helper()
	s.run(t, "initdb", "--pgdata", data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--wal-segsize=1")
}

// Start starts the server, also after Stop or Kill. It returns when the server answers.
func (s *PostgresServer) Start(t testing.TB) {
	t.Helper()
	args := []string{"-D", s.data(), "-p", s.port}
	for _, setting := range append([]string{"listen_addresses=127.0.0.1", "unix_socket_directories="}, s.settings...) {
		args = append(args, "-c", setting)
	}
	for deadline := time.Now().Add(serviceTimeout); ; {
		p, err := start(s.command("postgres", args...), s.dir)
		if err == nil {
			s.process = p
			err = p.wait(s.answers)
		}
		switch {
		case err == nil:
			return
		case !strings.Contains(err.Error(), "is still in use") || time.Now().After(deadline): // after Kill, shared memory stays in use for a while
			t.Fatalf("PostgreSQL does not start: %v", err)
		}
	}
}

func (s *PostgresServer) answers() error { return tryExecute(s.URL, "SELECT") }

// Stop shuts the server down as an operator does: connections end, and no data is lost.
func (s *PostgresServer) Stop(t testing.TB) {
	t.Helper()
	noError(t, s.process.end(syscall.SIGINT))
}

// Exhaust makes the server write its WAL until the disk is full. The server then crashes. If the disk has no room for the
// recovery either, the server ends.
func (s *PostgresServer) Exhaust(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), serviceTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL)
	for err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_logical_emit_message(true, 'filler', repeat('x', 1 << 20))")
	}
	if ctx.Err() != nil {
		t.Fatalf("PostgreSQL still has room for its WAL after %v", serviceTimeout)
	}
}

// Revive waits until the server answers again after a crash. If the server has ended, Revive starts it.
func (s *PostgresServer) Revive(t testing.TB) {
	t.Helper()
	if err := s.process.wait(s.answers); err != nil {
		s.Start(t)
	}
}

// Pause makes the whole server hang: the operating system still accepts connections and bytes, but the server does not
// answer.
func (s *PostgresServer) Pause(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), serviceTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL)
	noError(t, err)
	defer conn.PgConn().Conn().Close()  // conn.Close would wait for the server, which hangs
	s.signal(t, suspend, s.process.Pid) // from now on the server starts no new processes
	rows, _ := conn.Query(ctx, "SELECT pid FROM pg_stat_activity")
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	noError(t, err)
	s.signal(t, suspend, pids...)
	s.paused = append(pids, s.process.Pid)
}

// Resume ends the effect of Pause.
func (s *PostgresServer) Resume(t testing.TB) {
	t.Helper()
	s.signal(t, resume, s.paused...)
	s.paused = nil
}

// Kill ends every process of the server at the same moment and without warning, as a machine failure does.
func (s *PostgresServer) Kill(t testing.TB) {
	t.Helper()
	if s.paused == nil {
		s.Pause(t)
	}
	s.signal(t, syscall.SIGKILL, s.paused...)
	s.paused = nil
	<-s.process.exited
}

// Crash ends one process of the server, so that the server ends all others and recovers. It returns when the server answers.
func (s *PostgresServer) Crash(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), serviceTimeout)
	defer cancel()
	victim, err := pgx.Connect(ctx, s.URL)
	noError(t, err)
	defer victim.Close(ctx)
	witness, err := pgx.Connect(ctx, s.URL)
	noError(t, err)
	defer witness.Close(ctx)
	s.signal(t, syscall.SIGKILL, int(victim.PgConn().PID()))
	if _, err := witness.Exec(ctx, "SELECT pg_sleep($1)", serviceTimeout.Seconds()); ctx.Err() != nil || err == nil {
		t.Fatal("PostgreSQL survives the end of a process")
	}
	s.Revive(t)
}

func (s *PostgresServer) signal(t testing.TB, sig syscall.Signal, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Signal(sig)
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) { // a process ends by itself when its client disconnects
			t.Fatalf("signal %v to process %d of PostgreSQL: %v", sig, pid, err)
		}
	}
}

// discard ends the server and removes the server's data.
func (s *PostgresServer) discard(t testing.TB) {
	if s.paused != nil {
		s.Resume(t)
	}
	if err := s.process.end(syscall.SIGQUIT); err != nil {
		t.Error(err)
	}
	os.RemoveAll(s.dir)
}
