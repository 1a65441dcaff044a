package service

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// The server writes headers in different ways with and without TLS. Clients must not see a difference.
func TestAnswersHaveTheSameHeadersWithAndWithoutTLS(t *testing.T) {
	t.Parallel()
	args, trusting := withTLS(t)
	plain, secure := testservice.ServeRaced(t), testservice.ServeRaced(t, args...)
	const rex, once = `{"name":"Rex","categoryId":1}`, "Idempotency-Key"
	for _, c := range []struct {
		method, path, body string
		headers            []string
	}{
		{"POST", "/v1/pets", rex, nil},
		{"POST", "/v1/pets", rex, []string{once, "1"}},
		{"POST", "/v1/pets", rex, []string{once, "1"}},
		{"POST", "/v1/pets", rex + "x", nil},
		{"POST", "/v1/pets", strings.Repeat("x", 2<<20), nil},
		{"GET", "/v1/pets", "", nil},
		{"GET", "/v1/pets?limit=1", "", nil},
		{"HEAD", "/v1/pets?limit=1", "", nil},
		{"GET", "/v1/pets/1", "", nil},
		{"GET", "/v1/pets/999", "", nil},
		{"PATCH", "/v1/pets/1", `{"name":"Max"}`, nil},
		{"DELETE", "/v1/pets/2", "", nil},
		{"DELETE", "/v1/inventory", "", nil},
		{"GET", "/v1/inventory", "", []string{"Authorization", "Bearer wrong"}},
		{"OPTIONS", "/v1/pets", "", nil},
		{"OPTIONS", "/v1/pets", "", []string{"Origin", "https://example.com", "Access-Control-Request-Method", "POST"}},
		{"GET", "/nowhere", "", nil},
		{"GET", "/", "", nil},
		{"GET", "/openapi.json", "", []string{"Range", "bytes=5-9"}},
	} {
		one, body := send(t, testservice.Client, plain, c.method, c.path, c.body, c.headers)
		other, same := send(t, trusting, secure, c.method, c.path, c.body, c.headers)
		if one.StatusCode != other.StatusCode || !maps.EqualFunc(one.Header, other.Header, slices.Equal) || body != same {
			t.Errorf("%s %s: without TLS %s\n%v\n%.200s\nwith TLS %s\n%v\n%.200s", c.method, c.path, one.Status, one.Header, body, other.Status, other.Header, same)
		}
		if one.ContentLength != other.ContentLength || one.Close != other.Close || !slices.Equal(one.TransferEncoding, other.TransferEncoding) {
			t.Errorf("%s %s: without TLS %+v\nwith TLS %+v", c.method, c.path, one, other)
		}
	}
}

// send sends a request with the server's key. In the answer, send replaces the headers that depend on the time.
func send(t *testing.T, client *http.Client, s *testservice.Instance, method, path, body string, headers []string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	noError(t, err)
	headers = append([]string{"Authorization", "Bearer " + s.Key, "Content-Type", "application/json", "X-Request-Id", "same"}, headers...)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, s.Stderr)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	for _, name := range []string{"Date", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		for i := range response.Header[name] {
			response.Header[name][i] = "varies"
		}
	}
	return response, string(answer)
}
