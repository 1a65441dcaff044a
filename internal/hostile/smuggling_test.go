package hostile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// smuggledRequests sends requests whose end is ambiguous, each followed by another request. The server must refuse or
// answer the first request, and hang up. If the end is not ambiguous after all, the server answers both requests.
func smuggledRequests(t *testing.T, s *target) {
	pet := `{"name":"Rex","categoryId":1}`
	length := fmt.Sprintf("Content-Length: %d", len(pet))
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(pet), pet)
	hidden := "GET /smuggled HTTP/1.1\r\nHost: x\r\n" + closeHeader + "\r\n\r\n"
	post := func(lines ...string) string {
		return s.head("POST", "/v1/pets", append([]string{"Content-Type: application/json"}, lines...)...)
	}
	old := func(request string) string { return strings.Replace(request, "HTTP/1.1", "HTTP/1.0", 1) }
	for _, c := range []struct {
		name, sends string
		statuses    []int
	}{
		{"a length and chunks", post(length, "Transfer-Encoding: chunked") + chunked, []int{201}},
		{"chunks and a length", post("Transfer-Encoding: chunked", length) + chunked, []int{201}},
		{"a length that hides a request in the body, and chunks", post("Transfer-Encoding: chunked", "Content-Length: 4") + chunked, []int{201}},
		{"chunks over HTTP/1.0", old(post("Transfer-Encoding: chunked", "Connection: keep-alive")) + chunked, []int{400}},
		{"a length and chunks over HTTP/1.0", old(post(length, "Transfer-Encoding: chunked", "Connection: keep-alive")) + pet, []int{201}},
		{"two lengths", post(length, "Content-Length: 5") + pet, []int{400}},
		{"two lengths in one line", post(length+", 5") + pet, []int{400}},
		{"a length twice", post(length, length) + pet, []int{201, 404}},
		{"a length with a sign", post(strings.Replace(length, " ", " +", 1)) + pet, []int{400}},
		{"a negative length", post("Content-Length: -1") + pet, []int{400}},
		{"a length in hexadecimal", post(fmt.Sprintf("Content-Length: 0x%x", len(pet))) + pet, []int{400}},
		{"an empty length", post("Content-Length: ") + pet, []int{400}},
		{"an unknown coding", post("Transfer-Encoding: xchunked") + chunked, []int{501}},
		{"two codings", post("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + chunked, []int{501}},
		{"codings in one line", post("Transfer-Encoding: identity, chunked") + chunked, []int{501}},
		{"a coding behind a tab", post("Transfer-Encoding:\tchunked", length) + chunked, []int{201}},
		{"a space before the colon", post("Transfer-Encoding : chunked", length) + pet, []int{400}},
		{"a folded line", post("X-A: a\r\n Transfer-Encoding: chunked", length) + pet, []int{201, 404}},
		{"a folded coding", post("Transfer-Encoding:\r\n chunked", length) + chunked, []int{201}},
		{"a line without a colon", post("Transfer-Encoding", length) + pet, []int{400}},
		{"a null character in a name", post("Transfer-\x00Encoding: chunked", length) + pet, []int{400}},
		{"a bare carriage return", post("X-A: a\rTransfer-Encoding: chunked", length) + pet, []int{400}},
		{"bare line feeds", strings.ReplaceAll(post(length), "\r\n", "\n") + pet, []int{201, 404}},
		{"a chunk with an extension", post("Transfer-Encoding: chunked") + strings.Replace(chunked, "\r\n", ";a=b\r\n", 1), []int{201}},
		{"a chunk whose extension has a line feed", post("Transfer-Encoding: chunked") + strings.Replace(chunked, "\r\n", ";a\n", 1), []int{400}},
		{"a chunk of a huge size", post("Transfer-Encoding: chunked") + "ffffffffffffffff1\r\n" + pet, []int{400}},
		{"a chunk with a sign", post("Transfer-Encoding: chunked") + "+" + chunked, []int{400}},
		{"a chunk longer than it says", post("Transfer-Encoding: chunked") + "1\r\n" + pet + "\r\n0\r\n\r\n", []int{400}},
		{"a body of a GET", s.head("GET", "/v1/pets?limit=1", "Content-Length: "+fmt.Sprint(len(hidden))) + hidden, []int{200, 404}},
	} {
		statuses, closed := s.exchange(t, c.sends+hidden)
		if !slices.Equal(statuses, c.statuses) || !closed {
			t.Errorf("%s: the answers are %v and closed is %v, want %v", c.name, statuses, closed, c.statuses)
		}
	}
}
