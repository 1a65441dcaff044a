package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// lockSuffix is the ending of the file that stands for the lock.
const lockSuffix = ".lock"

// serverLock is the lock that a server holds on its database, with the file beside the database that stands for it.
type serverLock struct {
	flock *flock.Flock
	file  original
}

// lock takes the server's lock. The path has no symbolic links, so servers that reach the database through different
// links share one lock.
func lock(path, name string) (*serverLock, error) {
	l := &serverLock{flock: flock.New(path + lockSuffix)}
	held, err := l.flock.TryLock()
	if held {
		l.file.path = l.flock.Path()
		l.file.info, err = l.flock.Stat()
		held = l.file.inPlace() // a lock whose file its last holder has removed keeps nobody off
	}
	if held && err == nil {
		return l, nil
	}
	l.flock.Unlock()
	switch {
	case errors.Is(err, fs.ErrPermission) && !isMissing(l.flock.Path()):
		return nil, mayNotLock(l.flock.Path())
	case errors.Is(err, fs.ErrPermission):
		return nil, mayNotWriteFolder(name)
	case err != nil:
		return nil, fmt.Errorf("the lock of the database %s cannot be taken: %w", name, err)
	}
	return nil, fmt.Errorf("another petstore server is already using %s; stop it or choose another --database", name)
}

// release removes the file and then lets go of the lock. A file that is left could keep off a server of another user.
func (l *serverLock) release() error {
	if l.file.inPlace() {
		os.Remove(l.file.path) // Windows leaves a file that is open
	}
	return l.flock.Unlock()
}
