//go:build !unix

package sqlite

import (
	"io/fs"
	"os"
)

// mayWrite asks without opening the file.
func mayWrite(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o200 != 0
}

// linksOf is how many names a file has, as far as can be told.
func linksOf(fs.FileInfo) uint64 { return 1 }
