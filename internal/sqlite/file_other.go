//go:build !unix

package sqlite

import (
	"io/fs"
	"os"
)

// mayWrite reports whether this process may write to the file, without opening it.
func mayWrite(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o200 != 0
}

// linksOf is how many names a file has. Here it is always 1, because the file system is not asked.
func linksOf(fs.FileInfo) uint64 { return 1 }
