package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrating is the lock under which one replica at a time changes the schema: "petstore" in ASCII.
const migrating = 0x70657473746f7265

// migrate brings the schema up to date, all of it or nothing, while other replicas that start wait. That may take
// longer than any other call, so only ctx bounds it.
func migrate(ctx context.Context, pool *pgxpool.Pool, env petstore.Environment) error {
	conn, err := connect(ctx, pool)
	if err != nil {
		return err
	}
	defer conn.Release()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrating)); err != nil {
			return err
		}
		return upgrade(ctx, tx, env)
	})
}

func connect(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	return pool.Acquire(ctx)
}

func upgrade(ctx context.Context, tx pgx.Tx, env petstore.Environment) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	made, version, err := inspect(ctx, tx)
	switch {
	case err != nil:
		return err
	case version > len(files):
		return fmt.Errorf("was made by a newer petstore (its schema is %d, this one knows %d); use that one", version, len(files))
	case version > 0 && made != env:
		return fmt.Errorf("belongs to the %s environment, and this is %s; give each environment a database of its own", made, env)
	case version == len(files):
		return nil
	}
	for _, file := range files[version:] {
		sql, err := migrations.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(sql)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO settings VALUES ('environment', $1), ('schema', $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, string(env), strconv.Itoa(len(files)))
	return err
}

// inspect returns the environment and the schema version of the database, 0 if it is empty.
func inspect(ctx context.Context, tx pgx.Tx) (env petstore.Environment, version int, err error) {
	var ours bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass('settings') IS NOT NULL").Scan(&ours); err != nil || !ours {
		return "", 0, err
	}
	err = tx.QueryRow(ctx, `
		SELECT e.value, s.value::integer FROM settings e, settings s WHERE e.name = 'environment' AND s.name = 'schema'`).
		Scan(&env, &version)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", 0, nil
	}
	return env, version, err
}
