package server

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// turnAway makes the system drop new connections to a listener. It returns when all clients that already waited are
// accepted, or when ctx ends. A dropped client tries again a second later, and is refused once the listener is closed.
func turnAway(ctx context.Context, listener syscall.Conn) {
	door, err := listener.SyscallConn()
	if err != nil {
		return
	}
	dropAll := unix.SockFprog{Len: 1, Filter: &unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}}
	door.Control(func(fd uintptr) {
		unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &dropAll)
	})
	for someoneWaits(door) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

func someoneWaits(door syscall.RawConn) (waits bool) {
	door.Control(func(fd uintptr) {
		ready, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		waits = ready > 0
	})
	return waits
}
