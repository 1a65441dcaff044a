package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errChanged means that a file changed while it was read.
var errChanged = errors.New("the file changed while it was read")

// stableFile reads a file and fails as soon as the file changes, so that no two versions of the file are mixed.
type stableFile struct {
	*os.File
	opened fs.FileInfo // the size and time of the file when reading began
}

// newStableFile records the size and the modification time of the file.
func newStableFile(file *os.File) (*stableFile, error) {
	info, err := file.Stat()
	return &stableFile{file, info}, err
}

// size returns the size of the file, or 0 if it is a pipe or a device.
func (f *stableFile) size() int64 {
	if !f.isRegular() {
		return 0
	}
	return f.opened.Size()
}

// isRegular reports whether this is an ordinary file, not a pipe or a device.
func (f *stableFile) isRegular() bool { return f.opened.Mode().IsRegular() }

// Read reads from the file. If the file has changed, Read returns errChanged and no bytes.
func (f *stableFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if !f.isRegular() {
		return n, err
	}
	now, statErr := f.File.Stat()
	switch {
	case statErr != nil:
		return 0, statErr
	case now.Size() != f.opened.Size() || !now.ModTime().Equal(f.opened.ModTime()):
		return 0, fmt.Errorf("%s: %w", f.Name(), errChanged)
	}
	return n, err
}
