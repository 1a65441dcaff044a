package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/bits"
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

var update = flag.Bool("update", false, "rewrite openapi.json")

func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(YAML)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentAndItsExamplesAreValid(t *testing.T) {
	doc := document(t)
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.0.0" {
		t.Errorf("OpenAPI %s of version %s, want 3.1.0 of version 1.0.0", doc.OpenAPI, doc.Info.Version)
	}
}

func TestJSONMatchesYAML(t *testing.T) {
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

func TestOperationsAreThePublishedOnesAndTheAdditions(t *testing.T) {
	published := []string{"createPet POST /pets animals", "getPet GET /pets/{petId} animals", "listPets GET /pets animals"}
	additions := []string{
		"addPhoto POST /pets/{petId}/photos animals",
		"cancelOrder POST /orders/{orderId}/cancel orders",
		"completeOrder POST /orders/{orderId}/complete orders",
		"coverPhoto POST /pets/{petId}/photos/{photoId}/cover animals",
		"createCategory POST /categories categories",
		"createKey POST /keys keys",
		"createWebhook POST /webhooks webhooks",
		"deleteCategory DELETE /categories/{categoryId} categories",
		"deletePet DELETE /pets/{petId} animals",
		"deletePhoto DELETE /pets/{petId}/photos/{photoId} animals",
		"deleteWebhook DELETE /webhooks/{webhookId} webhooks",
		"getCategory GET /categories/{categoryId} categories",
		"getInventory GET /inventory animals",
		"getKey GET /keys/{keyId} keys",
		"getKeyUsage GET /keys/{keyId}/usage keys",
		"getOrder GET /orders/{orderId} orders",
		"getOwnKey GET /key keys",
		"getOwnUsage GET /key/usage keys",
		"getProfile GET /pets/{petId}/profile animals",
		"getStore GET /store keys",
		"getWebhook GET /webhooks/{webhookId} webhooks",
		"listCategories GET /categories categories",
		"listDeliveries GET /webhooks/{webhookId}/deliveries webhooks",
		"listEvents GET /events events",
		"listKeys GET /keys keys",
		"listOrders GET /orders orders",
		"listWebhooks GET /webhooks webhooks",
		"nameCategory PUT /categories/{categoryId} categories",
		"pingWebhook POST /webhooks/{webhookId}/ping webhooks",
		"placeOrder POST /orders orders",
		"revokeKey POST /keys/{keyId}/revoke keys",
		"rotateKey POST /keys/{keyId}/rotate keys",
		"rotateWebhook POST /webhooks/{webhookId}/rotate webhooks",
		"unbanKey POST /keys/{keyId}/unban keys",
		"updateKey PATCH /keys/{keyId} keys",
		"updateOrder PATCH /orders/{orderId} orders",
		"updatePet PATCH /pets/{petId} animals",
		"updateProfile PATCH /pets/{petId}/profile animals",
		"updateWebhook PATCH /webhooks/{webhookId} webhooks",
	}
	got := map[bool][]string{}
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			added := isAddition(op.Extensions)
			got[added] = append(got[added], op.OperationID+" "+method+" "+path+" "+strings.Join(op.Tags, ","))
		}
	}
	for added, want := range map[bool][]string{false: published, true: additions} {
		if slices.Sort(got[added]); !slices.Equal(got[added], want) {
			t.Errorf("additions %v: got %q, want %q", added, got[added], want)
		}
	}
}

func isAddition(extensions map[string]any) bool { return extensions["x-addition"] == true }

func TestServersAreThisOneProductionAndStaging(t *testing.T) {
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

func TestEveryAnswerListsItsHeaders(t *testing.T) {
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
			if op.OperationID == "addPhoto" && status == "201" { // a photo has no address under /v1
				want = slices.Clone(always)
			}
			if op.Deprecated && status != "405" { // a 405 is about the path, not about the operation
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

func TestEveryBodyAndAnswerHasAnExample(t *testing.T) {
	hasExample := func(body *openapi3.MediaType) bool {
		return body != nil && (body.Example != nil || len(body.Examples) > 0)
	}
	for _, op := range operations(t) {
		if op.RequestBody != nil {
			for media, body := range op.RequestBody.Value.Content {
				if !hasExample(body) {
					t.Errorf("%s has no example of a body of type %s", op.OperationID, media)
				}
			}
		}
		for status, response := range op.Responses.Map() {
			if status == "204" && len(response.Value.Content) > 0 {
				t.Errorf("%s 204 has a body", op.OperationID)
			}
			if status != "204" && !hasExample(response.Value.Content["application/json"]) {
				t.Errorf("%s %s has no example", op.OperationID, status)
			}
		}
	}
}

// swagger-typescript-api does not resolve a reference to a body, and its client then sends the JSON as text/plain.
func TestBodiesAreWrittenOutInTheirOperations(t *testing.T) {
	for _, op := range operations(t) {
		if op.RequestBody != nil && op.RequestBody.Ref != "" {
			t.Errorf("the body of %s is a reference to %s", op.OperationID, op.RequestBody.Ref)
		}
	}
}

func TestEveryOperationListsItsRefusals(t *testing.T) {
	always := []string{"401", "405", "429", "500", "503"}
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			want := slices.Clone(always)
			administers := slices.Contains(op.Tags, "keys") && !strings.Contains(op.OperationID, "Own")
			if method != http.MethodGet || administers {
				want = append(want, "403")
			}
			if op.RequestBody != nil {
				want = append(want, "400", "413", "415")
			}
			if strings.Contains(path, "}") {
				want = append(want, "404")
			}
			if keyed := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil; keyed {
				want = append(want, "409")
			}
			for _, status := range want {
				if op.Responses.Value(status) == nil {
					t.Errorf("%s does not say how it answers %s", op.OperationID, status)
				}
			}
			if writes := len(op.Responses.Value("503").Value.Content["application/json"].Examples) > 1; writes != (method != http.MethodGet) {
				t.Errorf("%s: whether its outcome may be unknown is %v", op.OperationID, writes)
			}
		}
	}
}

// Animals may have a categoryId above this bound or below zero. Such ids do not move the counter.
func TestCreateCategoryNamesTheBoundOfItsCounter(t *testing.T) {
	text := document(t).Paths.Find("/categories").Post.Description
	if bound := fmt.Sprintf("positive `categoryId` below 2^%d ", bits.Len64(petstore.CategoryBound)-1); !strings.Contains(text, bound) {
		t.Errorf("the text does not say %q: %s", bound, text)
	}
}

func TestErrorExamplesHaveTheRightStatus(t *testing.T) {
	for _, op := range operations(t) {
		for status, response := range op.Responses.Map() {
			if status < "400" {
				continue
			}
			body := response.Value.Content["application/json"]
			examples := []any{body.Example}
			for _, example := range body.Examples {
				examples = append(examples, example.Value.Value)
			}
			for _, example := range examples {
				if e, ok := example.(map[string]any); ok && fmt.Sprint(e["status"]) != status {
					t.Errorf("%s %s: the status of an example is %v", op.OperationID, status, e["status"])
				}
			}
		}
	}
}

func TestEverythingBeyondThePublishedInterfaceIsMarkedAsAnAddition(t *testing.T) {
	published := map[string][]string{
		"listPets":  {"limit", "status", "200", "401", "429"},
		"createPet": {"201", "400", "401", "429"},
		"getPet":    {"petId", "200", "401", "404", "429"},
		"headers":   {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"},
	}
	check := func(group, name string, extensions map[string]any) {
		t.Helper()
		addition := isAddition(extensions)
		if addition == slices.Contains(published[group], name) {
			t.Errorf("%s: %s is marked as an addition: %v", group, name, addition)
		}
	}
	doc := document(t)
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			added := isAddition(op.Extensions) // the parameters and answers of an added operation are additions too
			for _, parameter := range slices.Concat(item.Parameters, op.Parameters) {
				if !added {
					check(op.OperationID, parameter.Value.Name, parameter.Value.Extensions)
				}
			}
			for status, response := range op.Responses.Map() {
				if !added {
					check(op.OperationID, status, response.Value.Extensions)
				}
				for name, header := range response.Value.Headers {
					check("headers", name, header.Value.Extensions)
				}
			}
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
