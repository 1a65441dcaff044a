package testservice

import (
	"errors"
	"syscall"
)

// Windows cannot stop a process for a while.
const (
	suspend = syscall.Signal(-1)
	resume  = syscall.Signal(-1)
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func unprivileged() (*syscall.SysProcAttr, error) {
	return nil, errors.New("tests do not start servers on Windows")
}

func give(string, *syscall.SysProcAttr) error { return nil }
