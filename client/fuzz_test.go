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

// once is a transport that answers with a page of events, then with a stream, and then refuses the key.
type once struct {
	stream string
	asked  []string // the Last-Event-ID of each request
}

func (o *once) RoundTrip(r *http.Request) (*http.Response, error) {
	answers := []string{
		"200 OK\r\nLink: </v1/events?after=evt_feed_0>; rel=\"next\"\r\n\r\n[]",
		"200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + o.stream,
		"401 Unauthorized\r\n\r\n{\"code\":\"unauthorized\",\"message\":\"No.\",\"status\":401}",
	}
	o.asked = append(o.asked, r.Header.Get("Last-Event-ID"))
	return always("HTTP/1.1 " + answers[len(o.asked)-1]).RoundTrip(r)
}

// FuzzStream gives the client arbitrary streams of events. The client must yield only complete events, and go on after the
// last one or at a position that the stream told after it.
func FuzzStream(f *testing.F) {
	const event = `{"id":"evt_feed_1","sequence":1,"type":"pet.created","timestamp":"2026-11-18T00:00:00.000Z","data":{}}`
	for _, seed := range []string{
		"retry: 3000\n\nid: evt_feed_1\nevent: pet.created\ndata: " + event + "\n\nid: evt_feed_2\n\n",
		"id:evt_feed_1\r\ndata:" + event + "\r\n\r\n: quiet\n\n", "id: evt_feed_1\ndata: " + event, "data: " + event + "\n\nid: evt_feed_1\n\n",
		"retry: 99999999999\nretry: -1\nid\ndata\n\n", "id: a\nid: b\ndata: {\ndata: }\n\n", "id: \x00\n\n", "\xff\n\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		synctest.Test(t, func(t *testing.T) {
			service := &once{stream: stream}
			c, err := New("http://petstore.test", "key", WithHTTPClient(&http.Client{Transport: service}))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			for e, err := range c.Follow(t.Context(), FollowOptions{}) {
				if err == nil && (e.ID == "" || len(e.Data) == 0) {
					t.Fatalf("%q has the event %+v", stream, e)
				}
				if errors.Is(err, ErrUnauthorized) && len(service.asked) != 3 {
					t.Fatalf("%q leads to the requests %q", stream, service.asked)
				}
			}
			if len(service.asked) == 3 && service.asked[2] != "evt_feed_0" && (!strings.Contains(stream, service.asked[2]) || !printable(service.asked[2])) {
				t.Fatalf("after %q the client goes on after %q", stream, service.asked[2])
			}
			if waited := time.Since(start); waited > maxRetry+firstBackoff {
				t.Fatalf("after %q the client waits %s", stream, waited)
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
