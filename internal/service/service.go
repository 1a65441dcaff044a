// Package service runs a server. It starts and stops the parts of the server, and shows operators the health, the logs, the
// metrics and the traces of the server. It holds the commands serve, demo and healthcheck.
//
// The file serve.go checks the settings. The file service.go starts the parts in order. No other file connects the parts.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"

	"petstore/internal/database"
	"petstore/internal/feed"
	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
	"petstore/internal/server"
	"petstore/internal/terminal"
	"petstore/internal/usage"
)

// service is a server with its parts. Each step of run starts one part and registers how to stop that part.
type service struct {
	*Serve
	settings settings
	con      *terminal.Console
	log      logs

	registry *prometheus.Registry
	listener *net.TCPListener
	storage  *database.Storage
	limiter  petstore.Limiter
	distant  petstore.Distant // the limiter; nil unless it uses Redis
	tracer   trace.Tracer
	health   *health
	admin    string // the address of the admin listener, or "off"
	usage    *usage.Counter
	api      *httpapi.API
	webhooks *feed.Deliverer
	stops    []func()
}

// run starts the parts in the order below, serves until ctx ends, and stops the parts in reverse order.
func (s *service) run(ctx context.Context) error {
	defer s.stop()
	for _, start := range []func(context.Context) error{
		s.openPort,
		s.openStorage,
		s.startLimiter,
		s.startTracer,
		s.buildAPI,
		s.startAdmin,
		s.markServed,
		s.ensureKey,
		s.startUpkeep,
		s.startWebhooks,
	} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	return s.serveClients(ctx)
}

// onStop registers the function that stops a part.
func (s *service) onStop(stop func()) { s.stops = append(s.stops, stop) }

func (s *service) stop() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
}

func (s *service) openPort(context.Context) (err error) {
	if s.listener, err = listen(s.Listen, "--listen"); err != nil {
		return err
	}
	s.onStop(func() { s.listener.Close() })
	return nil
}

func (s *service) openStorage(ctx context.Context) (err error) {
	s.registry = newRegistry(s.con.Version)
	registerDroppedLines(s.registry, s.log.queue)
	registerCertificate(s.registry, s.settings.tls, s.log.Logger)
	watch := watchStorage(s.registry)
	watch.Lost = func(problem error) { reportLostFile(s.log.Logger, problem) }
	watch.Replaced = reportReplaced(s.registry, s.log.Logger)
	watch.Indexing = func(left int64) { reportIndexing(s.log.Logger, left) }
	if s.storage, err = s.Open(ctx, database.ToServe, watch); err != nil {
		return err
	}
	s.onStop(func() { s.storage.Close() })
	registerSharedReads(s.registry, s.storage.SharedReads)
	registerStorage(s.registry, s.storage)
	s.registry.MustRegister(feedCollector{s.storage})
	return nil
}

// reportLostFile logs that the SQLite file was moved or deleted, or that it is back.
func reportLostFile(log *slog.Logger, problem error) {
	if problem == nil {
		log.Info("the database file is back; changes are stored again")
		return
	}
	log.Error("the database file is missing; nothing can be stored", "cause", problem.Error())
}

// reportReplaced registers the metric for primaries that another one has replaced, and returns the function that counts and
// logs them.
func reportReplaced(registry *prometheus.Registry, log *slog.Logger) func(problem error) {
	replaced := promauto.With(registry).NewCounter(prometheus.CounterOpts{
		Name: "petstore_replaced_primaries_total",
		Help: "PostgreSQL servers that still answered as the primary after another one had become the primary.",
	})
	return func(problem error) {
		replaced.Inc()
		log.Error("a primary that another one has replaced still answers; this replica no longer uses it", "cause", problem.Error())
	}
}

// reportIndexing logs how a long indexing of the animals proceeds.
func reportIndexing(log *slog.Logger, left int64) {
	if left == 0 {
		log.Info("all animals are indexed for searches")
		return
	}
	log.Info("animals are being indexed; meanwhile the server may refuse searches", "left", left)
}

func (s *service) startLimiter(context.Context) error {
	degraded := func() bool { return false }
	if s.Redis == "" {
		s.limiter = ratelimit.NewMemory(time.Now)
	} else {
		fallback, err := ratelimit.NewFallback(s.Redis, s.Environment, s.log.Logger, observeDecisions(s.registry))
		if err != nil {
			return terminal.WrongUsage("--redis: %w", err)
		}
		s.onStop(fallback.Close)
		s.limiter, s.distant, degraded = fallback, fallback, fallback.Degraded
	}
	registerDegraded(s.registry, degraded)
	return nil
}

func (s *service) startTracer(ctx context.Context) error {
	tracer, stop, err := newTracer(ctx, s.con, s.Environment, s.log.Logger)
	if err != nil {
		return err
	}
	s.tracer = tracer
	s.onStop(stop)
	return nil
}

func (s *service) buildAPI(context.Context) error {
	s.health = &health{storage: s.storage, log: s.log.Logger}
	config := s.config(s.settings)
	s.usage = usage.New(s.storage)
	config.Storage, config.Versioned, config.Used = s.storage, s.storage.Versioned, s.usage.Count
	config.Limiter, config.Distant, config.Probes = s.limiter, s.distant, probes(s.health)
	config.Version, config.MaxStreams, config.LongLived = s.con.Version, server.MostStreams(maxOpenFiles()), server.LongLived
	config.Log, config.Access, config.Metrics, config.Tracer = s.log.Logger, s.log.access, s.registry, s.tracer
	config.CheckWebhookURL = s.settings.guard.CheckURL
	config.Ping = func(ctx context.Context, w petstore.Webhook) petstore.Delivery { return s.webhooks.Ping(ctx, w) }
	s.api = httpapi.New(config)
	client := s.settings.guard.Client()
	s.onStop(client.Close)
	s.webhooks = feed.NewDeliverer(feed.DelivererConfig{
		Follower: s.api.Feed(), Storage: s.storage, Post: client.Post, Log: s.log.Logger, Delivered: countDeliveries(s.registry),
	})
	return nil
}

func (s *service) startAdmin(context.Context) error {
	s.admin = s.AdminListen
	if !s.servesAdmin() {
		return nil
	}
	listener, err := listen(s.AdminListen, "--admin-listen")
	if err != nil {
		return err
	}
	s.admin = listener.Addr().String()
	s.onStop(serveAdmin(listener, s.registry, s.health, s.log.Logger))
	return nil
}

// markServed records that a server has served from the database, so that petstore copy does not overwrite the database.
func (s *service) markServed(ctx context.Context) error { return s.storage.MarkServed(ctx) }

func (s *service) startUpkeep(context.Context) error {
	s.onStop(keepFeed(s.storage, petstore.EventsKept{Age: time.Duration(s.EventsKeep), Bytes: int64(s.EventsMost)}, s.log.Logger))
	s.onStop(purgeDeliveries(s.storage, s.log.Logger))
	s.onStop(flushUsage(s.usage, s.log.Logger))
	s.onStop(purgeUsage(s.storage, s.log.Logger))
	s.onStop(purgeIdempotency(s.storage, s.log.Logger))
	s.onStop(expireOrders(s.storage, s.log.Logger))
	if s.storage.IndexWords != nil {
		s.onStop(indexWords(s.storage.IndexWords, s.log.Logger))
	}
	return nil
}

// startWebhooks delivers events to webhooks until ctx ends. The deliveries that are under way then have as much time to end
// as the requests of clients.
func (s *service) startWebhooks(ctx context.Context) error {
	stopDeliverer := s.webhooks.Start()
	stop := sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.ShutdownTimeout)
		defer cancel()
		stopDeliverer(ctx)
	})
	context.AfterFunc(ctx, stop)
	s.onStop(stop)
	return nil
}

func (s *service) serveClients(ctx context.Context) error {
	s.log.Info("petstore "+s.con.Version, "environment", s.Environment, "database", s.Describe(), "limiter", s.describeLimiter())
	conns := server.MostConns(maxOpenFiles())
	defer context.AfterFunc(ctx, s.api.EndStreams)() // the server does not wait for streams when it stops
	s.log.Info("serving", "address", localURL(s.listener, s.settings.tls != nil), "admin", s.admin, "connections", conns)
	err := (&server.Server{
		Handler:         s.api,
		AnswerMalformed: s.api.AnswerMalformed,
		Certificate:     s.settings.tls,
		TrustedProxies:  s.settings.proxies,
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

func (s *service) describeLimiter() string {
	if s.Redis == "" {
		return "in this process"
	}
	return "redis"
}
