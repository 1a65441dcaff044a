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

// endpointVariables are variables of OpenTelemetry. Requests are traced if one of them is set.
var endpointVariables = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// newTracer returns nil if no endpoint is set. The exporter reads the endpoint and its other settings from the environment.
func newTracer(ctx context.Context, con *terminal.Console, environment petstore.Environment, log *slog.Logger) (trace.Tracer, func(), error) {
	endpoint := ""
	for _, name := range endpointVariables {
		endpoint += con.Getenv(name)
	}
	if endpoint == "" {
		return nil, func() {}, nil
	}
	otel.SetLogger(logr.FromSlogHandler(valueless{log.Handler()}))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("traces cannot be sent, check OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces could not be sent", "cause", err.Error()) }))
	about, err := resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.name", "petstore"),
			attribute.String("service.version", con.Version),
			attribute.String("deployment.environment.name", string(environment)),
		),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(), // so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win
	)
	if err != nil {
		return nil, nil, terminal.WrongUsage("OTEL_RESOURCE_ATTRIBUTES cannot be read; it may be name=value pairs, separated by commas: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		provider.Shutdown(ctx)
	}
	return provider.Tracer("petstore"), stop, nil
}

// valueless logs what OpenTelemetry says about its settings, but not their values: an endpoint and its headers may hold
// secrets.
type valueless struct{ slog.Handler }

func (h valueless) Handle(ctx context.Context, told slog.Record) error {
	return h.Handler.Handle(ctx, slog.NewRecord(told.Time, told.Level, "OpenTelemetry: "+told.Message+"; check the OTEL_ variables", told.PC))
}
