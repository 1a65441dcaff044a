package service

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"petstore/internal/terminal"
)

// listen opens a port. Its errors name the flag that contains the address.
func listen(address, flag string) (*net.TCPListener, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener.(*net.TCPListener), nil
	}
	failed, isSyscall := errors.AsType[*os.SyscallError](err)
	if !isSyscall {
		return nil, wrongAddress(flag, address)
	}
	return nil, fmt.Errorf("cannot listen on %s: %w; %s", address, failed.Err, listenAdvice(failed.Err, flag))
}

// listenAdvice says what the operator can do about an error of the system.
func listenAdvice(err error, flag string) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "choose another " + flag + ", or stop the program that uses this one"
	case errors.Is(err, syscall.EACCES):
		return "a port below 1024 needs a right that this user lacks; choose a higher " + flag + ", or grant the right (on Linux CAP_NET_BIND_SERVICE)"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "choose another " + flag + "; this machine has no such address"
	}
	return "choose another " + flag
}

// checkAddress refuses text that is not an address to listen on.
func checkAddress(flag, address string) error {
	if _, err := net.ResolveTCPAddr("tcp", address); err != nil {
		return wrongAddress(flag, address)
	}
	return nil
}

func wrongAddress(flag, address string) error {
	return terminal.WrongUsage("%s is %q; it must be a port such as :8080 or an address such as 127.0.0.1:8080", flag, address)
}

// localURL returns a URL of the server that works on this machine.
func localURL(listener net.Listener, secure bool) string {
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	address := listener.Addr().(*net.TCPAddr)
	if address.IP.IsUnspecified() {
		return fmt.Sprintf("%slocalhost:%d", scheme, address.Port)
	}
	return scheme + address.String()
}
