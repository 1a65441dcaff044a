package server

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// Each case requests its answer three times on one connection. The length of the path determines how many headers the
// handler adds, so the test would notice a header in the wrong answer. The test sends the last two requests together.
func TestAddedHeadersAreSentOnceAndWithTheirAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line\r\n\r\n", 5000)
	for name, c := range map[string]struct {
		method  string
		answer  http.HandlerFunc
		status  int
		body    string
		headers http.Header // all headers except Date and the added headers
	}{
		"nothing": {"GET", func(http.ResponseWriter, *http.Request) {}, 200, "", http.Header{"Content-Length": {"0"}}},
		"a short body": {"GET", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "short") }, 200, "short",
			http.Header{"Content-Length": {"5"}, "Content-Type": {"text/plain; charset=utf-8"}}},
		"a long body": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			add(w, "Content-Length", fmt.Sprint(len(long)))
			add(w, "Content-Type", "text/long")
			io.WriteString(w, long)
		}, 200, long, http.Header{"Content-Length": {fmt.Sprint(len(long))}, "Content-Type": {"text/long"}}},
		"a body in parts": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			for _, part := range []string{"HTTP/1.1 200 OK\r\n", "\r\n", "end"} {
				io.WriteString(w, part)
				http.NewResponseController(w).Flush()
				add(w, "X-Late", "late")
			}
		}, 200, "HTTP/1.1 200 OK\r\n\r\nend", http.Header{"Content-Type": {"text/plain; charset=utf-8"}}},
		"no body for HEAD": {"HEAD", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "short") }, 200, "",
			http.Header{"Content-Length": {"5"}, "Content-Type": {"text/plain; charset=utf-8"}}},
		"no content":   {"DELETE", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 204, "", http.Header{}},
		"not modified": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, 304, "", http.Header{}},
		"a refusal":    {"GET", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 400) }, 400, "no\n", http.Header{"Content-Length": {"3"}, "Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}}},
		"a line break": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			add(w, "X-Broken", "a\nX-Evil: b")
			add(w, "X-Returned", "a\rX-Evil: b")
		}, 200, "", http.Header{"Content-Length": {"0"}, "X-Broken": {"a X-Evil: b"}, "X-Returned": {"a X-Evil: b"}}},
		"many headers": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Mapped", strings.Repeat("m", 9000)) }, 200, "",
			http.Header{"Content-Length": {"0"}, "X-Mapped": {strings.Repeat("m", 9000)}}},
		"a coding": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			add(w, "Transfer-Encoding", "chunked")
			io.WriteString(w, "short")
		}, 200, "short", http.Header{}},
		"a header each": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Mapped", "m") }, 200, "", http.Header{"Content-Length": {"0"}, "X-Mapped": {"m"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, _ := start(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for i := range len(r.URL.Path) - 1 {
					add(w, fmt.Sprintf("X-Added-%d", i), r.URL.Path)
				}
				c.answer(w, r)
			})})
			conn := dial(t, address)
			conn.SetDeadline(time.Now().Add(time.Minute))
			answers := bufio.NewReader(conn)
			for _, paths := range [][]string{{"/aaa"}, {"/", "/b"}} {
				for _, path := range paths {
					fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", c.method, path)
				}
				for _, path := range paths {
					want := maps.Clone(c.headers)
					for i := range len(path) - 1 {
						want[fmt.Sprintf("X-Added-%d", i)] = []string{path}
					}
					response, err := http.ReadResponse(answers, &http.Request{Method: c.method})
					noError(t, err)
					body, err := io.ReadAll(response.Body)
					delete(response.Header, "Date")
					if err != nil || response.StatusCode != c.status || string(body) != c.body || !maps.EqualFunc(response.Header, want, slices.Equal) {
						t.Errorf("%s: got %d %v %.100q, %v; want %d %v", path, response.StatusCode, response.Header, body, err, c.status, want)
					}
				}
			}
		})
	}
}

// add adds a header in the way the API does.
func add(w http.ResponseWriter, name, value string) {
	w.(interface{ AddHeader(name, value string) }).AddHeader(name, value)
}

// Interim answers have none of the headers of the final answer.
func TestAddedHeadersAreNotSentWithInterimAnswers(t *testing.T) {
	t.Parallel()
	address, _ := start(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		add(w, "X-Added", "early")
		w.Header().Set("X-Long", strings.Repeat("x", 9000)) // so long that net/http writes the answer in several pieces
		w.WriteHeader(http.StatusEarlyHints)
		io.Copy(w, r.Body)
	})})
	conn := dial(t, address)
	conn.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(conn, unfinishedRequest+"x")
	answers := bufio.NewReader(conn)
	for _, want := range []struct {
		status int
		added  string
	}{{103, ""}, {100, ""}, {200, "early"}} {
		response, err := http.ReadResponse(answers, nil)
		if err != nil || response.StatusCode != want.status || response.Header.Get("X-Added") != want.added {
			t.Fatalf("got %v, %v; want %+v", response, err, want)
		}
	}
}

// The server closes the connection after these answers. All bytes on the connection must be the same, whether a header is
// added or set through net/http. Only the place of the header differs.
func TestAddedHeadersMatchNetHTTPWhenTheConnectionEnds(t *testing.T) {
	t.Parallel()
	address, _ := start(t, &Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Map") != "" {
				w.Header().Set("X-Added", "a")
			} else {
				add(w, "X-Added", "a")
			}
			w.Header()["Date"] = nil
			if r.URL.Path != "/early" {
				io.WriteString(w, strings.Repeat("part\n", 2000))
			}
			if r.URL.Path != "/whole" {
				panic(http.ErrAbortHandler)
			}
		}),
		AnswerMalformed: func(_ string, status int, _ string) []byte { return fmt.Appendf(nil, "refused with %d", status) },
	})
	const whole = "GET /whole HTTP/1.1\r\nHost: x\r\n%s\r\n"
	for name, sends := range map[string]string{
		"aborted before its answer": "GET /early HTTP/1.1\r\nHost: x\r\n%s\r\n",
		"aborted within its answer": "GET /late HTTP/1.1\r\nHost: x\r\n%s\r\n",
		"aborted after an answer":   whole + "GET /early HTTP/1.1\r\nHost: x\r\n%s\r\n",
		"refused after an answer":   whole + "%s",
		"of HTTP/1.0":               "GET /whole HTTP/1.0\r\n%s\r\n",
		"of HTTP/1.0 that is kept":  "GET /whole HTTP/1.0\r\nConnection: keep-alive\r\n%s\r\n",
		"of a client that closes":   "GET /whole HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			added := testservice.SendRaw(t, address, strings.ReplaceAll(sends, "%s", "Add: 1\r\n"))
			mapped := testservice.SendRaw(t, address, strings.ReplaceAll(sends, "%s", "Map: 1\r\n"))
			const line = "X-Added: a\r\n"
			if strings.ReplaceAll(added, line, "") != strings.ReplaceAll(mapped, line, "") || strings.Count(added, line) != strings.Count(mapped, line) {
				t.Errorf("got\n%.300q\nwant\n%.300q", added, mapped)
			}
		})
	}
}
