package sqlite

import (
	"errors"
	"fmt"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// failure translates an error from SQLite for the callers of a Storage: to MaybeDone if the WAL may contain the failed
// transaction, otherwise to NotDone.
func failure(err error) error {
	if _, refused := errors.AsType[*petstore.Error](err); refused || err == nil {
		return err
	}
	if commit, failed := errors.AsType[commitError](err); failed && commit.mayBeInWAL() {
		return petstore.MaybeDone(err)
	}
	return petstore.NotDone(err)
}

// commitError is the error of a COMMIT that failed.
type commitError struct{ error }

func (e commitError) Unwrap() error { return e.error }

// mayBeInWAL reports whether the WAL may contain the whole transaction although the COMMIT failed, for instance because the
// WAL was written but not synced. After a crash SQLite then finds the transaction, unless the next commit has overwritten
// it. On a full disk, the WAL cannot contain the record that ends the transaction.
func (e commitError) mayBeInWAL() bool {
	switch sqlite3.ErrCode(e).ToPrimary() {
	case sqlite3.ResultFull, sqlite3.ResultBusy, sqlite3.ResultConstraint:
		return false
	}
	return true
}

// refusal explains in one sentence why the database at path cannot be opened, and what to do. An error that does not come
// from SQLite is already such a sentence.
func refusal(path string, err error) error {
	code := sqlite3.ErrCode(err)
	switch code {
	case sqlite3.ResultError:
		return err
	case sqlite3.ResultReadOnlyDirectory:
		return errFolderNotWritable(path)
	case sqlite3.ResultIOErrSHMSize:
		code = sqlite3.ResultFull
	}
	switch code.ToPrimary() {
	case sqlite3.ResultNotADB:
		return fmt.Errorf("%s is not a SQLite database; choose another --database, or move this file away", path)
	case sqlite3.ResultCorrupt:
		return fmt.Errorf("the database %s is damaged; restore it from a backup with petstore restore", path)
	case sqlite3.ResultFull:
		return fmt.Errorf("the disk with %s is full; make room and try again", path)
	case sqlite3.ResultReadOnly:
		return errNotWritable(path)
	case sqlite3.ResultCantOpen, sqlite3.ResultPerm, sqlite3.ResultAuth:
		return fmt.Errorf("petstore cannot open the database %s; let the user that runs petstore read and write it and its folder", path)
	case sqlite3.ResultBusy, sqlite3.ResultProtocol:
		return fmt.Errorf("another program has kept the database %s locked for %v; stop it and try again", path, busyTimeout)
	}
	return fmt.Errorf("the database %s cannot be used; check its disk (%w)", path, err)
}

func errFolderNotWritable(path string) error {
	return fmt.Errorf("petstore may not create files beside the database %s; let the user that runs petstore write in its folder", path)
}

func errLockNotOpenable(path string) error {
	return fmt.Errorf("petstore may not open %s, the lock file of the database; give it to the user that runs petstore, or remove it while no petstore runs", path)
}

func errNotWritable(path string) error {
	return fmt.Errorf("petstore may not write to the database %s; let the user that runs petstore read and write it; from a read-only file system, copy it elsewhere first", path)
}
