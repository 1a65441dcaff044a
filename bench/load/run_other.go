//go:build !linux

package load

import (
	"errors"
	"syscall"
)

// EndWithParent does nothing, because only Linux can end a process with its parent.
func EndWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Run always fails, because it needs epoll, which only Linux has.
func Run(Job, func(Result)) error {
	return errors.New("the load needs Linux, because it waits with epoll")
}
