package service

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/contract"
	"petstore/internal/database"
	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
	"petstore/internal/server"
	"petstore/internal/sqlite"
	"petstore/internal/testservice"
)

// fuzzKey is the key that the seeds use.
const fuzzKey = "a-key-that-seeds-know"

// FuzzConnection sends any bytes to a server that is built as the command serve builds it. Each request among the bytes must
// get one answer, in order, until the server hangs up. Bytes that are not a request must get the server's refusal or no
// answer. Every answer must conform to the OpenAPI document.
func FuzzConnection(f *testing.F) {
	for _, c := range testservice.NotHTTP[:7] {
		f.Add([]byte(c.Sends))
	}
	const head = " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + fuzzKey + "\r\n"
	for _, seed := range []string{
		"GET /v1/pets?limit=2" + head + "\r\nGET /v1/pets/1" + head + "\r\nHEAD /v1/inventory" + head + "\r\n",
		"POST /v1/pets" + head + "Content-Length: 29\r\n\r\n{\"name\":\"Rex\",\"categoryId\":1}DELETE /v1/pets/1" + head + "Connection: close\r\n\r\n",
		"POST /v1/orders" + head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"pet\r\n7;x=y\r\nId\":1}\r\n0\r\nTrailer: a\r\n\r\nOPTIONS *" + head + "\r\n",
		"PUT /v1/categories/7" + head + "Expect: 100-continue\r\nContent-Length: 14\r\n\r\n{\"name\":\"Dog\"}GET / HTTP/1.0\r\n\r\n",
		"PATCH /v1/pets/1" + head + "Content-Length: 100\r\n\r\n{\"status\":\"so",
		"OPTIONS /v1/pets HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\nAccess-Control-Request-Method: POST\r\n\r\nGET /docs HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\nTRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"GET http://y/v1/pets" + head + "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n\r\n\r\nGET /v1/orders" + head + "\r\n",
		"GET /docs" + head + "Range: bytes=9999999-\r\n\r\nHEAD /" + head + "If-None-Match: *\r\n\r\n",
		"HEAD /v1/pets" + head + "Content-Length: 50\r\n\r\nless",
		"GET /v1/pets" + head + "Host: y\r\n\r\n\x16\x03\x01\x02\x00",
	} {
		f.Add([]byte(seed))
	}
	address := serveFuzzed(f)
	f.Fuzz(func(t *testing.T, sent []byte) {
		if len(sent) > 16<<10 {
			return // other tests send long requests
		}
		c := dialFuzzed(t, address)
		defer c.Close()
		if _, err := c.Write(sent); err != nil {
			t.Fatal(err)
		}
		requests, rest := completeRequests(sent)
		for _, request := range requests {
			if c.expectAnswer(request) {
				rest = nil
				break
			}
		}
		c.CloseWrite()
		c.expectEnd(rest)
	})
}

// serveFuzzed starts a server that is built as the command serve builds it, with a known key and no rate limits. It returns
// the address of the server.
func serveFuzzed(f *testing.F) (address string) {
	db, err := sqlite.Open(f.Context(), sqlite.Config{Path: filepath.Join(f.TempDir(), "pets.db"), Environment: petstore.Production, Create: true, Serve: true})
	noError(f, err)
	f.Cleanup(func() { db.Close() })
	key := petstore.NewKey("fuzz", petstore.Enterprise, petstore.FirstKeyLimits, time.Now(), petstore.Forever)
	noError(f, db.EnsureKey(f.Context(), key, petstore.HashSecret(fuzzKey)))
	log := slog.New(slog.DiscardHandler)
	health := &health{storage: db, log: log}
	config := (&Serve{Flags: database.Flags{Environment: petstore.Production}, APIKey: fuzzKey, RateLimits: "off", BodyBudget: 64 << 20}).config(settings{})
	config.Storage, config.Limiter, config.Probes = db, ratelimit.NewMemory(time.Now), probes(health)
	config.Log, config.Metrics = log, prometheus.NewRegistry()
	api := httpapi.New(config)
	listener, err := listen("127.0.0.1:0", "--listen")
	noError(f, err)
	clients := &server.Server{Handler: api, AnswerMalformed: api.AnswerMalformed, MaxConns: server.MostConns(maxOpenFiles()), Draining: &health.draining, Log: log}
	ctx, ended := f.Context(), make(chan error)
	go func() { ended <- clients.Serve(ctx, listener) }()
	f.Cleanup(func() { <-ended })
	return listener.Addr().String()
}

// completeRequests returns the requests that net/http finds in the sent bytes, each with its body. The result rest has the
// bytes after the last complete request.
func completeRequests(sent []byte) (requests []string, rest []byte) {
	source := bytes.NewReader(sent)
	reader := bufio.NewReader(source)
	for method := ""; ; {
		if method == "POST" { // after a POST, net/http accepts a few empty lines
			few, _ := reader.Peek(4)
			reader.Discard(len(few) - len(bytes.TrimLeft(few, "\r\n")))
		}
		start := len(sent) - source.Len() - reader.Buffered()
		r, err := http.ReadRequest(reader)
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
		}
		if err != nil {
			return requests, sent[start:]
		}
		method = r.Method
		requests = append(requests, string(sent[start:len(sent)-source.Len()-reader.Buffered()]))
	}
}

// fuzzedConn is a client's end of a connection.
type fuzzedConn struct {
	*net.TCPConn
	t      *testing.T
	raw    bytes.Buffer // all bytes that have arrived
	reader *bufio.Reader
}

func dialFuzzed(t *testing.T, address string) *fuzzedConn {
	conn, err := net.Dial("tcp", address)
	noError(t, err)
	conn.SetDeadline(time.Now().Add(time.Minute)) // the server must answer or hang up before this time
	c := &fuzzedConn{TCPConn: conn.(*net.TCPConn), t: t}
	c.reader = bufio.NewReader(io.TeeReader(conn, &c.raw))
	return c
}

// expectAnswer reads the answer to a request, and reports whether the server hangs up after the answer.
func (c *fuzzedConn) expectAnswer(request string) (closed bool) {
	c.t.Helper()
	method, _, _ := strings.Cut(request, " ")
	start := c.raw.Len() - c.reader.Buffered()
	response, err := http.ReadResponse(c.reader, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("%q has no answer: %v, %q", request, err, c.raw.Bytes()[start:])
	}
	body, err := io.ReadAll(response.Body)
	if method == http.MethodHead && response.Close { // the HTTP server's own refusals have a body even for HEAD
		body, err = io.ReadAll(c.reader)
	}
	raw := string(c.raw.Bytes()[start : c.raw.Len()-c.reader.Buffered()])
	if !isEnd(err) {
		c.t.Fatalf("%q has an incomplete answer: %v, %q", request, err, raw)
	}
	if response.StatusCode == http.StatusContinue {
		return c.expectAnswer(request)
	}
	if response.StatusCode == http.StatusInternalServerError {
		c.t.Fatalf("%q breaks the service: %s", request, raw)
	}
	if bytes.Contains(body, []byte(`"code":"bad_request"`)) { // the HTTP server refused the request, so no operation matches
		if !response.Close {
			c.t.Fatalf("%q is refused by the server, which does not hang up: %s", request, raw)
		}
		request = "GET /none HTTP/1.1\r\nHost: x\r\n\r\n"
	}
	if err := contract.Check(request, contract.Answer{Raw: raw, Status: response.StatusCode, Header: response.Header, Body: string(body)}); err != nil {
		c.t.Fatalf("%q: %v", request, err)
	}
	return response.Close
}

// expectEnd reads what the server sends after the answers to complete requests. The server may send at most one more answer,
// and must then close the connection.
func (c *fuzzedConn) expectEnd(rest []byte) {
	c.t.Helper()
	if _, err := c.reader.Peek(1); err != nil {
		if !isEnd(err) {
			c.t.Fatalf("the server does not hang up: %v", err)
		}
		return
	}
	if len(rest) == 0 {
		c.t.Fatal("there is an answer without a request")
	}
	c.expectAnswer(headOf(rest))
	if more, err := io.ReadAll(c.reader); len(more) > 0 || !isEnd(err) {
		c.t.Fatalf("after the last answer comes %q, %v", more, err)
	}
}

// headOf returns the request at the beginning of rest, without its body. If rest does not begin with a request, headOf
// returns a request that belongs to no operation.
func headOf(rest []byte) string {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(rest)))
	if err != nil {
		return "GET /none HTTP/1.1\r\nHost: x\r\n\r\n"
	}
	r.Header.Del("Content-Length")
	var head strings.Builder
	r.Header.Write(&head)
	return r.Method + " " + r.RequestURI + " HTTP/1.1\r\nHost: x\r\n" + head.String() + "\r\n"
}

// isEnd reports whether err means that the server has hung up. If the server hangs up before it has read all bytes, the
// connection is reset.
func isEnd(err error) bool {
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}
