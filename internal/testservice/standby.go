package testservice

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Standby starts a second server that follows this server. From then on, this server acknowledges a commit only after the
// commit is also on the disk of the standby.
func (s *PostgresServer) Standby(t testing.TB) *PostgresServer {
	t.Helper()
	standby := newPostgres(t, folder(t, "postgres"), s.settings...)
	standby.run(t, "pg_basebackup", "--dbname", s.URL, "--pgdata", standby.data(), "--write-recovery-conf",
		"--wal-method=stream", "--checkpoint=fast", "--no-sync")
	standby.Start(t)
	t.Cleanup(func() { standby.discard(t) })

	execute(t, s.URL, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	execute(t, s.URL, "SELECT pg_reload_conf()")
	s.AwaitStandby(t)
	return standby
}

// AwaitStandby waits until a standby has everything that this server has committed.
func (s *PostgresServer) AwaitStandby(t testing.TB) {
	t.Helper()
	if err := s.process.wait(s.hasStandby); err != nil {
		t.Fatalf("the standby does not follow: %v", err)
	}
}

func (s *PostgresServer) hasStandby() error {
	ctx, cancel := context.WithTimeout(context.Background(), serviceTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.QueryRow(ctx, "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'").Scan()
}

// Promote makes this standby the primary.
func (s *PostgresServer) Promote(t testing.TB) {
	t.Helper()
	execute(t, s.URL, "SELECT pg_promote()")
}
