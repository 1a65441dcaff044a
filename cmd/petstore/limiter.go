package main

import (
	"context"
	"log/slog"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

// limiter makes what counts requests.
func (c *serveCmd) limiter(ctx context.Context, log *slog.Logger) (petstore.Limiter, func(), error) {
	return ratelimit.NewMemory(time.Now), func() {}, nil
}

func (c *serveCmd) describeLimiter() string {
	if c.Redis == "" {
		return "in this process"
	}
	return "redis"
}

func (c *serveCmd) describeDatabase() string {
	kind, path, _ := c.database()
	if kind == "sqlite" {
		return "sqlite:" + path
	}
	return kind
}
