package sqlite

import (
	"context"
	"io/fs"
	"net/url"
	"path/filepath"

	sqlite3 "zombiezen.com/go/sqlite"
)

// Check returns the schema version of a database and the schema version that this program needs. The first version is 0 if
// the database is empty or missing. Check refuses a database that Open would refuse even with Create and Migrate. Check
// changes nothing, and works while a server uses the file.
func Check(ctx context.Context, cfg Config) (schema, known int, err error) {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return 0, 0, err
	}
	if schema, err = checkDatabase(ctx, cfg); err != nil {
		return 0, 0, refusal(cfg.Path, err)
	}
	return schema, len(files), nil
}

func checkDatabase(ctx context.Context, cfg Config) (schema int, err error) {
	cfg.Create = true
	path, err := locate(cfg)
	if err != nil {
		return 0, err
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if !mayWrite(filepath.Dir(path)) {
		return 0, errFolderNotWritable(cfg.Path)
	}
	if isMissing(path) {
		return 0, checkLeftovers(followLinks(path))
	}
	if lockFile := path + lockSuffix; !isMissing(lockFile) && !mayWrite(lockFile) {
		return 0, errLockNotOpenable(lockFile)
	}
	for _, suffix := range companionSuffixes {
		if !isMissing(path+suffix) && !mayWrite(path+suffix) {
			return 0, errNotWritable(cfg.Path + suffix)
		}
	}
	conn, err := sqlite3.OpenConn(readOnlyURI(path), sqlite3.OpenReadOnly|sqlite3.OpenURI)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	conn.SetBusyTimeout(busyTimeout)
	conn.SetInterrupt(ctx.Done())
	if schema, err = checkSchema(conn, cfg.Path); err != nil || schema == 0 {
		return 0, err
	}
	return schema, checkEnvironment(conn, cfg)
}

// readOnlyURI returns a URI that opens the database at path. If the database has no WAL, the URI keeps SQLite from creating
// files beside the database. If there is a WAL, SQLite may create files, because it needs them to read the WAL.
func readOnlyURI(path string) string {
	uri := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	if isMissing(path + "-wal") {
		uri.RawQuery = "immutable=1"
	}
	return uri.String()
}
