package transfer

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// spoolMemory is how many bytes a spool keeps in memory.
const spoolMemory = 1 << 20

// spool keeps what is written to it: in memory, and in a temporary file once it is more than spoolMemory.
type spool struct {
	memory bytes.Buffer
	file   *os.File
}

func (s *spool) Write(p []byte) (n int, err error) {
	if s.file == nil && s.memory.Len()+len(p) <= spoolMemory {
		return s.memory.Write(p)
	}
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "petstore-export-"); err != nil {
			return 0, noSpool(err)
		}
		os.Remove(s.file.Name()) // fails on Windows, which removes no open file
		if _, err := s.memory.WriteTo(s.file); err != nil {
			return 0, noSpool(err)
		}
	}
	if n, err = s.file.Write(p); err != nil {
		return n, noSpool(err)
	}
	return n, nil
}

// noSpool hides the cause's type, because explainWriteError would take its file for the export.
func noSpool(err error) error {
	return fmt.Errorf("there is no complete export, because its temporary file cannot be written; set TMPDIR to a folder with more space: %v", err)
}

// reader returns everything that was written. Nothing may be written afterwards.
func (s *spool) reader() (io.Reader, error) {
	if s.file == nil {
		return &s.memory, nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return s.file, err
}

// close removes the temporary file.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}
