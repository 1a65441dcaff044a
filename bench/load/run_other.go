//go:build !linux

package load

import (
	"errors"
	"syscall"
)

// Bind can do nothing here.
func Bind(*syscall.SysProcAttr) {}

// Run needs epoll.
func Run(Job, func(Result)) error {
	return errors.New("the load needs Linux, because it waits with epoll")
}
