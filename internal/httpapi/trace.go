package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traced creates a span for the request. If the request names a trace of the client, the span belongs to that trace. Without
// a tracer, traced adds no step to the chain.
func (a *API) traced(next handler) handler {
	if a.Tracer == nil {
		return next
	}
	return func(x *exchange) error {
		ctx, span := a.Tracer.Start(a.parentSpan(x), "request", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		x.r, x.traceID = x.r.WithContext(ctx), span.SpanContext().TraceID().String()
		err := next(x)
		a.describeSpan(span, x)
		return err
	}
}

// parentSpan returns the context of the client's span, if the client sent one. It leaves out a trace state that contains an
// API key, because the state would be exported.
func (a *API) parentSpan(x *exchange) context.Context {
	ctx := propagation.TraceContext{}.Extract(x.r.Context(), propagation.HeaderCarrier(x.r.Header))
	parent := trace.SpanContextFromContext(ctx)
	if state := parent.TraceState().String(); a.redact(state) != state {
		return trace.ContextWithRemoteSpanContext(ctx, parent.WithTraceState(trace.TraceState{}))
	}
	return ctx
}

// describeSpan sets the name and the attributes of a span, following OpenTelemetry's conventions for HTTP servers.
func (a *API) describeSpan(span trace.Span, x *exchange) {
	name, method := x.r.Method, x.r.Method
	if !slices.Contains(knownMethods, method) {
		name, method = "HTTP", "_OTHER"
		span.SetAttributes(attribute.String("http.request.method_original", a.redactedMethod(x)))
	}
	if x.resource != nil {
		template := strings.Join(x.resource.segments, "/")
		span.SetAttributes(attribute.String("http.route", template))
		name += " " + template
	}
	span.SetName(name)
	span.SetAttributes(
		attribute.String("http.request.method", method),
		attribute.String("url.path", a.redactedPath(x)),
		attribute.String("url.scheme", scheme(x.r)),
		attribute.Int("http.response.status_code", x.status),
		attribute.String("petstore.operation", x.route()),
		attribute.String("petstore.request_id", x.requestID),
		attribute.String("petstore.key", x.key.ID),
	)
	if x.status >= http.StatusInternalServerError {
		span.SetAttributes(attribute.String("error.type", strconv.Itoa(x.status)))
		span.SetStatus(codes.Error, "")
	}
}

// knownMethods are the methods that may appear in the name of a span. Clients may send any word as a method, but the number
// of different names must stay small.
var knownMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
	http.MethodConnect, http.MethodTrace,
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}
