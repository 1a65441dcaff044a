//go:build !unix

package sqlite

import "os"

// mayWrite asks without opening the file.
func mayWrite(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o200 != 0
}
