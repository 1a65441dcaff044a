//go:build !linux

package server

import (
	"context"
	"syscall"
)

// drainAcceptQueue does nothing, because only Linux can filter the accept queue.
func drainAcceptQueue(context.Context, syscall.Conn) {}
