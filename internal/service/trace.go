package service

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/terminal"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// endpointVariables are environment variables of OpenTelemetry. The server traces requests if one of them is set.
var endpointVariables = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// newTracer returns a tracer and the function that stops the tracer. The tracer is nil if no endpoint is set. The exporter
// reads its settings from the environment.
func newTracer(ctx context.Context, con *terminal.Console, environment petstore.Environment, log *slog.Logger) (trace.Tracer, func(), error) {
	endpoint := ""
	for _, name := range endpointVariables {
		endpoint += con.Getenv(name)
	}
	if endpoint == "" {
		return nil, func() {}, nil
	}
	otel.SetLogger(logr.FromSlogHandler(messageOnly{log.Handler()}))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("traces cannot be sent; check OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces could not be sent", "cause", err.Error()) }))
	about, err := resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.name", "petstore"),
			attribute.String("service.version", con.Version),
			attribute.String("deployment.environment.name", string(environment)),
		),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(), // comes last, so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the options above
	)
	if err != nil {
		return nil, nil, terminal.WrongUsage("OTEL_RESOURCE_ATTRIBUTES cannot be parsed; it must be name=value pairs, separated by commas: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		provider.Shutdown(ctx)
	}
	return provider.Tracer("petstore"), stop, nil
}

// messageOnly logs the messages of OpenTelemetry without their attributes. An attribute may be an endpoint or a header with
// a secret.
type messageOnly struct{ slog.Handler }

// Handle implements slog.Handler.
func (h messageOnly) Handle(ctx context.Context, r slog.Record) error {
	return h.Handler.Handle(ctx, slog.NewRecord(r.Time, r.Level, "OpenTelemetry: "+r.Message+"; check the OTEL_ variables", r.PC))
}
