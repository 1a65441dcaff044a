//go:build unix

package service

import (
	"math"
	"syscall"
)

// maxOpenFiles returns how many files, including connections, the system lets the process open.
func maxOpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
