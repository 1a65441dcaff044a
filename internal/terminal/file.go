package terminal

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes a file atomically. The file appears, or replaces an older file, only when write has succeeded. Only the
// owner of the file can read it.
func WriteFile(name string, write func(io.Writer) error) (err error) {
	part := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.part-%s", filepath.Base(name), rand.Text()))
	file, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(part)
		}
	}()
	if err := write(file); err != nil {
		return err
	}
	if err := cmp.Or(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(part, name)
}
