//go:build !linux

package load

import "errors"

// Run needs epoll.
func Run(Job, func(Result)) (Result, error) {
	return Result{}, errors.New("the load needs Linux, because it waits with epoll")
}
