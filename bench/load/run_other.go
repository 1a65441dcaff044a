//go:build !linux

package load

import (
	"errors"
	"syscall"
)

// Bind can do nothing here.
func Bind(*syscall.SysProcAttr) {}

// Run needs epoll.
func Run(Job, func(Result)) (Result, error) {
	return Result{}, errors.New("the load needs Linux, because it waits with epoll")
}
