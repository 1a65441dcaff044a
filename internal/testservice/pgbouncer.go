package testservice

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// PgBouncer is a connection pooler in transaction mode, in front of a test's PostgreSQL.
type PgBouncer struct {
	// URL leads through the pooler to the database named postgres.
	URL string

	program string
	dir     string
	attr    *syscall.SysProcAttr
	process *process
}

// bouncerConfig has the settings that docs/pgbouncer.md recommends.
const bouncerConfig = `[databases]
* = host=%s port=%s user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 64
server_login_retry = 0.1
ignore_startup_parameters = %s
`

// StartPgBouncer starts a pooler in front of the PostgreSQL at the given host and port. The pooler ignores the session
// settings that the argument ignored lists.
func StartPgBouncer(t testing.TB, postgres, ignored string) *PgBouncer {
	t.Helper()
	b := &PgBouncer{program: Program(t, "pgbouncer", "install the package pgbouncer"), dir: folder(t, "pgbouncer")}
	attr, err := unprivileged()
	if err != nil {
		Missing(t, "a user to run PgBouncer as", err.Error())
	}
	b.attr = attr
	port := freePort(t)
	b.URL = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	host, serverPort, _ := net.SplitHostPort(postgres)
	config := fmt.Sprintf(bouncerConfig, host, serverPort, port, ignored)
	noError(t, os.WriteFile(b.config(), []byte(config), 0o644))
	noError(t, changeOwner(b.dir, attr))
	t.Cleanup(func() {
		b.Kill(t)
		os.RemoveAll(b.dir)
	})
	b.Start(t)
	return b
}

func (b *PgBouncer) config() string { return filepath.Join(b.dir, "pgbouncer.ini") }

// Start starts the pooler, also after Kill. It returns when PostgreSQL answers through the pooler.
func (b *PgBouncer) Start(t testing.TB) {
	t.Helper()
	cmd := exec.Command(b.program, b.config())
	cmd.SysProcAttr = b.attr
	p, err := start(cmd, b.dir)
	if err == nil {
		b.process = p
		err = p.wait(b.answers)
	}
	if err != nil {
		t.Fatalf("PgBouncer does not start: %v", err)
	}
}

func (b *PgBouncer) answers() error { return tryExecute(b.URL, "SELECT") }

// Kill ends the pooler abruptly, as a crash does.
func (b *PgBouncer) Kill(t testing.TB) {
	t.Helper()
	noError(t, b.process.end(syscall.SIGKILL))
}
