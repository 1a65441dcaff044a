package sqlite

import (
	"errors"
	"fmt"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// failure turns an error of SQLite into one that callers of a Storage know. Unless the WAL may hold the failed
// transaction, the new error says that nothing was changed.
func failure(err error) error {
	if _, refused := errors.AsType[*petstore.Error](err); refused || err == nil {
		return err
	}
	if commit, failed := errors.AsType[uncommitted](err); failed && commit.mayHold() {
		return petstore.MaybeDone(err)
	}
	return petstore.NotDone(err)
}

// uncommitted is the error of a COMMIT that failed.
type uncommitted struct{ error }

func (e uncommitted) Unwrap() error { return e.error }

// mayHold reports whether the WAL may hold the whole transaction although the COMMIT failed, for instance because the
// WAL was written but not synced. SQLite then finds the transaction after a crash, unless the next commit has
// overwritten it. On a full disk there was no room for the record that ends a transaction.
func (e uncommitted) mayHold() bool {
	switch sqlite3.ErrCode(e).ToPrimary() {
	case sqlite3.ResultFull, sqlite3.ResultBusy, sqlite3.ResultConstraint:
		return false
	}
	return true
}

// refusal says in a sentence why the database at path cannot be opened, and what to do. An error that does not come from
// SQLite is such a sentence already.
func refusal(path string, err error) error {
	code := sqlite3.ErrCode(err)
	switch code {
	case sqlite3.ResultError:
		return err
	case sqlite3.ResultReadOnlyDirectory:
		return mayNotWriteFolder(path)
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
		return mayNotWrite(path)
	case sqlite3.ResultCantOpen, sqlite3.ResultPerm, sqlite3.ResultAuth:
		return fmt.Errorf("petstore cannot open the database %s; let the user that runs petstore read and write it and its folder", path)
	case sqlite3.ResultBusy, sqlite3.ResultProtocol:
		return fmt.Errorf("another program has kept the database %s locked for %v; end it and try again", path, patience)
	}
	return fmt.Errorf("the database %s cannot be used, check its disk (%w)", path, err)
}

func mayNotWriteFolder(path string) error {
	return fmt.Errorf("petstore may not make files beside the database %s; let the user that runs petstore write in its folder", path)
}

func mayNotLock(path string) error {
	return fmt.Errorf("petstore may not open %s, the lock of the database; give it to the user that runs petstore, or remove it while no petstore runs", path)
}

func mayNotWrite(path string) error {
	return fmt.Errorf("petstore may not write to the database %s; let the user that runs petstore read and write it; from a read-only file system, copy it elsewhere first", path)
}
