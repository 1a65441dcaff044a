package bulk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrChanged says that a file was changed while it was read. Nothing that was read after the change has been returned.
var ErrChanged = errors.New("the file changed while it was read")

// Steady reads a file that nobody may change meanwhile.
type Steady struct {
	*os.File
	before fs.FileInfo
}

// Hold notes what the file is now.
func Hold(file *os.File) (*Steady, error) {
	info, err := file.Stat()
	return &Steady{file, info}, err
}

// Size is how long the file was when it was noted.
func (s *Steady) Size() int64 { return s.before.Size() }

// Regular tells a file from a pipe or a device.
func (s *Steady) Regular() bool { return s.before.Mode().IsRegular() }

// Read reads on, or returns ErrChanged.
func (s *Steady) Read(p []byte) (int, error) {
	n, err := s.File.Read(p)
	if !s.Regular() {
		return n, err
	}
	now, failed := s.File.Stat()
	switch {
	case failed != nil:
		return 0, failed
	case now.Size() != s.before.Size() || !now.ModTime().Equal(s.before.ModTime()):
		return 0, fmt.Errorf("%s: %w", s.Name(), ErrChanged)
	}
	return n, err
}
