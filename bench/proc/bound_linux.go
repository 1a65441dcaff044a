package proc

import "syscall"

// Bind has a process end when the one that starts it does, however that ends.
func Bind(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
