package testservice

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// ArchivedPostgres is a PostgreSQL server whose WAL pgBackRest archives.
type ArchivedPostgres struct {
	*PostgresServer
	pgbackrest, config string
}

// StartArchivedPostgres starts a server for one test, and creates the stanza petstore of pgBackRest.
func StartArchivedPostgres(t testing.TB) *ArchivedPostgres {
	t.Helper()
	pgbackrest := Program(t, "pgbackrest", "install the package pgbackrest")
	dir := folder(t, "postgres")
	s := &ArchivedPostgres{pgbackrest: pgbackrest, config: filepath.Join(dir, "pgbackrest.conf")}
	s.PostgresServer = newPostgres(t, dir, "unix_socket_directories="+dir, "wal_level=replica", "archive_mode=on",
		fmt.Sprintf("archive_command=%s --config=%s --stanza=petstore archive-push %%p", pgbackrest, s.config))
	_, port, err := net.SplitHostPort(s.Address)
	noError(t, err)
	config := fmt.Sprintf("[global]\nrepo1-path=%[1]s/repository\nlog-level-file=off\nlock-path=%[1]s/lock\nspool-path=%[1]s/spool\nstart-fast=y\n"+
		"[petstore]\npg1-path=%[1]s/data\npg1-socket-path=%[1]s\npg1-port=%[2]s\n", dir, port)
	noError(t, os.WriteFile(s.config, []byte(config), 0o644))
	s.initialize(t)
	s.Start(t)
	t.Cleanup(func() { s.discard(t) })
	s.Backrest(t, "stanza-create")
	return s
}

// Backrest runs a command of pgBackRest.
func (s *ArchivedPostgres) Backrest(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command(s.pgbackrest, append([]string{"--config=" + s.config, "--stanza=petstore", "--log-level-console=warn"}, args...)...)
	cmd.Dir, cmd.SysProcAttr = s.dir, s.attr
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pgbackrest %q: %v\n%s", args, err, out)
	}
}

// RestoreTo stops the server, brings back what was there at a time, and starts the server as a primary.
func (s *ArchivedPostgres) RestoreTo(t testing.TB, at string) {
	t.Helper()
	s.Stop(t)
	s.Backrest(t, "--delta", "--type=time", "--target="+at, "--target-action=promote", "restore")
	s.Start(t)
	noError(t, s.process.wait(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), serviceTimeout)
		defer cancel()
		conn, err := pgx.Connect(ctx, s.URL)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		recovering := true
		if err := conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&recovering); err != nil || recovering {
			return fmt.Errorf("the server still recovers: %w", err)
		}
		return nil
	}))
}
