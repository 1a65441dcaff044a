//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// mayWrite asks without opening the file: to close it again would let go of every lock this process has on it.
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }
