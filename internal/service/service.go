// Package service is a server and its parts: how they start and stop, what operators see of them, and the commands that
// serve.
//
// A server begins in serve.go with its settings. service.go starts its parts in order; nothing else wires them together.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"petstore/internal/database"
	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
	"petstore/internal/server"
	"petstore/internal/terminal"
)

// service is a server and its parts. Each step of run starts one part and notes how to stop it.
type service struct {
	*Serve
	set settings
	con *terminal.Console
	log logs

	registry *prometheus.Registry
	listener *net.TCPListener
	storage  *database.Storage
	limiter  petstore.Limiter
	distant  petstore.Distant // the limiter, if it asks Redis
	tracer   trace.Tracer
	health   *health
	api      *httpapi.API
	stops    []func()
}

// run starts the parts in this order, serves until ctx ends, and stops the parts in the reverse order.
func (s *service) run(ctx context.Context) error {
	defer s.stop()
	for _, start := range []func(context.Context) error{
		s.takePort,
		s.openStore,
		s.startLimiter,
		s.startTracer,
		s.makeAPI,
		s.startAdmin,
		s.claimStore,
		s.makeKey,
		s.startUpkeep,
	} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	return s.serveClients(ctx)
}

// atStop registers the function that stops a part.
func (s *service) atStop(stop func()) { s.stops = append(s.stops, stop) }

func (s *service) stop() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
}

func (s *service) takePort(context.Context) (err error) {
	if s.listener, err = listen(s.Listen, "--listen"); err != nil {
		return err
	}
	s.atStop(func() { s.listener.Close() })
	return nil
}

func (s *service) openStore(ctx context.Context) (err error) {
	s.registry = newRegistry(s.con.Version)
	countDroppedLines(s.registry, s.log.queue)
	showCertificate(s.registry, s.set.tls, s.log.Logger)
	watch := watchStore(s.registry)
	watch.Lost = func(problem error) { reportLoss(s.log.Logger, problem) }
	if s.storage, err = s.Open(ctx, database.ToServe, watch); err != nil {
		return err
	}
	s.atStop(func() { s.storage.Close() })
	countSharedReads(s.registry, s.storage.SharedReads)
	showStore(s.registry, s.storage)
	return nil
}

// reportLoss logs that the embedded store has lost its file, or has it back.
func reportLoss(log *slog.Logger, problem error) {
	if problem == nil {
		log.Info("the database is in its place again; animals are stored")
		return
	}
	log.Error("the database is lost; nothing can be stored", "cause", problem.Error())
}

func (s *service) startLimiter(context.Context) error {
	degraded := func() bool { return false }
	if s.Redis == "" {
		s.limiter = ratelimit.NewMemory(time.Now)
	} else {
		fallback, err := ratelimit.NewFallback(s.Redis, s.Environment, s.log.Logger, timeDecisions(s.registry))
		if err != nil {
			return terminal.WrongUsage("--redis: %w", err)
		}
		s.atStop(fallback.Close)
		s.limiter, s.distant, degraded = fallback, fallback, fallback.Degraded
	}
	showDegraded(s.registry, degraded)
	return nil
}

func (s *service) startTracer(ctx context.Context) error {
	tracer, stop, err := newTracer(ctx, s.con, s.Environment, s.log.Logger)
	if err != nil {
		return err
	}
	s.tracer = tracer
	s.atStop(stop)
	return nil
}

func (s *service) makeAPI(context.Context) error {
	s.health = &health{storage: s.storage, log: s.log.Logger}
	config := s.config(s.set)
	config.Storage, config.Versioned = s.storage, s.storage.Versioned
	config.Limiter, config.Distant, config.Probes = s.limiter, s.distant, probes(s.health)
	config.Log, config.Access, config.Metrics, config.Tracer = s.log.Logger, s.log.access, s.registry, s.tracer
	s.api = httpapi.New(config)
	return nil
}

func (s *service) startAdmin(context.Context) error {
	stop, err := s.serveAdmin(s.registry, s.health, s.log.Logger)
	if err != nil {
		return err
	}
	s.atStop(stop)
	return nil
}

// claimStore records that a server serves from the store, so that no copy overwrites it.
func (s *service) claimStore(ctx context.Context) error { return s.storage.MarkServed(ctx) }

func (s *service) startUpkeep(context.Context) error {
	s.atStop(purgeIdempotency(s.storage, s.log.Logger))
	s.atStop(expireOrders(s.storage, s.log.Logger))
	return nil
}

func (s *service) serveClients(ctx context.Context) error {
	s.log.Info("petstore "+s.con.Version, "environment", s.Environment, "database", s.Describe(), "limiter", s.describeLimiter())
	conns := server.MostConns(openFiles())
	s.log.Info("serving", "address", publicURL(s.listener, s.set.tls != nil), "admin", s.AdminListen, "connections", conns)
	err := (&server.Server{
		Handler:         s.api,
		Refusal:         s.api.Refusal,
		Certificate:     s.set.tls,
		TrustedProxies:  s.set.proxies,
		MaxConns:        conns,
		Draining:        &s.health.draining,
		DrainDelay:      s.DrainDelay,
		ShutdownTimeout: s.ShutdownTimeout,
		Log:             s.log.Logger,
	}).Serve(ctx, s.listener)
	if errors.Is(err, server.ErrCutOff) {
		return fmt.Errorf("requests were cut off because they took longer than --shutdown-timeout %s", s.ShutdownTimeout)
	}
	return err
}
