package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// lockSuffix is the ending of the lock file's name.
const lockSuffix = ".lock"

// serverLock is the lock that a server holds on its database. The lock is a locked file beside the database.
type serverLock struct {
	flock *flock.Flock
	file  databaseFile
}

// takeServerLock takes the server's lock on the database. The path must have no symbolic links, so that servers that reach
// the database through different links compete for the same lock.
func takeServerLock(path, name string) (*serverLock, error) {
	l := &serverLock{flock: flock.New(path + lockSuffix)}
	held, err := l.flock.TryLock()
	if held {
		l.file.path = l.flock.Path()
		l.file.info, err = l.flock.Stat()
		held = l.file.inPlace() // if the last holder has just removed the file, the lock would not keep other servers out
	}
	if held && err == nil {
		return l, nil
	}
	l.flock.Unlock()
	switch {
	case errors.Is(err, fs.ErrPermission) && !isMissing(l.flock.Path()):
		return nil, errLockNotOpenable(l.flock.Path())
	case errors.Is(err, fs.ErrPermission):
		return nil, errFolderNotWritable(name)
	case err != nil:
		return nil, fmt.Errorf("the database %s cannot be locked: %w", name, err)
	}
	return nil, fmt.Errorf("another petstore server is already using %s; stop it or choose another --database", name)
}

// release removes the lock file and releases the lock. If the file stayed, a server that runs as another user might be
// unable to lock it.
func (l *serverLock) release() error {
	if l.file.inPlace() {
		os.Remove(l.file.path) // fails on Windows, where an open file cannot be removed
	}
	return l.flock.Unlock()
}
