//go:build unix

package service

import (
	"math"
	"syscall"
)

// openFiles is how many open files, including connections, the system allows the process.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
