package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
)

// Progress is told how much of a long piece of work is done, in bytes.
type Progress func(done, total int64)

// Backup writes the present state of the database, with its schema, to a new file. Others may go on using the database.
func Backup(ctx context.Context, cfg Config, target string, progress Progress) error {
	if _, err := os.Stat(target); err == nil {
		return isThere(target)
	}
	if folder := filepath.Dir(target); isMissing(folder) {
		return fmt.Errorf("the folder %s does not exist; create it, or choose another file for the backup", folder)
	}
	if err := checkNew(target); err != nil {
		return err
	}
	db, conn, err := beside(cfg)
	if err != nil {
		return err
	}
	defer db.release()
	schema, err := inspect(conn, cfg.Path)
	if err == nil && schema == 0 {
		err = empty(cfg.Path)
	}
	if err == nil {
		err = checkEnvironment(conn, cfg)
	}
	if err != nil {
		return refusal(cfg.Path, err)
	}
	made, err := copyBeside(ctx, conn, cfg.Path, target, progress)
	if err != nil {
		return err
	}
	defer os.Remove(made)
	return publish(made, target)
}

// Restore makes the database at cfg.Path from a backup. It replaces a database that is there already only if replace is
// true, and keeps the old one under the name that it returns. It changes nothing if the backup is damaged or a server
// uses the database.
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
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path, exists = real, true
	} else {
		path = followed(path)
	}
	held, err := lock(path, cfg.Path)
	if err != nil {
		return "", err
	}
	defer held.release()
	if exists && !replace {
		return "", fmt.Errorf("there is a database %s already; --replace puts the backup in its place and keeps the old one beside it", cfg.Path)
	}

	conn, err := sqlite3.OpenConn(backup, sqlite3.OpenReadOnly)
	if err != nil {
		return "", refusal(backup, err)
	}
	defer conn.Close()
	fresh, err := copyBeside(ctx, conn, backup, path, progress)
	if err != nil {
		return "", err
	}
	defer os.Remove(fresh)
	defer flush(filepath.Dir(path))
	if exists {
		return replaceBy(ctx, fresh, path, cfg.Path)
	}
	if err := moveWAL(path, asideName(path)); err != nil {
		return "", err
	}
	return "", os.Rename(fresh, path)
}

// checkBackup refuses a file that is not an undamaged database of this environment, with a schema that this program
// knows.
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
	schema, err := inspect(conn, backup)
	switch code := sqlite3.ErrCode(err).ToPrimary(); {
	case code == sqlite3.ResultNotADB:
		return fmt.Errorf("%s is not a SQLite database and was not restored; use another file", backup)
	case code == sqlite3.ResultCorrupt:
		return damaged(backup, err)
	case err != nil:
		return refusal(backup, err)
	case schema == 0:
		return fmt.Errorf("%s is an empty database and no backup", backup)
	}
	verdict := ""
	err = query(conn, func(row *sqlite3.Stmt) { verdict = row.ColumnText(0) }, "PRAGMA integrity_check(1)")
	if err == nil && verdict != "ok" {
		err = errors.New(verdict)
	}
	if err != nil {
		return damaged(backup, err)
	}
	return checkEnvironment(conn, Config{Path: backup, Environment: cfg.Environment})
}

func damaged(backup string, err error) error {
	return fmt.Errorf("%s is damaged and was not restored (%w); use another backup", backup, err)
}

// partMark begins the name of a copy that is not complete.
const partMark = ".petstore-part-"

// copyBeside writes what a connection to the source sees to a new file in the folder of target, under a name that no other
// copy has. When it returns the name, the file is complete and on disk.
func copyBeside(ctx context.Context, conn *sqlite3.Conn, source, target string, progress Progress) (made string, err error) {
	part := filepath.Join(filepath.Dir(target), partMark+rand.Text())
	defer func() {
		if err != nil {
			os.Remove(part)
		}
	}()
	makePrivate(part)
	stop := watchSize(conn, part, progress)
	old := conn.SetInterrupt(ctx.Done())
	err = run(conn, "VACUUM INTO ?1", part)
	conn.SetInterrupt(old)
	stop()
	if err != nil {
		return "", uncopied(source, target, err)
	}
	if err := flush(part); err != nil {
		return "", fmt.Errorf("%s could not be written to the disk: %w", target, err)
	}
	return part, nil
}

// publish gives a complete file the name target, unless another file has got that name meanwhile.
func publish(made, target string) error {
	err := os.Link(made, target)
	if err != nil && !errors.Is(err, fs.ErrExist) { // the file system has no links
		err = renameNew(made, target)
	}
	if errors.Is(err, fs.ErrExist) {
		return isThere(target)
	}
	flush(filepath.Dir(target)) // where a folder cannot be flushed, its file system needs no flush
	return err
}

// renameNew renames a file, unless there is one with the new name. For a moment that one is empty.
func renameNew(made, target string) error {
	reserved, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	reserved.Close()
	if err := os.Rename(made, target); err != nil {
		os.Remove(target)
		return err
	}
	return nil
}

func isThere(target string) error {
	return fmt.Errorf("%s is there already and a backup overwrites nothing; choose another name", target)
}

// uncopied is the error of a copy that failed. It names the file that caused the failure.
func uncopied(source, target string, err error) error {
	switch sqlite3.ErrCode(err).ToPrimary() {
	case sqlite3.ResultCantOpen, sqlite3.ResultPerm, sqlite3.ResultReadOnly:
		return fmt.Errorf("petstore cannot write %s; choose another file, or let the user that runs petstore write in its folder", target)
	case sqlite3.ResultFull:
		return refusal(target, err)
	}
	return refusal(source, err)
}

// watchSize reports every second how large the file is so far, and how large the database is.
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
