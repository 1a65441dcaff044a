//go:build unix

package sqlite

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayWrite reports whether this process may write to the file. It does not open the file: closing it again would release
// every lock that this process has on it.
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// linksOf is how many names a file has.
func linksOf(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Nlink) }
