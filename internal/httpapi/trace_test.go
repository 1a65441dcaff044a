package httpapi_test

import (
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// The expected names and attributes follow OpenTelemetry's conventions for HTTP servers.
func TestSpansAreNamedByMethodAndPathTemplate(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, span string
		want               map[attribute.Key]string
	}{
		"an operation":           {"GET", "/v1/pets/77", "GET /v1/pets/{petId}", map[attribute.Key]string{"http.route": "/v1/pets/{petId}", "http.request.method": "GET", "petstore.operation": "getPet", "url.path": "/v1/pets/77", "url.scheme": "http", "http.response.status_code": "404", "error.type": ""}},
		"HEAD":                   {"HEAD", "/v1/pets", "HEAD /v1/pets", map[attribute.Key]string{"http.route": "/v1/pets", "petstore.operation": "listPets"}},
		"another method":         {"PUT", "/v1/pets", "PUT /v1/pets", map[attribute.Key]string{"http.route": "/v1/pets", "petstore.operation": "other_method"}},
		"an unknown path":        {"GET", "/nowhere/17", "GET", map[attribute.Key]string{"http.route": "", "petstore.operation": "unknown"}},
		"an unknown method":      {"BREW", "/v1/pets", "HTTP /v1/pets", map[attribute.Key]string{"http.request.method": "_OTHER", "http.request.method_original": "BREW"}},
		"a method in lower case": {"get", "/v1/pets", "HTTP /v1/pets", map[attribute.Key]string{"http.request.method": "_OTHER"}},
	} {
		t.Run(name, func(t *testing.T) {
			spans := tracetest.NewSpanRecorder()
			s := serve(t, func(c *httpapi.Config) {
				c.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("test")
			})
			const parent = "0af7651916cd43dd8448eb211c80319c"
			s.send(request(c.method, c.path, s.key(petstore.Free), "X-Request-Id: traced", "traceparent: 00-"+parent+"-b7ad6b7169203331-01"))
			if line := s.log.lineOf("traced"); !strings.Contains(line, `"trace_id":"`+parent+`"`) {
				t.Errorf("the log does not name the trace: %s", line)
			}
			ended := spans.Ended()
			if len(ended) != 1 || ended[0].Name() != c.span || ended[0].SpanContext().TraceID().String() != parent {
				t.Fatalf("the spans are %v", ended)
			}
			got := map[attribute.Key]string{}
			for _, a := range ended[0].Attributes() {
				got[a.Key] = a.Value.String()
			}
			for key, value := range c.want {
				if got[key] != value {
					t.Errorf("%s is %q, want %q", key, got[key], value)
				}
			}
		})
	}
}
