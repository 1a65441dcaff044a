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

// transport is shared by all clients without a transport of their own. Unlike http.DefaultTransport, it keeps enough
// connections for many goroutines that call one service.
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

// WithHTTPClient sends requests through h instead of a client that waits 30 seconds for each answer. Redirects are never
// followed, even if h would follow them.
func WithHTTPClient(h *http.Client) Option { return func(s *settings) { s.http = cmp.Or(h, s.http) } }

// WithRetries tries a call at most attempts times. The waits between the tries of a call add up to budget at most, and a
// call fails if the limit resets later than that. The defaults are 6 attempts and 2 minutes.
func WithRetries(attempts int, budget time.Duration) Option {
	return func(s *settings) { s.attempts, s.budget = attempts, budget }
}

// WithoutRetries tries every call only once. When the limit is used up, a call fails at once with ErrRateLimited.
func WithoutRetries() Option { return WithRetries(1, 0) }

// WithUserAgent sets the User-Agent header.
func WithUserAgent(name string) Option { return func(s *settings) { s.userAgent = name } }

// WithLogger logs every answer at debug level and every retry at info level. The key and bodies are never logged.
func WithLogger(log *slog.Logger) Option { return func(s *settings) { s.log = cmp.Or(log, s.log) } }

// WithBanPolicy chooses what a call does when the key is banned. The default is ReturnBan.
func WithBanPolicy(p BanPolicy) Option { return func(s *settings) { s.onBan = p } }

// WithWaitNotice calls notice before a call waits for a limit or for its next try. Several goroutines may call it at once.
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
	// ReturnBan returns ErrKeyBanned at once.
	ReturnBan BanPolicy = iota
	// WaitForBan waits until the ban ends, which may take an hour. Only the context of the call bounds the wait.
	WaitForBan
)

// CallOption changes one call.
type CallOption func(*request)

// WithIdempotencyKey gives a call that writes an idempotency key: within 24 hours, only the first of all calls with the same
// key and the same content changes something, and all return what it returned. Without this option each call gets a random
// key, which its retries share. Calls that only read ignore the option.
func WithIdempotencyKey(key string) CallOption {
	return func(r *request) { r.idempotencyKey = key }
}

// WithMeta fills m with what the last answer to the call said besides its body, even if the call fails.
func WithMeta(m *Meta) CallOption { return func(r *request) { r.meta = cmp.Or(m, r.meta) } }
