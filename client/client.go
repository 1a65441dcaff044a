package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Client calls one service with one key. It is safe for concurrent use. Goroutines that use the same key should share one
// Client, because only a shared Client knows how many requests the key has left.
type Client struct {
	settings
	base string // the address of the API, which ends in /v1
	// authorize adds the key to a request. Only this function knows the key, so printing a Client never shows it.
	authorize func(*http.Request)
	gate      *gate
}

// New makes a Client that calls the service at the address server. The address may end with /v1 or without it. New sends
// nothing.
func New(server, key string, options ...Option) (*Client, error) {
	base, err := baseOf(server)
	if err != nil {
		return nil, err
	}
	if key == "" || !printable(key) || strings.Contains(key, " ") {
		return nil, errors.New("the API key is empty or has characters that no key has")
	}
	c := &Client{
		settings:  defaults(),
		base:      base,
		authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) },
	}
	for _, set := range options {
		set(&c.settings)
	}
	if !printable(c.userAgent) {
		return nil, errors.New("the user agent may have only printable ASCII characters")
	}
	c.http = withoutRedirects(c.http)
	c.gate = &gate{waitTimeout: c.budget, notice: c.onWait}
	return c, nil
}

func baseOf(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", errors.New("the address of the service must look like https://api.example.com or https://api.example.com/v1")
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1") + "/v1", nil
}

// printable reports whether a header can contain s.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// withoutRedirects returns a copy of h that does not follow redirects. The service never redirects, and the client must not
// send the key to another address.
func withoutRedirects(h *http.Client) *http.Client {
	own := *h
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// String names the service that the Client calls.
func (c *Client) String() string { return "petstore client of " + c.base }

// GoString returns the same as String, so that no verb of package fmt shows the fields.
func (c *Client) GoString() string { return c.String() }

// Limits returns what the Client knows about the key's limits. Of all answers in the current window, Limits uses the one
// with the lowest Remaining. It returns zero Limits before the first answer, and while a proxy in front of the service
// refuses requests.
func (c *Client) Limits() Limits { return c.gate.limits() }

// request is one call of an operation. Every try of the call sends the same bytes.
type request struct {
	method, path, query string
	body                []byte
	mediaType           string // of the body
	accept              string // the media type of the answer
	lastEventID         string // where a stream goes on
	idempotencyKey      string // only writes send it
	meta                *Meta  // never nil
}

func newRequest(method, path string, options []CallOption) *request {
	r := &request{method: method, path: path, mediaType: "application/json", accept: "application/json", meta: new(Meta), idempotencyKey: rand.Text()}
	for _, set := range options {
		set(r)
	}
	*r.meta = Meta{}
	return r
}

func (r *request) writes() bool { return r.method != http.MethodGet }

// answer is a complete answer of the service.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call sends a request without a body and reads the answer into out.
func (c *Client) call(ctx context.Context, method, path string, out any, options []CallOption) error {
	_, err := c.exchange(ctx, newRequest(method, path, options), out)
	return err
}

// body is the body of a request.
type body interface {
	// texts returns the caller's strings in the body. The strings must be valid UTF-8, because encoding/json would change
	// invalid ones.
	texts() []string
}

// callWith sends the value in as the body of a request and reads the answer into out.
func (c *Client) callWith(ctx context.Context, method, path string, in body, out any, options []CallOption) error {
	r := newRequest(method, path, options)
	for _, text := range in.texts() {
		if !utf8.ValidString(text) {
			return invalidField("%q is not valid UTF-8. Send it as UTF-8.", text)
		}
	}
	content, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("the body of %s %s cannot be encoded: %w", method, path, err)
	}
	r.body = content
	_, err = c.exchange(ctx, r, out)
	return err
}

// exchange sends a request, with retries, and reads the answer into out. If out is nil, the answer must be empty.
func (c *Client) exchange(ctx context.Context, r *request, out any) (*answer, error) {
	if n := len(r.idempotencyKey); r.writes() && (n == 0 || n > 255 || !printable(r.idempotencyKey)) {
		return nil, errors.New("an idempotency key must have 1 to 255 printable ASCII characters")
	}
	a, err := c.sendWithRetries(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := a.read(out); err != nil {
		return nil, fmt.Errorf("the answer to %s %s is not what this client understands; check that %s is the service: %w", r.method, r.path, c.base, err)
	}
	completeAddresses(out, strings.TrimSuffix(c.base, "/v1"))
	return a, nil
}

// read reads the body of the answer into out. It fails if the answer may come from something other than the service.
func (a *answer) read(out any) error {
	if out == nil {
		if a.status != http.StatusNoContent {
			return fmt.Errorf("its status is %d", a.status)
		}
		return nil
	}
	if bytes.Equal(bytes.TrimSpace(a.body), []byte("null")) {
		return errors.New("it is empty")
	}
	err := json.Unmarshal(a.body, out)
	if thing, one := out.(interface{ missing() bool }); err == nil && one && thing.missing() {
		err = errors.New("it is empty")
	}
	return err
}

// maxAnswer is how many bytes of an answer the client reads at most. The largest page takes less than 2 MiB.
const maxAnswer = 16 << 20

// prepare makes the HTTP request for one try.
func (c *Client) prepare(ctx context.Context, r *request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = r.query
	req.Header.Set("Accept", r.accept)
	req.Header.Set("User-Agent", c.userAgent)
	if r.body != nil {
		req.Header.Set("Content-Type", r.mediaType)
	}
	if r.lastEventID != "" {
		req.Header.Set("Last-Event-ID", r.lastEventID)
	}
	if r.writes() {
		req.Header.Set("Idempotency-Key", r.idempotencyKey)
	}
	c.authorize(req)
	return req, nil
}

// send sends a request once, as soon as the gate admits it. It returns an *Error if the service refuses the request.
func (c *Client) send(ctx context.Context, r *request) (*answer, error) {
	req, err := c.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	pass, err := c.gate.enter(ctx)
	if err != nil {
		return nil, err
	}
	r.meta.Attempts++
	res, err := c.http.Do(req)
	if err != nil {
		c.gate.leave(pass, noAnswer(err))
		return nil, err
	}
	return c.receive(ctx, r, res, pass)
}

// receive reads the complete answer to a request, which holds a pass. It returns an *Error if the service refuses the request.
func (c *Client) receive(ctx context.Context, r *request, res *http.Response, pass pass) (*answer, error) {
	arrived := time.Now()
	defer res.Body.Close()
	r.meta.read(res)
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	refusal := refusalOf(c.base, res, body)
	c.gate.leave(pass, c.feedbackOf(res, refusal, arrived))
	c.log.DebugContext(ctx, "petstore answered", "method", r.method, "path", r.path, "status", res.StatusCode,
		"attempt", r.meta.Attempts, "remaining", r.meta.Limits.Remaining, "request", r.meta.RequestID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer to %s %s was cut off: %w", r.method, r.path, err)
	case refusal != nil:
		return nil, refusal
	}
	return &answer{res.StatusCode, res.Header, body}, nil
}

// feedbackOf returns what the gate may learn from an answer. With ReturnBan, the call that meets a ban returns it, and the
// gate stays open for other calls.
func (c *Client) feedbackOf(res *http.Response, refusal *Error, arrived time.Time) feedback {
	if refusal != nil && refusal.Code == ErrKeyBanned && c.onBan == ReturnBan {
		return feedback{}
	}
	return feedbackOf(res, refusal, arrived)
}
