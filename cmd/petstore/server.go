package main

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"
)

// What one client, and all of them together, may ask of the server.
const (
	maxHeader     = 128 << 10
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	stallTimeout  = 10 * time.Second // for one byte, over HTTP/2
	idleTimeout   = 2 * time.Minute
	maxWorking    = 1024
	maxConns      = 16384
	maxStreams    = 100 // of one connection
	streamBuffer  = 64 << 10
	connBuffer    = 128 << 10 // of all its streams, for what has arrived and is not read yet
)

// gcPercent lets the heap grow further before it is collected than Go does by itself: it is small, and most of it is the
// garbage of requests. The environment's GOGC wins.
const gcPercent = 400

func newServer(handler http.Handler, cert *certificate, log *slog.Logger) *http.Server {
	server := &http.Server{
		Handler:                      handler,
		MaxHeaderBytes:               maxHeader,
		ReadHeaderTimeout:            headerTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		DisableGeneralOptionsHandler: true, // OPTIONS * too is answered by the API
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if cert != nil {
		server.HTTP2 = &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerStream:     streamBuffer,
			MaxReceiveBufferPerConnection: connBuffer,
			WriteByteTimeout:              stallTimeout, // WriteTimeout cannot end a stream whose connection takes nothing
		}
		server.TLSConfig = &tls.Config{
			MinVersion:     tls.VersionTLS12,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return cert.current(log), nil },
		}
	}
	return server
}
