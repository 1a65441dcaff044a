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

// asideMark stands before the time in the name of a database that a restore has put aside.
const asideMark = ".before-restore-"

func asideName(path string) string {
	return path + asideMark + time.Now().UTC().Format("20060102T150405.000000000Z")
}

// replaceBy puts a fresh database in the place of the one at path, and keeps the old one under the name that it returns. At
// every moment a whole database is at path, the old one or the fresh one. The old one's WAL is never beside the fresh one.
func replaceBy(ctx context.Context, fresh, path, name string) (aside string, err error) {
	if err := dropAsideLinks(path); err != nil {
		return "", err
	}
	aside = asideName(path)
	alone, err := settle(ctx, path)
	if err != nil {
		return "", refusal(name, err)
	}
	var copied *os.File
	defer func() {
		alone.Close()
		copied.Close() // only now: see copyAs
	}()
	if err := moveWAL(path, aside); err != nil {
		return "", err
	}
	err = os.Link(path, aside)
	if err != nil && !errors.Is(err, fs.ErrExist) { // the file system has no hard links
		copied, err = copyAs(path, aside)
	}
	if err != nil {
		return "", fmt.Errorf("the old database could not be put aside: %w", err)
	}
	flush(filepath.Dir(path))
	return aside, os.Rename(fresh, path)
}

// settle moves the WAL of a database into its file. It keeps every other process off the database until the Closer that it
// returns is closed. It leaves a file that is too damaged to be a database as it is.
func settle(ctx context.Context, path string) (io.Closer, error) {
	conn, err := sqlite3.OpenConn(path, sqlite3.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	err = patiently(ctx, conn, func() error { return takeAlone(conn) })
	switch sqlite3.ErrCode(err).ToPrimary() {
	case sqlite3.ResultOK, sqlite3.ResultNotADB, sqlite3.ResultCorrupt:
		return conn, nil
	}
	conn.Close()
	return nil, err
}

// takeAlone ends the use of a WAL and locks the database. It fails while another process uses the database.
func takeAlone(conn *sqlite3.Conn) error {
	if err := run(conn, "PRAGMA journal_mode = DELETE"); err != nil {
		return err
	}
	if err := run(conn, "BEGIN EXCLUSIVE"); err != nil {
		return err
	}
	mode, err := setting(conn, "PRAGMA journal_mode")
	if err == nil && mode != "delete" { // another process began a WAL in between
		run(conn, "ROLLBACK")
		err = sqlite3.ResultBusy.ToError()
	}
	return err
}

// moveWAL moves away the WAL and the journal that a damaged or deleted database has left. SQLite would take them for those
// of the next file at path.
func moveWAL(path, aside string) error {
	for _, suffix := range companions {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the write-ahead log of the old database could not be put aside: %w", err)
		}
	}
	return nil
}

// copyAs copies a database to a new file and returns the database, still open. When a process closes a file, POSIX releases
// every lock that the process has on it. So the caller closes the database after it has let go of its own lock.
func copyAs(path, aside string) (source *os.File, err error) {
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

// dropAsideLinks removes the second names of the database. The caller holds the server's lock.
func dropAsideLinks(path string) error {
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

// asideLinks returns the second names of the database. A restore leaves one if it is killed before the fresh database is
// in its place.
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
