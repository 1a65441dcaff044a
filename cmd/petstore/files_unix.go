//go:build unix

package main

import (
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFiles is how many files, connections among them, the system lets the process have open.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}

// hasWindow tells a terminal from other devices, such as /dev/null.
func hasWindow(device *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(device.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
