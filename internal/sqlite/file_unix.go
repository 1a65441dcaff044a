//go:build unix

package sqlite

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayWrite reports whether this process may write to the file. It does not open the file, because a process that closes a
// file releases all its locks on that file.
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// hardLinks returns the number of names (hard links) of a file.
func hardLinks(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Nlink) }
