package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/oasdiff/yaml"

	"petstore/internal/petstore"
)

var update = flag.Bool("update", false, "write openapi.json anew")

func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(YAML)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentIsValidWithItsExamples(t *testing.T) {
	doc := document(t)
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.0.0" {
		t.Errorf("OpenAPI %s of version %s, want 3.1.0 of version 1.0.0", doc.OpenAPI, doc.Info.Version)
	}
}

func TestJSONFormIsTheYAMLForm(t *testing.T) {
	converted, err := yaml.YAMLToJSON(YAML)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := json.Indent(&want, converted, "", "  "); err != nil {
		t.Fatal(err)
	}
	want.WriteByte('\n')
	if *update {
		if err := os.WriteFile("openapi.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want.Bytes(), JSON) {
		t.Error("openapi.json differs from openapi.yaml: run go generate ./api")
	}
}

func TestOperationsAreThePublishedOnes(t *testing.T) {
	var got []string
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			got = append(got, op.OperationID+" "+method+" "+path+" "+strings.Join(op.Tags, ","))
		}
	}
	slices.Sort(got)
	want := []string{"createPet POST /pets animals", "getPet GET /pets/{petId} animals", "listPets GET /pets animals"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestServersAreThisOneThenProductionThenStaging(t *testing.T) {
	doc := document(t)
	var urls []string
	for _, server := range doc.Servers {
		urls = append(urls, server.URL)
	}
	if want := []string{"/v1", "{base_url}", "{staging_base_url}"}; !slices.Equal(urls, want) {
		t.Errorf("got %q, want %q", urls, want)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	request, _ := http.NewRequest(http.MethodGet, "http://localhost:8080/v1/pets/7", nil)
	if route, _, err := router.FindRoute(request); err != nil || route.Operation.OperationID != "getPet" {
		t.Errorf("/v1/pets/7 on any host should be getPet, got %v", err)
	}
}

func TestOnlyGetPetIsDeprecated(t *testing.T) {
	for _, op := range operations(t) {
		want := op.OperationID == "getPet"
		if op.Deprecated != want {
			t.Errorf("%s: deprecated is %v", op.OperationID, op.Deprecated)
		}
		if sunset := op.Extensions["x-deprecated-sunset"]; want && sunset != "2030-12-05" {
			t.Errorf("%s: x-deprecated-sunset is %v", op.OperationID, sunset)
		}
	}
}

func TestEveryAnswerNamesItsHeaders(t *testing.T) {
	always := []string{"Cache-Control", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"}
	byStatus := map[string][]string{
		"201": {"Location"},
		"401": {"WWW-Authenticate"},
		"405": {"Allow"},
		"429": {"Retry-After"},
		"503": {"Retry-After"},
	}
	for _, op := range operations(t) {
		for status, response := range op.Responses.Map() {
			want := slices.Concat(always, byStatus[status])
			if op.Deprecated {
				want = append(want, "Deprecation", "Link", "Sunset")
			}
			var got []string
			for name, header := range response.Value.Headers {
				if header.Value.Required {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: required headers are %q, want %q", op.OperationID, status, got, want)
			}
		}
	}
}

func TestEveryAnswerHasAnExample(t *testing.T) {
	for _, op := range operations(t) {
		for status, response := range op.Responses.Map() {
			body := response.Value.Content["application/json"]
			if body == nil || body.Example == nil && len(body.Examples) == 0 {
				t.Errorf("%s %s has no example", op.OperationID, status)
			}
		}
	}
}

func TestWhatThePublishedInterfaceDoesNotNameIsMarkedAsAnAddition(t *testing.T) {
	published := map[string][]string{
		"listPets":  {"limit", "status", "200", "401", "429"},
		"createPet": {"201", "400", "401", "429"},
		"getPet":    {"petId", "200", "401", "404", "429"},
		"headers":   {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"},
	}
	check := func(group, name string, extensions map[string]any) {
		t.Helper()
		addition := extensions["x-addition"] == true
		if addition == slices.Contains(published[group], name) {
			t.Errorf("%s: %s is marked as an addition: %v", group, name, addition)
		}
	}
	doc := document(t)
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, parameter := range slices.Concat(item.Parameters, op.Parameters) {
				check(op.OperationID, parameter.Value.Name, parameter.Value.Extensions)
			}
			for status, response := range op.Responses.Map() {
				check(op.OperationID, status, response.Value.Extensions)
				for name, header := range response.Value.Headers {
					check("headers", name, header.Value.Extensions)
				}
			}
		}
	}
}

func TestErrorHasExactlyThreeFieldsAndEveryCode(t *testing.T) {
	schema := document(t).Components.Schemas["Error"].Value
	fields := slices.Sorted(maps.Keys(schema.Properties))
	if want := []string{"code", "message", "status"}; !slices.Equal(fields, want) || !slices.Equal(schema.Required, want) {
		t.Errorf("fields are %q, required %q, want both %q", fields, schema.Required, want)
	}
	if has := schema.AdditionalProperties.Has; has == nil || *has {
		t.Error("an Error may have other fields")
	}
	want := []any{}
	for _, code := range []petstore.Code{
		petstore.InvalidJSON, petstore.InvalidField, petstore.MissingField, petstore.InvalidParameter, petstore.Unauthorized,
		petstore.NotFound, petstore.MethodNotAllowed, petstore.Gone, petstore.IdempotencyConflict, petstore.PayloadTooLarge,
		petstore.UnsupportedMediaType, petstore.RateLimited, petstore.KeyBanned, petstore.InternalError, petstore.Unavailable,
		petstore.OutcomeUnknown,
	} {
		want = append(want, string(code))
	}
	if got := schema.Properties["code"].Value.Enum; !slices.Equal(got, want) {
		t.Errorf("codes are %v, want %v", got, want)
	}
}

func TestNameHasTheBoundsOfTheDomain(t *testing.T) {
	schema := document(t).Components.Schemas["Name"].Value
	names := []string{
		"", "a", " a ", "\n", "a\n", "\ta\x00", "\x00", "Zoë 🐕", strings.Repeat("é", 1000), strings.Repeat("é", 1001),
		strings.Repeat("🐕", 1000), strings.Repeat(" ", 500), "\ufeff", "\u200b", "\u0085", "\u00a0",
		"\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000", "\v\f\r \t", "\x1c",
	}
	for _, name := range names {
		stored := petstore.NewPet{Name: name, Status: petstore.Available}.Validate().Err() == nil
		described := schema.VisitJSON(name, openapi3.EnableJSONSchema2020()) == nil
		if stored != described {
			t.Errorf("%.40q: stored %v, described as allowed %v", name, stored, described)
		}
	}
}

func TestNewPetAsTheDomainTakesIt(t *testing.T) {
	schema := document(t).Components.Schemas["NewPet"].Value
	for _, c := range []struct {
		body    string
		allowed bool
	}{
		{`{"name":"Olive","categoryId":2}`, true},
		{`{"name":"Olive","categoryId":2,"status":"sold","id":7,"colour":"grey"}`, true},
		{`{"name":"Olive","categoryId":-1}`, true},
		{`{"name":"Olive","categoryId":1.0}`, true},
		{`{"name":"Olive"}`, false},
		{`{"categoryId":2}`, false},
		{`{"name":"Olive","categoryId":1.5}`, false},
		{`{"name":"Olive","categoryId":"2"}`, false},
		{`{"name":"Olive","categoryId":2,"status":null}`, false},
		{`{"name":"Olive","categoryId":2,"status":"lost"}`, false},
		{`[]`, false},
	} {
		var value any
		if err := json.Unmarshal([]byte(c.body), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.VisitJSON(value, openapi3.EnableJSONSchema2020()); (err == nil) != c.allowed {
			t.Errorf("%s: allowed should be %v, got %v", c.body, c.allowed, err)
		}
	}
}

func operations(t *testing.T) []*openapi3.Operation {
	t.Helper()
	var all []*openapi3.Operation
	for _, item := range document(t).Paths.Map() {
		all = append(all, slices.Collect(maps.Values(item.Operations()))...)
	}
	return all
}
