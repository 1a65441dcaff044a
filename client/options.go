package client

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"
)

// Option changes how a Client works.
type Option func(*settings)

type settings struct {
	http      *http.Client
	attempts  int
	budget    time.Duration
	userAgent string
	log       *slog.Logger
	onBan     BanPolicy
	onWait    func(wait time.Duration, because error)
}

// All clients without a transport of their own share this transport. Unlike http.DefaultTransport, it keeps enough
// connections open for many goroutines that call one service.
var transport = &http.Transport{
	Proxy:               http.ProxyFromEnvironment,
	ForceAttemptHTTP2:   true,
	TLSHandshakeTimeout: 10 * time.Second,
	MaxIdleConnsPerHost: 100,
	IdleConnTimeout:     90 * time.Second,
}

func defaults() settings {
	return settings{
		http:      &http.Client{Timeout: 30 * time.Second, Transport: transport},
		attempts:  6,
		budget:    2 * time.Minute,
		userAgent: "petstore-go-client",
		log:       slog.New(slog.DiscardHandler),
		onWait:    func(time.Duration, error) {},
	}
}

// WithHTTPClient sends requests through h. The default client waits 30 seconds for each answer. The Client never follows
// redirects, even if h would.
func WithHTTPClient(h *http.Client) Option { return func(s *settings) { s.http = cmp.Or(h, s.http) } }

// WithRetries limits how often the client tries a call, and how long it waits in total between these tries. A call also
// fails if the limit of the key resets only after that time. The defaults are 6 attempts and 2 minutes.
func WithRetries(attempts int, budget time.Duration) Option {
	return func(s *settings) { s.attempts, s.budget = attempts, budget }
}

// WithoutRetries tries every call only once. When the limit is used up, a call fails immediately with ErrRateLimited.
func WithoutRetries() Option { return WithRetries(1, 0) }

// WithUserAgent sets the User-Agent header.
func WithUserAgent(name string) Option { return func(s *settings) { s.userAgent = name } }

// WithLogger logs every answer at debug level and every retry at info level. It never logs the key or a body.
func WithLogger(log *slog.Logger) Option { return func(s *settings) { s.log = cmp.Or(log, s.log) } }

// WithBanPolicy chooses what a call does when the key is banned. The default is ReturnBan.
func WithBanPolicy(p BanPolicy) Option { return func(s *settings) { s.onBan = p } }

// WithWaitNotice sets a function that the client calls before a call waits for a limit or for its next try. Several
// goroutines may call the function at the same time.
func WithWaitNotice(notice func(wait time.Duration, because error)) Option {
	return func(s *settings) {
		if notice != nil {
			s.onWait = notice
		}
	}
}

// BanPolicy says what a call does when the key is banned.
type BanPolicy int

const (
	// ReturnBan makes the call return ErrKeyBanned immediately.
	ReturnBan BanPolicy = iota
	// WaitForBan makes the call wait until the ban ends, which may take an hour. Only the context of the call bounds the
	// wait.
	WaitForBan
)

// CallOption changes one call.
type CallOption func(*request)

// WithIdempotencyKey gives a call that writes an idempotency key. Of all calls with the same key and the same content within
// 24 hours, only the first changes something, and the others return the answer of the first. Without this option each call
// gets a random key, which its retries share. Calls that only read ignore the option.
func WithIdempotencyKey(key string) CallOption {
	return func(r *request) { r.idempotencyKey = key }
}

// WithMeta stores in m what the last answer to the call said outside its body, even if the call fails.
func WithMeta(m *Meta) CallOption { return func(r *request) { r.meta = cmp.Or(m, r.meta) } }
