package main

import (
	"fmt"
	"path/filepath"

	"petstore/bench/result"
)

// postgresPool is the number of connections on which creates are committed one by one. It is more than petstore's own
// pool has, because without shared commits it is the connections that let commits overlap.
const postgresPool = 32

// addOneCommit starts what shows the gain of shared commits: a service without it.
func (b *bench) addOneCommit() error {
	dir, err := folder(b.scratch, "one-commit-sqlite")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "petstore.db")
	if err := b.seedSQLite(file, b.run.Settings.Rows); err != nil {
		return err
	}
	lines := only(petstoreLines(b.run.Settings.Rows), result.Create)
	s, err := b.startChild(result.Subject{ID: result.OneCommitSQLite, Name: "one commit each, SQLite",
		Detail: "bare net/http with petstore's driver, table and durability; every create commits by itself"}, "one-commit-sqlite", dir, file, lines)
	if err != nil {
		return err
	}
	b.add(s)
	if _, measured := b.run.Subject(result.Postgres); !measured {
		return nil
	}
	if dir, err = folder(b.scratch, "one-commit-postgres"); err != nil {
		return err
	}
	if err := b.seedPostgres("one_commit", b.run.Settings.Rows); err != nil {
		return err
	}
	url := fmt.Sprintf("%s&pool_max_conns=%d", b.postgres.url("one_commit"), postgresPool)
	s, err = b.startChild(result.Subject{ID: result.OneCommitPostgres, Name: "one commit each, PostgreSQL",
		Detail: fmt.Sprintf("bare net/http with petstore's driver and table; every create commits by itself, on %d connections, with nothing of Redis", postgresPool)},
		"one-commit-pgx", dir, url, lines, b.postgres.Pid)
	if err != nil {
		return err
	}
	b.add(s)
	return nil
}
