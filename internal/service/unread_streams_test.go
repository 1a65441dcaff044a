package service

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"petstore/internal/server"
	"petstore/internal/testservice"
)

// withTLS returns the arguments for TLS with a new certificate, and an HTTP client that trusts the certificate.
func withTLS(t *testing.T) (args []string, trusting *http.Client) {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: testservice.WriteCertificate(t, certFile, keyFile, 1)}}
	t.Cleanup(transport.CloseIdleConnections)
	return []string{"--tls-cert", certFile, "--tls-key", keyFile}, &http.Client{Timeout: time.Minute, Transport: transport}
}

// openStreams requests a path on many streams of one connection. The flow-control window of the connection is 0, so the
// server cannot send the bodies of the answers.
func openStreams(t *testing.T, address, path, key string, streams int) *http2.Framer {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	noError(t, err)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(conn, http2.ClientPreface)
	framer := http2.NewFramer(conn, conn)
	framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	var block bytes.Buffer
	header := hpack.NewEncoder(&block)
	for i := range streams {
		block.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "x"}, {":path", path}, {"authorization", "Bearer " + key}} {
			header.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		noError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}))
	}
	return framer
}

// awaitHeaders reads until every stream has received the headers of its answer or has been reset.
func awaitHeaders(t *testing.T, framer *http2.Framer, streams int) {
	t.Helper()
	seen := map[uint32]bool{}
	for len(seen) < streams {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("%d of %d streams have headers: %v", len(seen), streams, err)
		}
		switch frame.(type) {
		case *http2.RSTStreamFrame, *http2.HeadersFrame:
			seen[frame.Header().StreamID] = true
		}
	}
}

// awaitReset reads until the server resets a stream.
func awaitReset(t *testing.T, framer *http2.Framer) {
	t.Helper()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("no stream was reset, although the unread answers exceed the server's memory limit: %v", err)
		}
		if _, ok := frame.(*http2.RSTStreamFrame); ok {
			return
		}
	}
}

// The test opens more streams than the server handles at the same time. The streams request long answers, and the client
// reads none of the answers.
func TestUnreadStreamsDoNotBlockOtherClients(t *testing.T) {
	t.Parallel()
	args, trusting := withTLS(t)
	s := testservice.Serve(t, args...)
	do := func(method, path, body string, status int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		noError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.Key)
		response, err := trusting.Do(r)
		noError(t, err)
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
	const maxStreams = 100 // the limit of streams on one connection
	var framers []*http2.Framer
	for streams := 0; streams < server.MaxWorking+maxStreams; streams += maxStreams {
		framer := openStreams(t, strings.TrimPrefix(s.URL, "https://"), longPage, s.Key, maxStreams)
		framers = append(framers, framer)
		awaitHeaders(t, framer, maxStreams)
		do("GET", longPage, "", http.StatusOK)
		do("POST", "/v1/pets", pet, http.StatusCreated)
	}
	awaitReset(t, framers[len(framers)/2]) // not the oldest connection, which may have timed out
}
