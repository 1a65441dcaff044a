package main

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"petstore/bench/result"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A page of 20 of these animals is about 1.6 kB of JSON.
const animal = "SELECT 'Pet number ' || i, i % 40 + 1, i % 3 + 1 FROM "

// seed makes the database of a service with that many animals, and returns its URL.
func (b *bench) seed(s *service, database string, rows int64) (url string, err error) {
	if s.ID == result.SQLite || s.ID == result.PlainSQLite {
		path := filepath.Join(s.dir, "petstore.db")
		return "sqlite:" + path, b.seedSQLite(path, rows)
	}
	return b.postgres.url(database), b.seedPostgres(database, rows)
}

func (b *bench) seedSQLite(path string, rows int64) error {
	if err := b.migrate("sqlite:" + path); err != nil {
		return err
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range []string{
		"PRAGMA cache_size = -262144",
		fmt.Sprintf("INSERT INTO pets (name, category_id, status) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) %s n", rows, animal),
		// The program counts what it stores itself; on PostgreSQL the database does.
		"UPDATE inventory SET animals = (SELECT count(*) FROM pets WHERE pets.status = inventory.status)",
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
			return fmt.Errorf("filling SQLite: %w", err)
		}
	}
	return nil
}

// seedPostgres leaves the database in the state in which the server's own upkeep would.
func (b *bench) seedPostgres(database string, rows int64) error {
	if err := b.postgres.exec("postgres", "CREATE DATABASE "+database+" TEMPLATE template0"); err != nil {
		return err
	}
	if err := b.migrate(b.postgres.url(database)); err != nil {
		return err
	}
	return b.postgres.exec(database,
		fmt.Sprintf("INSERT INTO pets (name, category_id, status) %s generate_series(1, %d::bigint) i ORDER BY i", animal, rows), "VACUUM ANALYZE pets", "CHECKPOINT")
}

func (b *bench) migrate(database string) error {
	cmd := exec.Command(b.binary, "migrate", "--database", database)
	cmd.Env = cleanEnvironment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("petstore migrate: %w\n%s", err, out)
	}
	return nil
}
