package httpapi

import (
	"net/url"
	"strings"

	"petstore/internal/petstore"
)

// redact removes API keys from a text that others may read. It knows the key that the operator chose, whose form may be
// that of any word.
func (a *API) redact(text string) string {
	text = petstore.Redact(text)
	if a.NamedKey != "" {
		text = strings.ReplaceAll(text, a.NamedKey, "…")
	}
	return text
}

// redactedMethod returns the method for logs, traces and messages, without any API key that a client may have put there.
func (a *API) redactedMethod(x *exchange) string { return a.redact(x.r.Method) }

// redactedPath returns the path for logs and traces, as it was sent but without any API key that a client may have put
// there. If there was one, the rest of the path has no escapes.
func (a *API) redactedPath(x *exchange) string {
	plain, err := url.PathUnescape(x.path)
	if err != nil {
		plain = x.path
	}
	if redacted := a.redact(plain); redacted != plain {
		return redacted
	}
	return x.path
}
