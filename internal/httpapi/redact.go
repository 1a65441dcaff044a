package httpapi

import (
	"strings"

	"petstore/internal/petstore"
)

// redact removes API keys from a text that other people may read. It also removes the key that the operator chose, which may
// look like any word.
func (a *API) redact(text string) string {
	text = petstore.Redact(text)
	if a.NamedKey != "" {
		text = strings.ReplaceAll(text, a.NamedKey, "…")
	}
	return text
}

// redactedMethod returns the method for logs, traces and messages. It removes any API key that a client put into the method.
func (a *API) redactedMethod(x *exchange) string { return a.redact(x.r.Method) }

// redactedPath returns the path for logs and traces as the client sent it. It removes any API key that a client put into the
// path. If it removes a key, the rest of the path has no escapes.
func (a *API) redactedPath(x *exchange) string {
	if redacted := a.redact(x.r.URL.Path); redacted != x.r.URL.Path {
		return redacted
	}
	return x.path
}
