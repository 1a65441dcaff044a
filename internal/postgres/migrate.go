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
var embedded embed.FS

// migrations has the SQL files that make the schema, which run in the order of their names. The schema of a database is the
// number of files that were run on it. Tests add a file.
var migrations fs.FS = embedded

// unusable says why a database cannot be used. It is the end of a sentence that begins with the name of the database.
type unusable string

func (u unusable) Error() string { return string(u) }

// migrationLock is the advisory lock under which one replica at a time changes the schema: "petstore" in ASCII.
const migrationLock = 0x70657473746f7265

// migrate brings the schema up to date, if cfg allows that, completely or not at all. Other replicas that start meanwhile
// wait. A migration may take longer than any other call, so only ctx bounds it.
func migrate(ctx context.Context, pool *pgxpool.Pool, cfg Config) error {
	conn, err := connect(ctx, pool, cfg)
	if err != nil {
		return err
	}
	defer conn.Release()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		return upgrade(ctx, tx, cfg)
	})
}

func connect(ctx context.Context, pool *pgxpool.Pool, cfg Config) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*cfg.timeouts().call)
	defer cancel()
	return pool.Acquire(ctx)
}

// Check returns the schema of a database, or 0 if the database is empty, and the schema that this program needs. It
// refuses a database that Open would refuse even with Create and Migrate. It changes nothing.
func Check(ctx context.Context, cfg Config) (schema, known int, err error) {
	config, err := poolConfig(cfg)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*cfg.timeouts().call)
	defer cancel()
	cluster, err := joinCluster(ctx, config, nil)
	if err != nil {
		return 0, 0, refusal(config.ConnConfig, err)
	}
	defer cluster.close()
	cluster.order(config.ConnConfig)
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return 0, 0, refusal(config.ConnConfig, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		var files []fs.DirEntry
		schema, files, err = checkSchema(ctx, tx, cfg.Environment)
		known = len(files)
		if err == nil {
			err = checkRights(ctx, tx, schema < known)
		}
		return err
	})
	if err != nil {
		return 0, 0, refusal(config.ConnConfig, err)
	}
	return schema, known, nil
}

// The tables and sequences that the migrations create.
var (
	tables    = []string{"settings", "pets", "keys", "bans", "idempotency", "categories", "category_counter", "orders", "inventory", "block_words", "marked_blocks", "profiles", "photos", "usage", "usage_added", "feed", "events", "event_pets", "event_slips", "webhooks", "webhook_deliveries", "event_counts"}
	sequences = []string{"pets_id", "orders_id", "photos_id"}
)

// checkRights refuses a database whose tables the user may not read and write, and, if the schema is not up to date, one in
// which the user may not create tables.
func checkRights(ctx context.Context, tx pgx.Tx, createsTables bool) error {
	var mayCreate, mayCount bool
	var locked string
	err := tx.QueryRow(ctx, `
		SELECT
			coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
			(SELECT coalesce(bool_and(has_sequence_privilege(name, 'USAGE')), true) FROM unnest($3::text[]) AS name WHERE to_regclass(name) IS NOT NULL),
			coalesce(string_agg(name, ', '), '')
		FROM unnest($1::text[]) AS name
		WHERE to_regclass(name) IS NOT NULL AND NOT (SELECT bool_and(has_table_privilege(name, may)) FROM unnest($2::text[]) AS may)`,
		tables, []string{"SELECT", "INSERT", "UPDATE", "DELETE"}, sequences).Scan(&mayCreate, &mayCount, &locked)
	switch {
	case err != nil:
		return err
	case createsTables && !mayCreate:
		return unusable("does not let this user create tables; grant this user CREATE on its schema")
	case locked != "":
		return unusable("does not let this user read and write " + locked + "; grant this user SELECT, INSERT, UPDATE and DELETE on all tables, and SELECT, UPDATE and USAGE on all sequences")
	case !mayCount:
		return unusable("does not let this user give out ids; grant this user SELECT, UPDATE and USAGE on all sequences")
	}
	return nil
}

// checkSchema returns the schema of a database, or 0 if the database is empty, and all migrations. It refuses the database
// of a newer petstore or of another environment.
func checkSchema(ctx context.Context, tx pgx.Tx, env petstore.Environment) (schema int, files []fs.DirEntry, err error) {
	files, err = fs.ReadDir(migrations, "migrations")
	if err != nil {
		return 0, nil, err
	}
	stored, schema, err := readSchema(ctx, tx)
	switch {
	case err != nil:
		return 0, nil, err
	case schema > len(files):
		return 0, nil, unusable(fmt.Sprintf("was written by a newer petstore (schema %d, this one knows %d); upgrade petstore", schema, len(files)))
	case schema > 0 && stored != env:
		return 0, nil, unusable(fmt.Sprintf("belongs to the %s environment and this is %s; choose another --database or --environment", stored, env))
	}
	return schema, files, nil
}

// upgrade checks the schema and runs the migrations that it lacks, if cfg allows that.
func upgrade(ctx context.Context, tx pgx.Tx, cfg Config) error {
	schema, files, err := checkSchema(ctx, tx, cfg.Environment)
	switch {
	case err != nil:
		return err
	case schema == len(files):
		return nil
	case schema == 0 && !cfg.Create:
		return unusable("is empty; petstore serve fills it, or choose another --database")
	case schema > 0 && !cfg.Migrate:
		return unusable(fmt.Sprintf("has the schema of an older petstore (%d, this one needs %d); run petstore migrate, or use the petstore that serves it", schema, len(files)))
	}
	for _, file := range files[schema:] {
		sql, err := fs.ReadFile(migrations, "migrations/"+file.Name())
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(sql)); err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO settings VALUES ('environment', $1), ('schema', $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, string(cfg.Environment), strconv.Itoa(len(files)))
	return err
}

// readSchema returns the environment and the schema of the database. The schema is 0 if the database is empty.
func readSchema(ctx context.Context, tx pgx.Tx) (env petstore.Environment, schema int, err error) {
	var exists bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass('settings') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return "", 0, err
	}
	err = tx.QueryRow(ctx, `
		SELECT e.value, s.value::integer FROM settings e, settings s WHERE e.name = 'environment' AND s.name = 'schema'`).
		Scan(&env, &schema)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", 0, nil
	}
	return env, schema, err
}
