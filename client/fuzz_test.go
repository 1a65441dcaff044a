package client

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// always is a transport that answers every request with the same text.
type always string

func (a always) RoundTrip(r *http.Request) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(strings.NewReader(string(a))), r)
}

// FuzzAnswer gives the client arbitrary answers. Whatever an answer says about limits, the client must return a page or a
// complete error, and a client that tries only once must never wait.
func FuzzAnswer(f *testing.F) {
	const limits = "X-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1794744060\r\n"
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\n" + limits + "Link: </v1/pets?cursor=a&limit=1>; rel=\"next\"\r\n\r\n[{\"id\":1,\"name\":\"Rex\",\"categoryId\":1,\"status\":\"sold\"}]",
		"HTTP/1.1 429 Too Many Requests\r\n" + limits + "Retry-After: 30\r\n\r\n{\"code\":\"key_banned\",\"message\":\"No.\",\"status\":429}",
		"HTTP/1.1 503 Service Unavailable\r\nRetry-After: Thu, 05 Dec 2030 00:00:00 GMT\r\nDate: Thu, 05 Dec 2030 00:00:09 GMT\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX-RateLimit-Limit: -1\r\nX-RateLimit-Remaining: -5\r\nX-RateLimit-Reset: 1794744060\r\n\r\n[]",
		"HTTP/1.1 200 OK\r\nX-RateLimit-Limit: 1\r\nX-RateLimit-Remaining: 9223372036854775807\r\nX-RateLimit-Reset: 9223372036854775807\r\n\r\nnull",
		"HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		synctest.Test(t, func(t *testing.T) {
			c, err := New("http://petstore.test", "key", WithHTTPClient(&http.Client{Transport: always(raw)}), WithoutRetries())
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for range 2 {
				var meta Meta
				page, err := c.ListPets(ctx, PetQuery{}, WithMeta(&meta))
				refusal := (*Error)(nil)
				switch {
				case errors.As(err, &refusal) && (refusal.Message == "" || refusal.RetryAfter < 0 || refusal.Status != meta.Status && refusal.Code != "rate_limited"):
					t.Fatalf("%q is %#v", raw, refusal)
				case err == nil && (meta.Status < 200 || meta.Status > 299):
					t.Fatalf("%q is taken for %+v", raw, page)
				}
			}
			if waited := time.Since(start); waited > 0 {
				t.Fatalf("after %q a client that tries once waits %s", raw, waited)
			}
		})
	})
}

// FuzzLink gives the client arbitrary Link headers. The client must either find no next page or return the query of an
// address in the header. It must understand every Link header that the service writes.
func FuzzLink(f *testing.F) {
	f.Add(`</v1/pets?cursor=a&limit=2>; rel="next"`, "cursor=b")
	f.Add(`</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"`, "")
	f.Add(`<a?b>; title="x, y"; rel="prev next", <c?d>; REL=next`, "a=%zz&b=<")
	f.Fuzz(func(t *testing.T, header, query string) {
		if found := nextQuery(http.Header{"Link": {header}}); !strings.Contains(header, "?"+found) && found != "" {
			t.Fatalf("%q leads to %q", header, found)
		}
		target := (&url.URL{Path: "/v1/pets", RawQuery: url.Values{"cursor": {query}}.Encode()}).String()
		following := nextQuery(http.Header{"Link": {"<" + target + `>; rel="next"`}})
		if values, err := url.ParseQuery(following); err != nil || values.Get("cursor") != query {
			t.Fatalf("the cursor %q of %q is read as %q", query, target, following)
		}
	})
}
