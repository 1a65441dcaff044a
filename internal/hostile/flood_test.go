package hostile

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The type want lists the statuses that the server may answer with.
type want []int

// expect sends a text the given number of times, on up to four connections at the same time. It fails the test if the
// server answers with a status that is not allowed. The server may also hang up without an answer while the client is still
// sending.
func (s *target) expect(t *testing.T, name, text string, times int, allowed want) {
	t.Helper()
	var senders sync.WaitGroup
	for range min(times, 4) {
		senders.Go(func() {
			for range (times + 3) / 4 {
				statuses, _ := s.exchange(t, text)
				for _, status := range statuses {
					if !slices.Contains(allowed, status) {
						t.Errorf("%s: answered %d, want one of %v", name, status, allowed)
						return
					}
				}
			}
		})
	}
	senders.Wait()
}

// closeHeader asks the server to close the connection after the request.
const closeHeader = "Connection: close"

// The attack pipelined sends many requests before it reads any answer. The server must answer all of them, in order.
func pipelined(t *testing.T, s *target) {
	requests := strings.Repeat(s.head("GET", "/v1/inventory")+s.head("GET", "/nothing"), 200) + s.head("GET", "/v1/inventory", closeHeader)
	for range scaled(5) {
		statuses, closed := s.exchange(t, requests)
		if len(statuses) != 401 || !closed {
			t.Fatalf("401 requests in a row get %d answers, closed %v", len(statuses), closed)
		}
		for i, status := range statuses {
			if status != []int{200, 404}[i%2] {
				t.Fatalf("answer %d is %d", i, status)
			}
		}
	}
}

// manyHeaders sends requests with as many headers as the server accepts, and one request with more.
func manyHeaders(t *testing.T, s *target) {
	var fit strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&fit, "X%d:\r\n", i)
	}
	s.expect(t, "ten thousand names", s.head("GET", "/v1/inventory", strings.TrimSuffix(fit.String(), "\r\n"), closeHeader), repeats(), want{200})
	s.expect(t, "one name ten thousand times", s.head("GET", "/v1/inventory", strings.Repeat("X:\r\n", 10_000)+closeHeader), repeats(), want{200})
	s.expect(t, "a million headers", s.head("GET", "/v1/inventory", strings.Repeat("X:\r\n", 1_000_000)+closeHeader), repeats(), want{431})
}

// hugeHeaders sends request lines and headers that are too long.
func hugeHeaders(t *testing.T, s *target) {
	huge := strings.Repeat("a", 4<<20)
	for name, text := range map[string]string{
		"a huge value":   s.head("GET", "/v1/inventory", "X: "+huge),
		"a huge name":    s.head("GET", "/v1/inventory", huge+": x"),
		"a huge key":     strings.Replace(s.head("GET", "/v1/inventory"), key, huge, 1),
		"a huge path":    s.head("GET", "/"+huge),
		"a huge method":  s.head(huge, "/"),
		"a huge version": strings.Replace(s.head("GET", "/"), "HTTP/1.1", "HTTP/"+huge, 1),
		"a huge cookie":  s.head("GET", "/v1/inventory", "Cookie: "+huge),
	} {
		s.expect(t, name, text, repeats(), want{431, 400})
	}
}

// hugeQueries sends long paths and many parameters that the server still accepts.
func hugeQueries(t *testing.T, s *target) {
	for name, query := range map[string]string{
		"many parameters":     strings.Repeat("a&", 50_000),
		"one many times":      strings.Repeat("limit=1&", 12_000),
		"percent signs":       strings.Repeat("%25", 30_000),
		"broken encoding":     strings.Repeat("%zz&", 20_000),
		"a long cursor":       "after=" + strings.Repeat("9", 100_000),
		"slashes and dots":    "/../" + strings.Repeat("../", 30_000),
		"semicolons and nuls": strings.Repeat(";%00", 20_000),
	} {
		s.expect(t, name, s.head("GET", "/v1/pets?"+query, closeHeader), repeats(), want{200, 400})
		s.expect(t, name+" in the path", s.head("GET", "/v1/pets/"+query, closeHeader), repeats(), want{400, 404})
	}
}

// chunkFloods sends chunked bodies that are mostly overhead or too long.
func chunkFloods(t *testing.T, s *target) {
	post := s.head("POST", "/v1/pets", "Transfer-Encoding: chunked")
	extension := ";" + strings.Repeat("a", 4000)
	for name, text := range map[string]string{
		"chunks of one byte":          strings.Repeat("1\r\n \r\n", 300_000) + "0\r\n\r\n",
		"chunks with leading zeros":   strings.Repeat("0000000000000001\r\n \r\n", 100_000) + "0\r\n\r\n",
		"chunks with long extensions": strings.Repeat("1"+extension+"\r\n \r\n", 1000) + "0\r\n\r\n",
		"an extension without end":    "1;" + strings.Repeat("a", 4<<20),
		"a chunk of many megabytes":   "400000\r\n" + strings.Repeat(" ", 4<<20) + "\r\n0\r\n\r\n",
		"trailers without end":        "0\r\n" + strings.Repeat("X: y\r\n", 500_000),
	} {
		s.expect(t, name, post+text, repeats(), want{400, 413})
	}
}
