package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrChanged says that a file changed while it was read. Read has returned nothing that it read after the change.
var ErrChanged = errors.New("the file changed while it was read")

// Steady reads a file that must not change meanwhile.
type Steady struct {
	*os.File
	before fs.FileInfo
}

// Hold notes the size and the time of the file as it is now.
func Hold(file *os.File) (*Steady, error) {
	info, err := file.Stat()
	return &Steady{file, info}, err
}

// Size is the size of the file at the time of Hold.
func (s *Steady) Size() int64 { return s.before.Size() }

// Regular says whether the file is an ordinary one, not a pipe or a device.
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
