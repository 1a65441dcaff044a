//go:build unix

package main

import (
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFiles is how many open files, including connections, the system allows the process.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}

// hasWindow says whether a device is a terminal, unlike /dev/null.
func hasWindow(device *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(device.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
