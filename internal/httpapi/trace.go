package httpapi

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traced makes a span of the request, as a part of the caller's trace if it names one. Without a tracer it is not in
// the chain at all.
func (a *API) traced(next handler) handler {
	if a.Tracer == nil {
		return next
	}
	return func(x *exchange) error {
		parent := propagation.TraceContext{}.Extract(x.r.Context(), propagation.HeaderCarrier(x.r.Header))
		ctx, span := a.Tracer.Start(parent, "request", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		x.r = x.r.WithContext(ctx)
		err := next(x)
		span.SetName(x.route())
		span.SetAttributes(
			attribute.String("http.request.method", x.r.Method),
			attribute.String("http.route", x.route()),
			attribute.Int("http.response.status_code", x.status),
			attribute.String("petstore.request_id", x.requestID),
			attribute.String("petstore.key", x.key.ID),
		)
		if x.status >= 500 {
			span.SetStatus(codes.Error, "")
		}
		return err
	}
}
