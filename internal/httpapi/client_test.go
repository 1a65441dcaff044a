package httpapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// get sends a GET request with that key.
func (s *service) get(key, target string, headers ...string) *answer {
	s.Helper()
	return s.send(request("GET", target, key, headers...))
}

// post sends a POST request to /v1/pets with that key.
func (s *service) post(key, body string, headers ...string) *answer {
	s.Helper()
	return s.send(withBody(request("POST", "/v1/pets", key, headers...), body))
}

// request returns the request line and the headers of a request. An empty key means no Authorization header.
func request(method, target, key string, headers ...string) string {
	lines := []string{method + " " + target + " HTTP/1.1", "Host: petstore.test"}
	if key != "" {
		lines = append(lines, "Authorization: Bearer "+key)
	}
	return strings.Join(append(lines, headers...), "\r\n") + "\r\n\r\n"
}

// withBody adds a body and its length to the head of a request. It adds the media type for JSON unless the head already
// names a media type.
func withBody(head, body string) string {
	head = strings.TrimSuffix(head, "\r\n")
	if !strings.Contains(head, "\r\nContent-Type:") {
		head += "Content-Type: application/json\r\n"
	}
	return head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
}

// answer is a complete HTTP answer.
type answer struct {
	raw    string
	status int
	header http.Header
	body   string
}

// send sends a request unchanged and reads the answer. It fails the test if the answer differs from the OpenAPI document, or
// if the server sends anything after the answer.
func (s *service) send(raw string) *answer {
	s.Helper()
	a, err := s.try(raw)
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// try does the same as send, but returns an error instead of failing the test. Goroutines use try, because a goroutine must
// not end the test.
func (s *service) try(raw string) (*answer, error) {
	a, err := roundTrip(s.address, raw)
	if err == nil {
		err = checkDocument(raw, a)
	}
	if err != nil {
		return nil, fmt.Errorf("%.300s\n%w", raw, err)
	}
	return a, nil
}

func roundTrip(address, raw string) (*answer, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, raw); err != nil {
		return nil, fmt.Errorf("the server does not read the request: %w", err)
	}
	method, _, _ := strings.Cut(raw, " ")
	return readAnswer(conn.(*net.TCPConn), method)
}

// readAnswer reads one answer. It returns an error if the server sends anything after the answer.
func readAnswer(conn *net.TCPConn, method string) (*answer, error) {
	var raw bytes.Buffer
	reader := bufio.NewReader(io.TeeReader(conn, &raw))
	response, err := http.ReadResponse(reader, &http.Request{Method: method})
	if err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w\n%s", err, raw.String())
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("the answer's body cannot be read: %w\n%s", err, raw.String())
	}
	conn.CloseWrite()
	if rest, _ := io.ReadAll(reader); len(rest) > 0 {
		return nil, fmt.Errorf("after the answer comes %.200q", rest)
	}
	return &answer{raw: raw.String(), status: response.StatusCode, header: response.Header, body: string(body)}, nil
}

// refusal returns the code and the message of an API error. Both are empty if the answer is not an API error.
func (a *answer) refusal() (code string, message string) {
	var e struct {
		Code    string
		Message string
	}
	json.Unmarshal([]byte(a.body), &e)
	return e.Code, e.Message
}

// is fails the test unless the answer has that status and that code. The code "" means that the answer must not be an API
// error.
func (a *answer) is(t testing.TB, status int, code string) {
	t.Helper()
	if got, _ := a.refusal(); a.status != status || got != code {
		t.Fatalf("want %d %s, got\n%s", status, code, a.raw)
	}
}

// has fails the test unless the answer has that header with that value. An empty value means that the header must be absent.
func (a *answer) has(t testing.TB, name, value string) {
	t.Helper()
	if got := strings.Join(a.header.Values(name), " | "); got != value {
		t.Errorf("%s is %q, want %q, in\n%s", name, got, value, a.raw)
	}
}
