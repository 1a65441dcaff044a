package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	answerTimeout    = 15 * time.Second // until the status line
	discardTimeout   = time.Second      // for the body of the answer
	maxAnswerHeaders = 64 << 10
	maxAnswerBody    = 64 << 10
	maxIdle          = 64
	idleTimeout      = 30 * time.Second
)

// Client sends requests to where its Guard allows. It follows no redirect, uses no proxy, verifies certificates, and throws
// the bodies of answers away.
type Client struct {
	plain, secure                 *http.Transport
	answerTimeout, discardTimeout time.Duration
}

// Client returns a new client.
func (g *Guard) Client() *Client {
	transport := func(plain bool) *http.Transport {
		return &http.Transport{
			DialContext:            g.dial(plain),
			TLSClientConfig:        &tls.Config{RootCAs: g.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    connectTimeout,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxAnswerHeaders,
			MaxIdleConns:           maxIdle,
			MaxIdleConnsPerHost:    maxIdle,
			IdleConnTimeout:        idleTimeout,
		}
	}
	return &Client{plain: transport(true), secure: transport(false), answerTimeout: answerTimeout, discardTimeout: discardTimeout}
}

// Close closes the connections that are not in use.
func (c *Client) Close() {
	c.plain.CloseIdleConnections()
	c.secure.CloseIdleConnections()
}

// Post sends a body and returns the status and the headers of the answer, which must come within 15 seconds. It adds to the
// header. A receiver may get the request twice: if a connection that was in use before ends without an answer, the receiver
// has probably closed it for being idle, so Post sends the request again.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body []byte) (status int, answered http.Header, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timeout := time.AfterFunc(c.answerTimeout, func() { cancel(context.DeadlineExceeded) })
	defer timeout.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	header["Idempotency-Key"] = nil // is not sent; it lets the transport repeat a POST
	request.Header = header
	transport := c.secure
	if request.URL.Scheme == "http" {
		transport = c.plain
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return 0, nil, err
	}
	timeout.Reset(c.discardTimeout)
	discard(answer.Body)
	return answer.StatusCode, answer.Header, nil
}

// discard reads a body to its end, so that the connection can be used again. If the body is long, or its request ends before
// it does, the connection is closed instead.
func discard(body io.ReadCloser) {
	defer body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, maxAnswerBody))
}

// Reason returns a word for the error of Post. The texts of errors may contain what a receiver sent, so they are not shown.
func Reason(err error) string {
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var timeout net.Error
	var operation *net.OpError
	switch {
	case errors.Is(err, ErrRefused):
		return "address_refused"
	case errors.As(err, &lookup):
		return "name_not_found"
	case errors.As(err, &certificate), errors.As(err, &alert), errors.As(err, &record), errors.As(err, &unknown):
		return "tls_failed"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.As(err, &operation) && operation.Op == "dial":
		return "connect_failed"
	}
	return "no_answer"
}
