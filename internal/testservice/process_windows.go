package testservice

import (
	"errors"
	"syscall"
)

// Windows has no signals that suspend a process and resume it.
const (
	suspend = syscall.Signal(-1)
	resume  = syscall.Signal(-1)
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func unprivileged() (*syscall.SysProcAttr, error) {
	return nil, errors.New("tests do not start servers on Windows")
}

func changeOwner(string, *syscall.SysProcAttr) error { return nil }
