// Package contract is a second implementation of the published interface. Tests compare the service with it. The package
// validates exchanges against the OpenAPI document. It checks the rules for bodies with code that the service does not
// share. Only tests import the package.
//
// [Check] compares one answer with the document, and [CheckEvery] compares one answer with the rules for all answers.
package contract

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"petstore/api"
)

var document = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(api.YAML) })

// Answer is a complete answer of the service.
type Answer struct {
	Raw    string
	Status int
	Header http.Header
	Body   string
}

// Check returns an error if an exchange differs from the published document. Some rules are only in the document's prose:
// those about errors on any path, preflights, HEAD, and the headers of every answer. Check checks them too.
func Check(request string, a Answer) error {
	doc, err := document()
	if err != nil {
		return err
	}
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
	if err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	if err := CheckEvery(r, a); err != nil {
		return err
	}
	asked := stable(request)
	if a.Status >= 300 { // validate does not look at the request if the status is 300 or higher
		asked = r.Method + " " + r.URL.EscapedPath()
	}
	alike := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", asked, a.Status, stable(a.Raw)))
	if isAccepted(alike) {
		return nil
	}
	if a.Status >= 400 && r.Method != http.MethodHead {
		err = isError(doc, a)
	}
	template, parameters := templateOf(doc, r.URL.EscapedPath())
	if item := doc.Paths.Value(template); err == nil && item != nil && r.Method != http.MethodOptions {
		err = validate(doc, r, template, item, parameters, a)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, a.Raw)
	}
	accept(alike)
	return nil
}

// templateOf returns the path in the document that matches an escaped path, and the values of the path's parameters.
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

// operationFor returns the operation that describes the answer to a request with the given method, and the method of that
// operation. For HEAD, this is the operation for GET. If the path has no operation for the method, operationFor returns any
// operation of the path that is not deprecated.
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

// validate compares an answer with the responses that the document lists for the operation. If the service accepted the
// request, validate checks the request too.
func validate(doc *openapi3.T, request *http.Request, template string, item *openapi3.PathItem, parameters map[string]string, a Answer) error {
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
	response := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: a.Status, Header: a.Header, Options: input.Options}
	if err := openapi3filter.ValidateResponse(request.Context(), response.SetBodyBytes([]byte(a.Body))); err != nil {
		return fmt.Errorf("the answer is not as the document describes it: %w", err)
	}
	if a.Status >= 300 || (operation.RequestBody != nil && request.Header.Get("Content-Type") != "application/json") {
		return nil
	}
	if err := openapi3filter.ValidateRequest(request.Context(), input); err != nil {
		return fmt.Errorf("the request was accepted, but it is not as the document describes it: %w", err)
	}
	return nil
}
