package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A page of 20 of these animals is about 1.6 kB of JSON.
const (
	sqliteAnimals = `INSERT INTO pets (name, category_id, status)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
		SELECT 'Pet number ' || i, i % 40 + 1, i % 3 + 1 FROM n`
	// The program counts what it stores itself; on PostgreSQL the database does.
	sqliteInventory = "UPDATE inventory SET animals = (SELECT count(*) FROM pets WHERE pets.status = inventory.status)"
	postgresAnimals = `INSERT INTO pets (name, category_id, status)
		SELECT 'Pet number ' || i, i % 40 + 1, i % 3 + 1 FROM generate_series(1, $1::bigint) i ORDER BY i`
)

// seedSQLite makes a database with that many animals.
func (b *bench) seedSQLite(path string, rows int64) error {
	if err := b.migrate("sqlite:" + path); err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := sqlitex.ExecuteTransient(conn, "PRAGMA cache_size = -262144", nil); err != nil {
		return err
	}
	if err := sqlitex.ExecuteTransient(conn, sqliteAnimals, &sqlitex.ExecOptions{Args: []any{rows}}); err != nil {
		return err
	}
	if err := sqlitex.ExecuteTransient(conn, sqliteInventory, nil); err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(conn, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
}

// seedPostgres makes a database with that many animals, in the state in which the server's own upkeep would leave it.
func (b *bench) seedPostgres(database string, rows int64) error {
	err := b.postgres.do("postgres", func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+database+" TEMPLATE template0")
		return err
	})
	if err != nil {
		return err
	}
	if err := b.migrate(b.postgres.url(database)); err != nil {
		return err
	}
	return b.postgres.do(database, func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, postgresAnimals, rows); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "VACUUM ANALYZE pets"); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "CHECKPOINT")
		return err
	})
}

func (b *bench) migrate(database string) error {
	cmd := exec.Command(b.binary, "migrate", "--database", database)
	cmd.Env = cleanEnvironment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("petstore migrate: %w\n%s", err, out)
	}
	return nil
}

// cleanEnvironment leaves out what could set petstore otherwise than it is shipped.
func cleanEnvironment(more ...string) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}
