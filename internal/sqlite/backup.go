package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
)

const (
	selectBackup = "SELECT value FROM settings WHERE name = 'backup'"
	putBackup    = "INSERT OR REPLACE INTO settings (name, value) VALUES ('backup', ?1)"
)

// Progress is a function that a long operation calls from time to time, with the bytes done so far and the total bytes.
type Progress func(done, total int64)

// Backup writes the current state of the database, with its schema, to a new file. Other processes may use the database
// during the backup.
func Backup(ctx context.Context, cfg Config, target string, progress Progress) error {
	if _, err := os.Stat(target); err == nil {
		return errExists(target)
	}
	if folder := filepath.Dir(target); isMissing(folder) {
		return fmt.Errorf("the folder %s does not exist; create it, or choose another file for the backup", folder)
	}
	if err := checkLeftovers(target); err != nil {
		return err
	}
	db, conn, err := openConn(cfg)
	if err != nil {
		return err
	}
	defer db.release()
	schema, err := checkSchema(conn, cfg.Path)
	if err == nil && schema == 0 {
		err = errEmpty(cfg.Path)
	}
	if err == nil {
		err = checkEnvironment(conn, cfg)
	}
	if err != nil {
		return refusal(cfg.Path, err)
	}
	part, err := copyToPartFile(ctx, conn, cfg.Path, target, progress)
	if err != nil {
		return err
	}
	defer os.Remove(part)
	return renameNoReplace(part, target)
}

// partPrefix starts the file name of an incomplete copy.
const partPrefix = ".petstore-part-"

// copyToPartFile copies the database behind the connection conn into a new file, in the same folder as target. It returns
// the name of the new file, which is unique. When copyToPartFile returns, the new file is complete and on disk.
func copyToPartFile(ctx context.Context, conn *sqlite3.Conn, source, target string, progress Progress) (name string, err error) {
	part := filepath.Join(filepath.Dir(target), partPrefix+rand.Text())
	defer func() {
		if err != nil {
			os.Remove(part)
		}
	}()
	createPrivate(part)
	stop := watchSize(conn, part, progress)
	old := conn.SetInterrupt(ctx.Done())
	err = run(conn, "VACUUM INTO ?1", part)
	conn.SetInterrupt(old)
	stop()
	if err != nil {
		return "", copyError(source, target, err)
	}
	if err := flush(part); err != nil {
		return "", fmt.Errorf("%s could not be written to the disk: %w", target, err)
	}
	return part, nil
}

// renameNoReplace renames a complete file to target. It fails if another process has created target in the meantime.
func renameNoReplace(part, target string) error {
	err := os.Link(part, target)
	if err != nil && !errors.Is(err, fs.ErrExist) { // for example, the file system has no hard links
		err = reserveAndRename(part, target)
	}
	if errors.Is(err, fs.ErrExist) {
		return errExists(target)
	}
	flush(filepath.Dir(target)) // ignore errors: a file system that cannot flush a folder does not need the flush
	return err
}

// reserveAndRename renames a file to target. It fails if target exists. For a moment, target is an empty file.
func reserveAndRename(part, target string) error {
	reserved, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	reserved.Close()
	if err := os.Rename(part, target); err != nil {
		os.Remove(target)
		return err
	}
	return nil
}

func errExists(target string) error {
	return fmt.Errorf("%s already exists, and a backup overwrites nothing; choose another name", target)
}

// copyError explains why a copy failed, and names the file that caused the failure.
func copyError(source, target string, err error) error {
	switch sqlite3.ErrCode(err).ToPrimary() {
	case sqlite3.ResultCantOpen, sqlite3.ResultPerm, sqlite3.ResultReadOnly:
		return fmt.Errorf("petstore cannot write %s; choose another file, or let the user that runs petstore write in its folder", target)
	case sqlite3.ResultFull:
		return refusal(target, err)
	}
	return refusal(source, err)
}

// watchSize calls progress every second, with the current size of the file and the size of the database.
func watchSize(conn *sqlite3.Conn, file string, progress Progress) (stop func()) {
	var total int64
	query(conn, func(row *sqlite3.Stmt) { total = row.ColumnInt64(0) }, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for every := time.NewTicker(time.Second); ; {
			select {
			case <-quit:
				every.Stop()
				return
			case <-every.C:
				if info, err := os.Stat(file); err == nil {
					progress(min(info.Size(), total), total)
				}
			}
		}
	}()
	return func() { close(quit); <-done }
}

// flush writes a file or a folder to the disk.
func flush(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		if file, err = os.Open(name); err != nil {
			return err
		}
	}
	defer file.Close()
	return file.Sync()
}

// LastBackup returns the time of the last backup, or zero if there was none.
func (db *DB) LastBackup(ctx context.Context) (at time.Time, err error) {
	text := ""
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { text = row.ColumnText(0) }, selectBackup)
	})
	if err != nil || text == "" {
		return time.Time{}, err
	}
	millis, err := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(millis), err
}

// NoteBackup records the time of a backup in the database. Other processes may use the database during the call.
func NoteBackup(ctx context.Context, cfg Config, at time.Time) error {
	db, conn, err := openConn(cfg)
	if err != nil {
		return err
	}
	defer db.release()
	err = transaction(ctx, conn, func() error { return run(conn, putBackup, strconv.FormatInt(at.UnixMilli(), 10)) })
	if err != nil {
		return refusal(cfg.Path, err)
	}
	return nil
}
