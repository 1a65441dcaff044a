package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/client"
)

// script is a transport that gives the answers in lines one after the other and then repeats the last. It records the
// requests.
type script struct {
	lines  []line
	before func() // called before each answer, unless nil
	mu     sync.Mutex
	asked  []asked
}

// line is one answer, or an error in place of an answer.
type line struct {
	status  int
	headers []string // lines of the form "Name: value"
	body    string
	err     error
	proxy   bool      // whether the answer comes from a proxy, which knows no limits
	hangs   bool      // whether the body never ends; without a status, whether the answer never begins
	reader  io.Reader // the body, if it is not a text
}

type asked struct {
	at                                              time.Time
	method, target, body, idempotencyKey, mediaType string
	accept, lastEventID                             string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	if s.before != nil {
		s.before()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[min(len(s.asked), len(s.lines)-1)]
	s.asked = append(s.asked, asked{time.Now(), r.Method, r.URL.RequestURI(), string(body), r.Header.Get("Idempotency-Key"),
		r.Header.Get("Content-Type"), r.Header.Get("Accept"), r.Header.Get("Last-Event-ID")})
	if l.err != nil {
		return nil, l.err
	}
	if l.hangs && l.status == 0 {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	res := l.response()
	if l.reader != nil {
		res.Body = io.NopCloser(l.reader)
	}
	if l.hangs {
		res.Body = io.NopCloser(io.MultiReader(res.Body, hangingReader{r.Context()}))
	}
	return res, nil
}

// hangingReader is a connection on which nothing comes until the request is cancelled.
type hangingReader struct{ context.Context }

func (h hangingReader) Read([]byte) (int, error) {
	<-h.Done()
	return 0, context.Cause(h)
}

func (l line) response() *http.Response {
	res := &http.Response{
		StatusCode: l.status,
		Status:     strconv.Itoa(l.status) + " " + http.StatusText(l.status),
		Header:     make(http.Header),
		Body:       io.NopCloser(strings.NewReader(l.body)),
	}
	for _, h := range append([]string{"X-RateLimit-Limit: 1000", "X-RateLimit-Remaining: 999"}, l.headers...) {
		name, value, _ := strings.Cut(h, ": ")
		res.Header.Set(name, value)
	}
	if l.proxy {
		for _, name := range []string{"Limit", "Remaining", "Reset"} {
			res.Header.Del("X-RateLimit-" + name)
		}
	} else if res.Header.Get("X-RateLimit-Reset") == "" {
		res.Header.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Minute).Truncate(time.Minute).Unix(), 10))
	}
	return res
}

// refusal returns an answer with an API error as its body.
func refusal(status int, code client.Code, headers ...string) line {
	return line{status: status, headers: headers, body: `{"code":"` + string(code) + `","message":"No.","status":` + strconv.Itoa(status) + `}`}
}

var (
	biscuit  = line{status: 200, body: `{"id":1,"name":"Biscuit","categoryId":1,"status":"available"}`}
	deleted  = line{status: 204}
	hangUp   = line{err: errors.New("the connection was reset")}
	noServer = line{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
)

func newClient(t *testing.T, server, key string, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(server, key, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// playing makes a client that gets its answers from the script.
func playing(t *testing.T, s *script, options ...client.Option) *client.Client {
	t.Helper()
	return newClient(t, "http://petstore.test", "secret", append([]client.Option{client.WithHTTPClient(&http.Client{Transport: s})}, options...)...)
}

// waits returns the times between the tries.
func (s *script) waits() (waits []time.Duration) {
	for i := 1; i < len(s.asked); i++ {
		waits = append(waits, s.asked[i].at.Sub(s.asked[i-1].at))
	}
	return waits
}
