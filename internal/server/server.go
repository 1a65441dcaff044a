// Package server serves HTTP to clients within bounds. It limits connections and HTTP/2 requests, and closes quiet
// connections when it needs room. It makes deadlines and headers cheap. It rewords net/http's own refusals as the API does.
// It reloads the certificate. When it stops, it first finishes the requests that it has accepted.
//
// [Server.Serve] puts the parts together. Each part has a file. The listener in clients.go knows every connection. The file
// streams.go bounds the HTTP/2 requests, deadlines.go makes deadlines cheap, headers.go makes headers cheap, refusals.go
// recognizes the refusals of net/http, certificate.go reads the certificate, and acceptqueue_linux.go accepts queued
// connections before the listener closes.
package server

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
	"net/netip"
	"sync/atomic"
	"time"
)

// Bounds for one client, and for all clients together.
const (
	maxHeader     = 128 << 10
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	stallTimeout  = 10 * time.Second // the longest time to send the next byte of an HTTP/2 answer
	idleTimeout   = 2 * time.Minute
	maxConns      = 16384
	maxStreams    = 100 // the highest number of HTTP/2 requests on one connection
	streamBuffer  = 64 << 10
	connBuffer    = 128 << 10 // the highest number of unread bytes in all HTTP/2 requests on one connection
	reservedFiles = 64        // the number of open files that are not for clients but for storage, Redis and operators
)

// MaxWorking is how many requests a handler should work on at the same time. A request whose body is still arriving, or
// whose answer is being sent, does not count. Only the handler can tell which requests count, so the handler enforces this
// bound.
const MaxWorking = 1024

// MostConns returns how many connections a process should accept if it may open that many files.
func MostConns(files int) int { return max(1, min(maxConns, files-min(reservedFiles, files/2))) }

// MostStreams returns how many requests that last for long, such as streams of events, a handler should answer at the same
// time if the process may open that many files. The server cannot close their connections to make room, so a quarter of the
// connections is left for other clients.
func MostStreams(files int) int { return max(1, MostConns(files)*3/4) }

// Server serves HTTP, or HTTPS with HTTP/2, to clients that may be slow, many or hostile. Certificate, TrustedProxies and
// DrainDelay are optional.
type Server struct {
	Handler http.Handler
	// AnswerMalformed returns the complete HTTP/1 answer to bytes that net/http refuses before there is a request to handle.
	AnswerMalformed func(peer string, status int, message string) []byte
	// Certificate is for TLS. If it is nil, the server speaks plain HTTP.
	Certificate *Certificate
	// TrustedProxies are networks of proxies. The server never closes a connection from them to make room, because many
	// clients share that connection.
	TrustedProxies []netip.Prefix
	// MaxConns is how many connections may be open at the same time; see MostConns.
	MaxConns int
	// Draining becomes true when the server begins to stop.
	Draining *atomic.Bool
	// DrainDelay is how long the server keeps accepting connections after Draining becomes true. In this time, load
	// balancers notice that the server stops.
	DrainDelay time.Duration
	// ShutdownTimeout is how long requests may take to finish after the drain delay.
	ShutdownTimeout time.Duration
	Log             *slog.Logger
}

// ErrCutOff means that Serve cut off requests because they took longer than the shutdown timeout.
var ErrCutOff = errors.New("requests were cut off because they took longer than the shutdown timeout")

// Serve serves until ctx ends. Then it sets Draining and keeps serving for DrainDelay. After that it accepts no more
// connections, finishes the accepted requests, and closes the listener. It returns nil if all accepted requests were
// answered, and ErrCutOff otherwise.
func (s *Server) Serve(ctx context.Context, listener *net.TCPListener) error {
	clients := newClients(deadlineListener{listener, headerTimeout}, s.MaxConns, s.TrustedProxies, s.AnswerMalformed)
	server := NewHTTP(clients.limitRequests(withHeaderWriter(closeConnections(s.Handler, s.Draining))), s.Log)
	if s.Certificate != nil {
		enableTLS(server, s.Certificate, s.Log)
	}
	server.ConnState, server.ConnContext = clients.trackState, clients.connContext
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
		return fmt.Errorf("the server stopped unexpectedly: %w", err)
	case <-ctx.Done():
	}
	s.Log.Info("stopping")
	s.Draining.Store(true)
	draining := time.Now()
	time.Sleep(s.DrainDelay)
	deadline, cancel := context.WithTimeout(context.Background(), s.ShutdownTimeout)
	defer cancel()
	clients.stop(deadline)
	clients.drain(deadline, draining) // Shutdown alone would drop requests that are arriving at this moment
	time.AfterFunc(quietTimeout, func() { clients.Close() })
	<-ended // now the server has every accepted connection, even if the connection waited for room
	clients.drain(deadline, draining)
	if err := server.Shutdown(deadline); err != nil {
		server.Close()
		return ErrCutOff
	}
	s.Log.Info("stopped")
	return nil
}

// NewHTTP returns an http.Server with the bounds for one client, but without bounds for all clients together. Such a server
// is enough where all clients are trusted.
func NewHTTP(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      handler,
		MaxHeaderBytes:               maxHeader,
		ReadHeaderTimeout:            headerTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		DisableGeneralOptionsHandler: true, // makes the API answer OPTIONS * too
		ErrorLog:                     log.New(serverLog{logger}, "", 0),
	}
}

// enableTLS prepares a server for TLS and HTTP/2.
func enableTLS(server *http.Server, cert *Certificate, log *slog.Logger) {
	server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams:          maxStreams,
		MaxReceiveBufferPerStream:     streamBuffer,
		MaxReceiveBufferPerConnection: connBuffer,
		WriteByteTimeout:              stallTimeout, // WriteTimeout cannot end a stream if the client reads nothing
	}
	server.TLSConfig = &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert.current(log), nil },
	}
}

// serverLog logs the messages of net/http. Messages that concern operators become warnings and errors. Messages about the
// mistakes of clients are logged at debug level.
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

// closeConnections makes an answer close its connection if the request may be a smuggling attempt, or if the server is
// draining. Over HTTP/2, net/http turns the header Connection: close into GOAWAY.
func closeConnections(next http.Handler, draining *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if draining.Load() || maySmuggle(r) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// maySmuggle reports whether a proxy and this server may disagree on where a request ends. In that case, the same bytes
// would be this request's body to the one and another client's request to the other. The connection must therefore not be
// used again (request smuggling: RFC 9112, section 6.1). The two may disagree if a chunked request also has a length, or if
// an HTTP/1.0 request is chunked. Because net/http removes the header that would show this, maySmuggle returns true for
// every chunked request and every HTTP/1.0 request.
func maySmuggle(r *http.Request) bool {
	return r.ProtoMajor == 1 && (r.ProtoMinor == 0 || len(r.TransferEncoding) > 0)
}
