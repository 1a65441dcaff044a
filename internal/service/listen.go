package service

import (
	"errors"
	"fmt"
	"net"
	"os"

	"petstore/internal/terminal"
)

// listen opens a port. Its errors name the flag that the address came from.
func listen(address, flag string) (*net.TCPListener, error) {
	listener, err := net.Listen("tcp", address)
	var syscallError *os.SyscallError
	switch {
	case err == nil:
		return listener.(*net.TCPListener), nil
	case errors.As(err, &syscallError):
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another %s, or stop the program that uses this one", address, syscallError.Err, flag)
	}
	return nil, wrongAddress(flag, address)
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

// localURL returns an address of the server that works on this machine.
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
