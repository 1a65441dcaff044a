package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// The bounds for one client, and for all clients together.
const (
	maxHeader     = 128 << 10
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	stallTimeout  = 10 * time.Second // how long the next byte of an HTTP/2 answer may take
	idleTimeout   = 2 * time.Minute
	maxWorking    = 1024
	maxConns      = 16384
	maxStreams    = 100 // on one connection
	streamBuffer  = 64 << 10
	connBuffer    = 128 << 10 // bytes that have arrived but are not read yet, of all streams of a connection
	ownFiles      = 64        // open files that are not connections of clients: those of the store, Redis and operators
)

// mostConns is how many connections fit into the files that may be open.
func mostConns(files int) int { return max(1, min(maxConns, files-min(ownFiles, files/2))) }

// gcPercent lets the heap grow further than Go's default before it is collected: the heap is small, and most of it is the
// garbage of requests. GOGC in the environment wins.
const gcPercent = 400

func listen(address, flag string) (*net.TCPListener, error) {
	listener, err := net.Listen("tcp", address)
	var syscallError *os.SyscallError
	switch {
	case err == nil:
		return listener.(*net.TCPListener), nil
	case errors.As(err, &syscallError):
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another %s or stop the program that uses it", address, syscallError.Err, flag)
	}
	return nil, wrongAddress(flag, address)
}

// checkAddress refuses a text that cannot be an address to listen on.
func checkAddress(flag, address string) error {
	if _, err := net.ResolveTCPAddr("tcp", address); err != nil {
		return wrongAddress(flag, address)
	}
	return nil
}

func wrongAddress(flag, address string) error {
	return wrongUsage("%s is %q; it may be a port such as :8080 or an address such as 127.0.0.1:8080", flag, address)
}

// publicURL is an address of the server that works on this machine.
func publicURL(listener net.Listener, secure bool) string {
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

func newServer(handler http.Handler, cert *certificate, logger *slog.Logger) *http.Server {
	server := &http.Server{
		Handler:                      handler,
		MaxHeaderBytes:               maxHeader,
		ReadHeaderTimeout:            headerTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		DisableGeneralOptionsHandler: true, // the API answers OPTIONS * too
		ErrorLog:                     log.New(serverLog{logger}, "", 0),
	}
	if cert != nil {
		server.HTTP2 = &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerStream:     streamBuffer,
			MaxReceiveBufferPerConnection: connBuffer,
			WriteByteTimeout:              stallTimeout, // WriteTimeout cannot end a stream if the client reads nothing
		}
		server.TLSConfig = &tls.Config{
			MinVersion:     tls.VersionTLS12,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert.current(logger), nil },
		}
	}
	return server
}

// serverLog logs the messages of net/http: those that operators must know as warnings and errors, and the noise that
// clients cause at debug level.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	switch {
	case bytes.HasPrefix(line, []byte("http: Accept error")):
		level = slog.LevelWarn
	case bytes.HasPrefix(line, []byte("http: panic")):
		level = slog.LevelError
	}
	l.log.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}

// closing makes an answer close its connection if a proxy may disagree on where the request ends. While the server
// drains, every answer closes its connection. Over HTTP/2, net/http turns the header into GOAWAY.
func closing(next http.Handler, draining *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if draining.Load() || endsInDoubt(r) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// endsInDoubt reports whether a proxy and this server may disagree on where a request ends. Then one of them takes the same
// bytes for this request's body, and the other for another client's request, so the connection must not be used again
// (RFC 9112, section 6.1). They may disagree if a chunked request also has a length, or if an HTTP/1.0 request is chunked.
// net/http removes the header that would show this, so all chunked requests and all HTTP/1.0 requests count.
func endsInDoubt(r *http.Request) bool {
	return r.ProtoMajor == 1 && (r.ProtoMinor == 0 || len(r.TransferEncoding) > 0)
}

// serveUntil serves until ctx ends. Then it reports unready and keeps serving for the drain delay, so that load balancers
// turn away. After that it accepts no more connections and finishes the accepted requests.
func (c *serveCmd) serveUntil(ctx context.Context, server *http.Server, clients *clients, health *health, log *slog.Logger) error {
	server.ConnState, server.ConnContext = clients.note, clients.context
	ended := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			ended <- server.ServeTLS(clients, "", "")
		} else {
			ended <- server.Serve(clients)
		}
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("the server stopped by itself: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping")
	health.draining.Store(true)
	draining := time.Now()
	time.Sleep(c.DrainDelay)
	deadline, cancel := context.WithTimeout(context.Background(), c.ShutdownTimeout)
	defer cancel()
	clients.stop(deadline)
	<-ended                            // the server now has all accepted connections
	clients.finish(deadline, draining) // Shutdown alone would drop requests that are just arriving
	if err := server.Shutdown(deadline); err != nil {
		server.Close()
		return fmt.Errorf("requests were cut off because they took longer than --shutdown-timeout %s", c.ShutdownTimeout)
	}
	log.Info("stopped")
	return nil
}
