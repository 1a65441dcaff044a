//go:build unix

package main

import (
	"math"
	"syscall"
)

// openFiles is how many files, connections among them, the system lets the process have open.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
