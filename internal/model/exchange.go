package model

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Exchange is a request and its answer, as they went over the network.
type Exchange struct {
	// Client is the number of the worker that sent the request. A worker has only one request under way at a time.
	Client int
	// Key is the name of the API key, not its secret.
	Key string

	Method, Path   string // the path includes the query
	IdempotencyKey string
	Body           []byte

	// Called and Returned are times since the history began. The server did the request at one moment between them.
	Called, Returned time.Duration

	Status int // the HTTP status, or NoAnswer
	Header http.Header
	Answer []byte
}

// NoAnswer is the Status of an exchange without a complete answer.
const NoAnswer = 0

func (e Exchange) String() string {
	text := fmt.Sprintf("%s %s by client %d from %v to %v", e.Method, e.Path, e.Client, e.Called, e.Returned)
	if e.IdempotencyKey != "" {
		text += " as " + e.IdempotencyKey
	}
	if len(e.Body) > 0 {
		text += " with " + string(e.Body)
	}
	if e.Status == NoAnswer {
		return text + ", without an answer"
	}
	answer := string(e.Answer)
	if len(answer) > 300 {
		answer = answer[:300] + "…"
	}
	return text + fmt.Sprintf(", answered %d %s", e.Status, answer)
}

// NextPage returns the path of the next page from the Link header of an answer, or "" if there is no next page.
func NextPage(h http.Header) string {
	for _, link := range h["Link"] {
		target, rest, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if rest == `; rel="next"` {
			return target[max(0, strings.Index(target, "/v1/")):]
		}
	}
	return ""
}
