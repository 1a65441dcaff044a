package httpapi_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"petstore/internal/contract"
)

// checkDocument returns an error if a request and its answer differ from the OpenAPI document.
func checkDocument(raw string, a *answer) error {
	return contract.Check(raw, contract.Answer{Raw: a.raw, Status: a.status, Header: a.header, Body: a.body})
}

func TestAnswersThatDifferFromTheDocumentAreFound(t *testing.T) {
	const (
		head    = "Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: Link\r\nCache-Control: no-store\r\nX-Request-Id: r\r\n"
		limits  = "X-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: 59\r\nX-RateLimit-Reset: 1794744060\r\n"
		json    = "Content-Type: application/json\r\n"
		ok      = "HTTP/1.1 200 OK\r\n" + head + limits + json
		pet     = `{"id":1,"name":"Rex","categoryId":1,"status":"sold"}`
		missing = "HTTP/1.1 404 Not Found\r\n" + head + limits + json
		list    = "GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n"
		unknown = "GET /v1/dogs HTTP/1.1\r\nHost: a\r\n\r\n"
		order   = `{"id":1,"petId":1,"status":"open","createdAt":"2026-11-15T12:00:00.000Z","expiresAt":"2026-11-18T12:00:00.000Z"}`
		cancel  = "POST /v1/orders/1/cancel HTTP/1.1\r\nHost: a\r\n\r\n"
		remove  = "DELETE /v1/pets/1 HTTP/1.1\r\nHost: a\r\n\r\n"
		empty   = "HTTP/1.1 204 No Content\r\n" + head + limits
	)
	for _, c := range []struct {
		behaviour, request, answer string
		found                      bool
	}{
		{"an answer as described", list, ok + "\r\n[" + pet + "]", false},
		{"a status that the operation does not have", list, missing + "\r\n" + `{"code":"not_found","message":"No.","status":404}`, true},
		{"a status that no operation has", list, strings.Replace(ok, "200 OK", "418 Teapot", 1) + "\r\n" + pet, true},
		{"a redirect", list, "HTTP/1.1 307 Temporary Redirect\r\n" + head + limits + "Location: /\r\n\r\n", true},
		{"a header that is missing", list, "HTTP/1.1 200 OK\r\n" + head + json + "\r\n[]", true},
		{"a header that is not a number", list, strings.Replace(ok, "59", "many", 1) + "\r\n[]", true},
		{"a body that is not an array", list, ok + "\r\nnull", true},
		{"an animal without a field", list, ok + "\r\n" + `[{"id":1,"name":"Rex","categoryId":1}]`, true},
		{"an animal of an unknown status", list, ok + "\r\n" + strings.Replace("["+pet+"]", "sold", "lost", 1), true},
		{"another media type", list, strings.Replace(ok, "application/json", "text/html", 1) + "\r\n[]", true},
		{"an accepted request that the document does not allow", strings.Replace(list, "pets", "pets?limit=101", 1), ok + "\r\n[]", true},
		{"an answer of a deprecated operation that does not say so", strings.Replace(list, "pets", "pets/1", 1), ok + "\r\n" + pet, true},
		{"an Error as described", unknown, missing + "\r\n" + `{"code":"not_found","message":"No.","status":404}`, false},
		{"an Error with a fourth field", unknown, missing + "\r\n" + `{"code":"not_found","message":"No.","status":404,"more":1}`, true},
		{"an Error of another status", unknown, missing + "\r\n" + `{"code":"not_found","message":"No.","status":400}`, true},
		{"an Error with an unknown code", unknown, missing + "\r\n" + `{"code":"nope","message":"No.","status":404}`, true},
		{"an Error in HTML", unknown, strings.Replace(missing, "application/json", "text/html", 1) + "\r\n<p>No.</p>", true},
		{"an Error whose rate-limit headers are spelled differently", unknown, strings.Replace(missing, "RateLimit", "Ratelimit", 3) + "\r\n" + `{"code":"not_found","message":"No.","status":404}`, true},
		{"an answer that may be cached", list, strings.Replace(ok, "no-store", "no-cache", 1) + "\r\n[]", true},
		{"an order as described", cancel, ok + "\r\n" + order, false},
		{"an order without a field", cancel, ok + "\r\n" + strings.Replace(order, "createdAt", "madeAt", 1), true},
		{"an order of an unknown status", cancel, ok + "\r\n" + strings.Replace(order, "open", "lost", 1), true},
		{"an order with an invalid time", cancel, ok + "\r\n" + strings.Replace(order, "12:00:00.000Z", "noon", 1), true},
		{"an order whose animal is null", cancel, ok + "\r\n" + strings.Replace(order, `"petId":1`, `"petId":null`, 1), true},
		{"a new order without a Location", strings.Replace(cancel, "/1/cancel", "", 1), strings.Replace(ok, "200 OK", "201 Created", 1) + "\r\n" + order, true},
		{"an answer without content", remove, empty + "\r\n", false},
		{"an answer without content or limits", remove, "HTTP/1.1 204 No Content\r\n" + head + "\r\n", true},
		{"an answer without content where there should be some", cancel, empty + "\r\n", true},
		{"a refusal without the deprecation headers, by another operation of the path", remove, missing + "\r\n" + `{"code":"not_found","message":"No.","status":404}`, false},
		{"an answer that other origins cannot read", list, strings.Replace(ok, "Origin: *", "Origin: null", 1) + "\r\n[]", true},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(c.answer)), nil)
			noError(t, err)
			_, body, _ := strings.Cut(c.answer, "\r\n\r\n")
			err = checkDocument(c.request, &answer{raw: c.answer, status: response.StatusCode, header: response.Header, body: body})
			if (err != nil) != c.found {
				t.Errorf("got %v, want an error: %v", err, c.found)
			}
		})
	}
}
