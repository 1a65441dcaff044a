//go:build !linux

package load

import (
	"errors"
	"syscall"
)

// Bound can bind nothing here.
func Bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Run needs epoll.
func Run(Job, func(Result)) error {
	return errors.New("the load needs Linux, because it waits with epoll")
}
