//go:build !linux

package load

import (
	"errors"
	"syscall"
)

// EndWithParent has no effect, because only Linux offers this.
func EndWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Run fails, because it needs epoll.
func Run(Job, func(Result)) error {
	return errors.New("the load needs Linux, because it waits with epoll")
}
