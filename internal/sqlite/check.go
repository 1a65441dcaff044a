package sqlite

import (
	"context"
	"io/fs"
	"net/url"
	"path/filepath"

	sqlite3 "zombiezen.com/go/sqlite"
)

// Check returns the schema of a database, or 0 if the database is empty or missing, and the schema that this program
// would give it. It refuses a database that Open would refuse even with Create and Migrate, but a server may use the
// file meanwhile. It changes nothing.
func Check(ctx context.Context, cfg Config) (schema, known int, err error) {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return 0, 0, err
	}
	if schema, err = look(ctx, cfg); err != nil {
		return 0, 0, refusal(cfg.Path, err)
	}
	return schema, len(files), nil
}

func look(ctx context.Context, cfg Config) (schema int, err error) {
	cfg.Create = true
	path, err := locate(cfg)
	if err != nil {
		return 0, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if !mayWrite(filepath.Dir(path)) {
		return 0, mayNotWriteFolder(cfg.Path)
	}
	if isMissing(path) {
		return 0, checkNew(followed(path))
	}
	if lock := path + lockSuffix; !isMissing(lock) && !mayWrite(lock) {
		return 0, mayNotLock(lock)
	}
	for _, suffix := range companions {
		if !isMissing(path+suffix) && !mayWrite(path+suffix) {
			return 0, mayNotWrite(cfg.Path + suffix)
		}
	}
	conn, err := sqlite3.OpenConn(asItIs(path), sqlite3.OpenReadOnly|sqlite3.OpenURI)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	conn.SetBusyTimeout(patience)
	conn.SetInterrupt(ctx.Done())
	if schema, err = inspect(conn, cfg.Path); err != nil || schema == 0 {
		return 0, err
	}
	return schema, checkEnvironment(conn, cfg)
}

// asItIs is a URI that keeps SQLite from making files beside the database. SQLite can do without them only if there is no
// WAL.
func asItIs(path string) string {
	uri := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	if isMissing(path + "-wal") {
		uri.RawQuery = "immutable=1"
	}
	return uri.String()
}
