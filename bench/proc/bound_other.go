//go:build !linux

package proc

import "syscall"

// Bind can do nothing here.
func Bind(*syscall.SysProcAttr) {}
