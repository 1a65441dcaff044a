package server

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// drainAcceptQueue makes the system drop new connections to a listener. It returns when all connections in the accept queue
// are accepted, or when ctx ends. A dropped client tries again a second later, and the system refuses it once the listener
// is closed.
func drainAcceptQueue(ctx context.Context, listener syscall.Conn) {
	raw, err := listener.SyscallConn()
	if err != nil {
		return
	}
	dropAll := unix.SockFprog{Len: 1, Filter: &unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}}
	raw.Control(func(fd uintptr) {
		unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &dropAll)
	})
	for hasQueuedClients(raw) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

func hasQueuedClients(listener syscall.RawConn) (queued bool) {
	listener.Control(func(fd uintptr) {
		ready, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		queued = ready > 0
	})
	return queued
}
