package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"petstore/internal/petstore"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations has the SQL files that make the schema, which run in the order of their names. The schema of a database is the
// number of files that were run on it. Tests add a file.
var migrations fs.FS = embedded

// applicationID marks a SQLite file as ours: "PETS".
const applicationID = 0x50455453

// selectSchemaState is one statement, so that a database that another process is creating looks either empty or complete.
const selectSchemaState = `
	SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
	FROM pragma_application_id, pragma_user_version`

// checkSchema returns the schema of a database, or 0 if the database is empty. It refuses the database of another program
// or of a newer petstore. It changes nothing.
func checkSchema(conn *sqlite3.Conn, name string) (schema int, err error) {
	var application, tables int
	err = query(conn, func(row *sqlite3.Stmt) {
		application, schema, tables = row.ColumnInt(0), row.ColumnInt(1), row.ColumnInt(2)
	}, selectSchemaState)
	if err != nil {
		return 0, err
	}
	files, err := fs.ReadDir(migrations, "migrations")
	switch known := len(files); {
	case err != nil:
		return 0, err
	case application == 0 && schema == 0 && tables == 0:
		return 0, nil
	case application != applicationID:
		return 0, fmt.Errorf("%s is the database of another program; choose another --database", name)
	case schema > known:
		return 0, fmt.Errorf("%s was written by a newer petstore (schema %d, this one knows %d); upgrade petstore", name, schema, known)
	}
	return schema, nil
}

// checkSchemaFor is like checkSchema, but also refuses an empty database unless cfg.Create is set, and an older schema
// unless cfg.Migrate is set.
func checkSchemaFor(conn *sqlite3.Conn, cfg Config) (schema int, err error) {
	schema, err = checkSchema(conn, cfg.Path)
	if err != nil {
		return 0, err
	}
	files, err := fs.ReadDir(migrations, "migrations")
	switch known := len(files); {
	case err != nil:
		return 0, err
	case schema == 0 && !cfg.Create:
		return 0, errEmpty(cfg.Path)
	case schema > 0 && schema < known && !cfg.Migrate:
		return 0, fmt.Errorf("the database %s has the schema of an older petstore (%d, this one needs %d); stop its server and run petstore migrate, or use the petstore that serves it",
			cfg.Path, schema, known)
	}
	return schema, nil
}

func errEmpty(name string) error {
	return fmt.Errorf("the database %s is empty; petstore serve fills it, or choose another --database", name)
}

// migrate brings the schema up to date, if cfg allows that, and checks the environment. It uses one transaction: if several
// processes start at once, each finds the schema either complete or not begun.
func migrate(ctx context.Context, conn *sqlite3.Conn, cfg Config) error {
	return transaction(ctx, conn, func() error {
		schema, err := checkSchemaFor(conn, cfg)
		if err != nil {
			return err
		}
		if err := runMigrations(conn, schema); err != nil {
			return err
		}
		if schema == 0 {
			return run(conn, "INSERT INTO settings (name, value) VALUES ('environment', ?1)", string(cfg.Environment))
		}
		return checkEnvironment(conn, cfg)
	})
}

// runMigrations runs the migrations that a database with this schema lacks.
func runMigrations(conn *sqlite3.Conn, schema int) error {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil || schema == len(files) {
		return err
	}
	for _, file := range files[schema:] {
		if err := sqlitex.ExecuteScriptFS(conn, migrations, "migrations/"+file.Name(), nil); err != nil {
			return err
		}
	}
	return sqlitex.ExecuteScript(conn, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(files)), nil)
}

func checkEnvironment(conn *sqlite3.Conn, cfg Config) error {
	var environment petstore.Environment
	err := query(conn, func(row *sqlite3.Stmt) {
		environment = petstore.Environment(row.ColumnText(0))
	}, "SELECT value FROM settings WHERE name = 'environment'")
	if err == nil && environment != cfg.Environment {
		err = fmt.Errorf("the database %s belongs to the %s environment and this is %s; choose another --database or --environment",
			cfg.Path, environment, cfg.Environment)
	}
	return err
}
