//go:build !unix

package sqlite

import (
	"io/fs"
	"os"
)

// mayWrite reports whether this process may write to the file. It does not open the file.
func mayWrite(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o200 != 0
}

// hardLinks returns 1: on this system, petstore does not look for hard links.
func hardLinks(fs.FileInfo) uint64 { return 1 }
