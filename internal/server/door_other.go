//go:build !linux

package server

import (
	"context"
	"syscall"
)

// turnAway does nothing where the system cannot tell which clients wait.
func turnAway(context.Context, syscall.Conn) {}
