package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
)

// Restore copies a backup to the database at cfg.Path. It replaces an existing database only if replace is true. In that
// case Restore keeps the old database in the same folder and returns its new name. If the backup is damaged, or if a server
// uses the database, Restore changes nothing.
func Restore(ctx context.Context, cfg Config, backup string, replace bool, progress Progress) (aside string, err error) {
	if err := checkBackup(ctx, cfg, backup); err != nil {
		return "", err
	}
	cfg.Create = true
	path, err := locate(cfg)
	if err != nil {
		return "", err
	}
	exists := false
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path, exists = resolved, true
	} else {
		path = followLinks(path)
	}
	lock, err := takeServerLock(path, cfg.Path)
	if err != nil {
		return "", err
	}
	defer lock.release()
	if exists && !replace {
		return "", fmt.Errorf("the database %s already exists; --replace puts the backup in its place and keeps the old database beside it", cfg.Path)
	}

	conn, err := sqlite3.OpenConn(backup, sqlite3.OpenReadOnly)
	if err != nil {
		return "", refusal(backup, err)
	}
	defer conn.Close()
	fresh, err := copyToPartFile(ctx, conn, backup, path, progress)
	if err != nil {
		return "", err
	}
	defer os.Remove(fresh)
	if err := prepareRestored(fresh); err != nil {
		return "", fmt.Errorf("the backup could not be prepared: %w", err)
	}
	defer flush(filepath.Dir(path))
	if exists {
		return replaceDatabase(ctx, fresh, path, cfg.Path)
	}
	if err := moveWALAside(path, asideName(path)); err != nil {
		return "", err
	}
	return "", os.Rename(fresh, path)
}

// prepareRestored removes what Litestream keeps in a database that it copies, and gives a new name to the feed, because what
// happened after the backup is missing from it. A backup of an earlier version has no feed.
func prepareRestored(path string) error {
	conn, err := sqlite3.OpenConn(path, sqlite3.OpenReadWrite)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, table := range []string{"_litestream_seq", "_litestream_lock"} {
		if err := run(conn, "DROP TABLE IF EXISTS "+table); err != nil {
			return err
		}
	}
	hasFeed := false
	err = query(conn, func(*sqlite3.Stmt) { hasFeed = true }, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'feed'")
	if err != nil || !hasFeed {
		return err
	}
	return resetFeed(conn)
}

// checkBackup refuses a file unless it is an undamaged database of this environment, with a schema that this program knows.
func checkBackup(ctx context.Context, cfg Config, backup string) error {
	if _, err := os.Stat(backup); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no backup %s", backup)
	} else if err != nil {
		return fmt.Errorf("the backup cannot be read: %w", err)
	}
	conn, err := sqlite3.OpenConn(backup, sqlite3.OpenReadOnly)
	if err != nil {
		return refusal(backup, err)
	}
	defer conn.Close()
	conn.SetInterrupt(ctx.Done())
	schema, err := checkSchema(conn, backup)
	switch code := sqlite3.ErrCode(err).ToPrimary(); {
	case code == sqlite3.ResultNotADB:
		return fmt.Errorf("%s is not a SQLite database and was not restored; use another file", backup)
	case code == sqlite3.ResultCorrupt:
		return errDamaged(backup, err)
	case err != nil:
		return refusal(backup, err)
	case schema == 0:
		return fmt.Errorf("%s is an empty database, not a backup", backup)
	}
	verdict := ""
	err = query(conn, func(row *sqlite3.Stmt) { verdict = row.ColumnText(0) }, "PRAGMA integrity_check(1)")
	if err == nil && verdict != "ok" {
		err = errors.New(verdict)
	}
	if err != nil {
		return errDamaged(backup, err)
	}
	return checkEnvironment(conn, Config{Path: backup, Environment: cfg.Environment})
}

func errDamaged(backup string, err error) error {
	return fmt.Errorf("%s is damaged and was not restored (%w); use another backup", backup, err)
}

// asideMark precedes the time in the name of a database that a restore has put aside.
const asideMark = ".before-restore-"

func asideName(path string) string {
	return path + asideMark + time.Now().UTC().Format("20060102T150405.000000000Z")
}

// replaceDatabase replaces the database at path with the new database in the file fresh. It keeps the old database under
// another name, and returns that name. At every moment there is a complete database at path, either the old or the new one.
// The WAL of the old database is never beside the new database.
func replaceDatabase(ctx context.Context, fresh, path, name string) (aside string, err error) {
	if err := removeAsideLinks(path); err != nil {
		return "", err
	}
	aside = asideName(path)
	locked, err := lockForRestore(ctx, path)
	if err != nil {
		return "", refusal(name, err)
	}
	var copied *os.File
	defer func() {
		locked.Close()
		copied.Close() // must come after locked.Close: see copyKeepingOpen
	}()
	if err := moveWALAside(path, aside); err != nil {
		return "", err
	}
	err = os.Link(path, aside)
	if err != nil && !errors.Is(err, fs.ErrExist) { // for example, the file system has no hard links
		copied, err = copyKeepingOpen(path, aside)
	}
	if err != nil {
		return "", fmt.Errorf("the old database could not be put aside: %w", err)
	}
	flush(filepath.Dir(path))
	return aside, os.Rename(fresh, path)
}

// lockForRestore moves the WAL of a database into its file, and locks out every other process until the caller closes the
// returned Closer. If the file is too damaged to be a database, lockForRestore leaves it as it is.
func lockForRestore(ctx context.Context, path string) (io.Closer, error) {
	conn, err := sqlite3.OpenConn(path, sqlite3.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	err = retryWhileBusy(ctx, conn, func() error { return lockExclusively(conn) })
	switch sqlite3.ErrCode(err).ToPrimary() {
	case sqlite3.ResultOK, sqlite3.ResultNotADB, sqlite3.ResultCorrupt:
		return conn, nil
	}
	conn.Close()
	return nil, err
}

// lockExclusively switches a database from a WAL to a rollback journal, and locks the database. It fails while another
// process uses the database.
func lockExclusively(conn *sqlite3.Conn) error {
	if err := run(conn, "PRAGMA journal_mode = DELETE"); err != nil {
		return err
	}
	if err := run(conn, "BEGIN EXCLUSIVE"); err != nil {
		return err
	}
	mode, err := pragmaValue(conn, "PRAGMA journal_mode")
	if err == nil && mode != "delete" { // another process has begun a WAL in the meantime
		run(conn, "ROLLBACK")
		err = sqlite3.ResultBusy.ToError()
	}
	return err
}

// moveWALAside moves away the WAL and the journal that a damaged or deleted database has left. Otherwise SQLite would apply
// these files to the next database at path.
func moveWALAside(path, aside string) error {
	for _, suffix := range companionSuffixes {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the write-ahead log of the old database could not be put aside: %w", err)
		}
	}
	return nil
}

// copyKeepingOpen copies the database at path to a new file, and returns the file at path, still open. When a process
// closes a file, POSIX releases every lock that the process holds on the file. So the caller must release its own lock
// before it closes the file.
func copyKeepingOpen(path, aside string) (source *os.File, err error) {
	if source, err = os.Open(path); err != nil {
		return nil, err
	}
	target, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return source, err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Sync(), target.Close()); err != nil {
		os.Remove(aside)
	}
	return source, err
}

// removeAsideLinks removes the links that asideLinks finds. The caller holds the server's lock.
func removeAsideLinks(path string) error {
	database, err := os.Stat(path)
	if err != nil {
		return err
	}
	links, err := asideLinks(path, database)
	for _, link := range links {
		err = cmp.Or(err, os.Remove(link))
	}
	return err
}

// asideLinks returns the additional names (hard links) that killed restores have left for the database. A restore leaves
// such a name if it is killed before it replaces the database.
func asideLinks(path string, database fs.FileInfo) (links []string, err error) {
	folder := filepath.Dir(path)
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), filepath.Base(path)+asideMark) {
			continue
		}
		if info, err := entry.Info(); err == nil && os.SameFile(info, database) {
			links = append(links, filepath.Join(folder, entry.Name()))
		}
	}
	return links, err
}
