package httpapi_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"petstore/api"
)

var document = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(api.YAML) })

// described returns what in an exchange differs from the published document, nil if nothing does. What the document says
// in words only is checked here in code: errors of any path, preflights, HEAD, headers that are on every answer.
func described(raw string, a *answer) error {
	doc, err := document()
	if err != nil {
		return err
	}
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	if err := everyAnswer(request, a); err != nil {
		return fmt.Errorf("%w\n%s", err, a.raw)
	}
	alike := sha256.Sum256([]byte(raw + stable(a.raw)))
	if _, known := accepted.Load(alike); known {
		return nil
	}
	if a.status >= 400 && request.Method != http.MethodHead {
		err = isError(doc, a)
	}
	template, parameters := templateOf(doc, request.URL.EscapedPath())
	if item := doc.Paths.Value(template); err == nil && item != nil && request.Method != http.MethodOptions {
		err = validate(doc, request, template, item, parameters, a)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, a.raw)
	}
	accepted.Store(alike, true)
	return nil
}

// accepted remembers exchanges that are as described, because kin-openapi compiles every schema for every exchange.
var accepted sync.Map

// stable is an answer without the values that differ each time it is given: of dates, names of requests, and counts.
func stable(raw string) string {
	var b strings.Builder
	for line := range strings.Lines(raw) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		isCount := strings.HasPrefix(name, "X-RateLimit-") && value != "" && strings.Trim(value, "0123456789") == ""
		if name == "Date" || name == "X-Request-Id" || isCount {
			line = name + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// templateOf is the path of the document that an escaped path belongs to, with the values of its parameters.
func templateOf(doc *openapi3.T, path string) (template string, parameters map[string]string) {
	parts := strings.Split(path, "/")
	for template := range doc.Paths.Map() {
		segments := strings.Split(doc.Servers[0].URL+template, "/")
		if len(segments) != len(parts) {
			continue
		}
		values := make(map[string]string)
		isOne := true
		for i, segment := range segments {
			if name, ok := strings.CutPrefix(segment, "{"); ok && parts[i] != "" {
				value, err := url.PathUnescape(parts[i])
				if err != nil {
					value = parts[i]
				}
				values[strings.TrimSuffix(name, "}")] = value
			} else if segment != parts[i] {
				isOne = false
			}
		}
		if isOne {
			return template, values
		}
	}
	return "", nil
}

// operationFor is the one that describes the answer to a method. HEAD is answered as GET, and a method that the path does
// not have as any operation of the path would be, but for the deprecation, which belongs to one operation only.
func operationFor(item *openapi3.PathItem, method string) (string, *openapi3.Operation) {
	if method == http.MethodHead && item.Get != nil {
		return http.MethodGet, item.Get
	}
	if op := item.GetOperation(method); op != nil {
		return method, op
	}
	for method, op := range item.Operations() {
		if !op.Deprecated {
			return method, op
		}
	}
	return method, nil
}

// validate compares an answer with the response of its operation, and the request too if it was accepted.
func validate(doc *openapi3.T, request *http.Request, template string, item *openapi3.PathItem, parameters map[string]string, a *answer) error {
	head := request.Method == http.MethodHead
	method, operation := operationFor(item, request.Method)
	request.Method = method
	input := &openapi3filter.RequestValidationInput{
		Request:    request,
		PathParams: parameters,
		Route: &routers.Route{
			Spec: doc, Server: doc.Servers[0], Path: template, PathItem: item,
			Method: method, Operation: operation,
		},
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   head,
			AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
			SkipSettingDefaults:   true,
		},
	}
	response := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: a.status, Header: a.header, Options: input.Options}
	if err := openapi3filter.ValidateResponse(request.Context(), response.SetBodyBytes([]byte(a.body))); err != nil {
		return fmt.Errorf("the answer is not as the document describes it: %w", err)
	}
	if a.status >= 300 || (operation.RequestBody != nil && request.Header.Get("Content-Type") != "application/json") {
		return nil
	}
	if err := openapi3filter.ValidateRequest(request.Context(), input); err != nil {
		return fmt.Errorf("the request was accepted and is not as the document describes it: %w", err)
	}
	return nil
}

var safeID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// everyAnswer checks what all answers have in common.
func everyAnswer(r *http.Request, a *answer) error {
	switch {
	case a.status >= 300 && a.status < 400:
		return errors.New("the answer is a redirect")
	case !safeID.MatchString(a.header.Get("X-Request-Id")):
		return errors.New("X-Request-Id is not safe")
	case a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Access-Control-Expose-Headers") == "":
		return errors.New("pages of other origins cannot read the answer")
	case a.header.Get("Access-Control-Allow-Credentials") != "":
		return errors.New("a browser would send its own credentials")
	case isVersioned(r) && a.header.Get("Cache-Control") != "no-store":
		return errors.New("the answer may be cached")
	case (a.status == 201) != (a.header.Get("Location") != ""):
		return errors.New("a Location belongs to what was made, and only to that")
	case r.Method == http.MethodHead && a.body != "":
		return errors.New("the answer to HEAD has a body")
	case a.status == http.StatusNoContent && (a.body != "" || a.header.Get("Content-Type") != ""):
		return errors.New("an answer without content has some")
	case a.status >= 400:
		return hasLimits(a)
	}
	return nil
}

func hasLimits(a *answer) error {
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		if !strings.Contains(a.raw, "\r\n"+name+": ") {
			return fmt.Errorf("%s is missing, or spelled otherwise", name)
		}
	}
	return nil
}

func isVersioned(r *http.Request) bool {
	path := r.URL.EscapedPath()
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}

// isError checks that the answer is an Error of exactly its three fields.
func isError(doc *openapi3.T, a *answer) error {
	if a.header.Get("Content-Type") != "application/json" {
		return errors.New("the error is not JSON by its Content-Type")
	}
	var value any
	if err := json.Unmarshal([]byte(a.body), &value); err != nil {
		return fmt.Errorf("the error is not JSON: %w", err)
	}
	if err := doc.Components.Schemas["Error"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		return fmt.Errorf("the error is not an Error: %w", err)
	}
	if status := value.(map[string]any)["status"]; status != float64(a.status) {
		return fmt.Errorf("the Error says %v and the status line %d", status, a.status)
	}
	return nil
}

func TestExchangeThatTheDocumentDoesNotDescribeIsNoticed(t *testing.T) {
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
		noticed                    bool
	}{
		{"an answer as described", list, ok + "\r\n[" + pet + "]", false},
		{"a status that the operation does not have", list, missing + "\r\n" + `{"code":"not_found","message":"No.","status":404}`, true},
		{"a status that no operation has", list, strings.Replace(ok, "200 OK", "418 Teapot", 1) + "\r\n" + pet, true},
		{"a redirect", list, "HTTP/1.1 307 Temporary Redirect\r\n" + head + limits + "Location: /\r\n\r\n", true},
		{"a header that is missing", list, "HTTP/1.1 200 OK\r\n" + head + json + "\r\n[]", true},
		{"a header that is no number", list, strings.Replace(ok, "59", "many", 1) + "\r\n[]", true},
		{"a body that is no array", list, ok + "\r\nnull", true},
		{"an animal without a field", list, ok + "\r\n" + `[{"id":1,"name":"Rex","categoryId":1}]`, true},
		{"an animal of an unknown status", list, ok + "\r\n" + strings.Replace("["+pet+"]", "sold", "lost", 1), true},
		{"another type of content", list, strings.Replace(ok, "application/json", "text/html", 1) + "\r\n[]", true},
		{"an accepted request that is not as described", strings.Replace(list, "pets", "pets?limit=101", 1), ok + "\r\n[]", true},
		{"an answer of a deprecated operation that does not say so", strings.Replace(list, "pets", "pets/1", 1), ok + "\r\n" + pet, true},
		{"an Error as described", unknown, missing + "\r\n" + `{"code":"not_found","message":"No.","status":404}`, false},
		{"an Error with a fourth field", unknown, missing + "\r\n" + `{"code":"not_found","message":"No.","status":404,"more":1}`, true},
		{"an Error of another status", unknown, missing + "\r\n" + `{"code":"not_found","message":"No.","status":400}`, true},
		{"an Error with an unknown code", unknown, missing + "\r\n" + `{"code":"nope","message":"No.","status":404}`, true},
		{"an Error in HTML", unknown, strings.Replace(missing, "application/json", "text/html", 1) + "\r\n<p>No.</p>", true},
		{"an Error whose limits are spelled otherwise", unknown, strings.Replace(missing, "RateLimit", "Ratelimit", 3) + "\r\n" + `{"code":"not_found","message":"No.","status":404}`, true},
		{"an answer that may be cached", list, strings.Replace(ok, "no-store", "no-cache", 1) + "\r\n[]", true},
		{"an order as described", cancel, ok + "\r\n" + order, false},
		{"an order without a field", cancel, ok + "\r\n" + strings.Replace(order, "createdAt", "madeAt", 1), true},
		{"an order of an unknown status", cancel, ok + "\r\n" + strings.Replace(order, "open", "lost", 1), true},
		{"an order whose time is none", cancel, ok + "\r\n" + strings.Replace(order, "12:00:00.000Z", "noon", 1), true},
		{"an order whose animal is null", cancel, ok + "\r\n" + strings.Replace(order, `"petId":1`, `"petId":null`, 1), true},
		{"a new order without its address", strings.Replace(cancel, "/1/cancel", "", 1), strings.Replace(ok, "200 OK", "201 Created", 1) + "\r\n" + order, true},
		{"an answer without content", remove, empty + "\r\n", false},
		{"an answer without content or limits", remove, "HTTP/1.1 204 No Content\r\n" + head + "\r\n", true},
		{"an answer without content where there should be some", cancel, empty + "\r\n", true},
		{"a refusal of another operation of the path that says nothing of deprecation", remove, missing + "\r\n" + `{"code":"not_found","message":"No.","status":404}`, false},
		{"an answer that other origins cannot read", list, strings.Replace(ok, "Origin: *", "Origin: null", 1) + "\r\n[]", true},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(c.answer)), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, body, _ := strings.Cut(c.answer, "\r\n\r\n")
			err = described(c.request, &answer{raw: c.answer, status: response.StatusCode, header: response.Header, body: body})
			if (err != nil) != c.noticed {
				t.Errorf("noticed: %v", err)
			}
		})
	}
}
