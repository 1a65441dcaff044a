package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"petstore/internal/testservice"
)

// certified returns the arguments for TLS with a new certificate, and a client that trusts it.
func certified(t *testing.T) (args []string, trusting *http.Client) {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: testservice.WriteCertificate(t, certFile, keyFile, 1)}}
	t.Cleanup(transport.CloseIdleConnections)
	return []string{"--tls-cert", certFile, "--tls-key", keyFile}, &http.Client{Timeout: time.Minute, Transport: transport}
}

// openStreams requests a path on many streams of one connection. Each answer has a flow-control window of that size.
func openStreams(t *testing.T, address, path, key string, streams int, room uint32) (net.Conn, *http2.Framer) {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(conn, http2.ClientPreface)
	framer := http2.NewFramer(conn, conn)
	framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: room})
	if room > 0 {
		framer.WriteWindowUpdate(0, room-65535)
	}
	var block bytes.Buffer
	header := hpack.NewEncoder(&block)
	for i := range streams {
		block.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "x"}, {":path", path}, {"authorization", "Bearer " + key}} {
			header.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}); err != nil {
			t.Fatal(err)
		}
	}
	return conn, framer
}

// begun reads until every stream has the headers of its answer or was cut off.
func begun(t *testing.T, framer *http2.Framer, streams int) {
	t.Helper()
	seen := map[uint32]bool{}
	for len(seen) < streams {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("%d of %d answers began: %v", len(seen), streams, err)
		}
		switch frame.(type) {
		case *http2.RSTStreamFrame, *http2.HeadersFrame:
			seen[frame.Header().StreamID] = true
		}
	}
}

// cutOff reads until a stream is cut off.
func cutOff(t *testing.T, framer *http2.Framer) {
	t.Helper()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("no answer was cut off, though they have more bytes than are kept: %v", err)
		}
		if _, ok := frame.(*http2.RSTStreamFrame); ok {
			return
		}
	}
}

// There are more streams than working slots. They ask for long answers and give them no window.
func TestStreamsThatAreNotReadTakeNoPlaceFromOthers(t *testing.T) {
	t.Parallel()
	args, trusting := certified(t)
	s := startServer(t, args...)
	do := func(method, path, body string, status int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.Key)
		response, err := trusting.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != status {
			t.Fatalf("%s %s: %s, %v, %.300s", method, path, response.Status, err, text)
		}
	}
	pet := `{"name":"` + strings.Repeat("<", 1000) + `","categoryId":1}`
	for range 100 {
		do("POST", "/v1/pets", pet, http.StatusCreated)
	}
	const longPage = "/v1/pets?limit=100"
	var framers []*http2.Framer
	for streams := 0; streams < maxWorking+maxStreams; streams += maxStreams {
		_, framer := openStreams(t, strings.TrimPrefix(s.URL, "https://"), longPage, s.Key, maxStreams, 0)
		framers = append(framers, framer)
		begun(t, framer, maxStreams)
		do("GET", longPage, "", http.StatusOK)
		do("POST", "/v1/pets", pet, http.StatusCreated)
	}
	cutOff(t, framers[len(framers)/2]) // the oldest connections may have timed out
}

// If the client reads nothing, the server cannot tell it that a stream has ended.
func TestAnHTTP2ClientThatTakesNothingIsSentAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	testservice.WriteCertificate(t, certFile, keyFile, 1)
	cert, err := newCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				ended <- err
				return
			}
		}
	}), cert, slog.New(slog.DiscardHandler))
	server.WriteTimeout /= 100
	server.HTTP2.WriteByteTimeout /= 100
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.ServeTLS(thriftyListener{listener.(*net.TCPListener), headerTimeout / 100}, "", "")
	t.Cleanup(func() { server.Close() })
	openStreams(t, listener.Addr().String(), "/", "", 1, math.MaxInt32)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the answer waits without end")
	}
}
