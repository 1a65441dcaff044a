package service

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"petstore/internal/ratelimit"
	"petstore/internal/terminal"
)

// check implements serve --check. It prints a line for each thing that serve needs, and fails at the first missing thing. It
// may run while the old server still runs, so it takes neither the ports nor the lock of the database.
func (c *Serve) check(ctx context.Context, con *terminal.Console, s settings) error {
	fmt.Fprintf(con.Stdout, "settings: valid, for the %s environment\n", c.Environment)
	if s.tls != nil {
		expiry := s.tls.Expires(slog.New(slog.DiscardHandler))
		shown := expiry.UTC().Format(time.RFC3339)
		if expiry.Before(time.Now()) {
			return fmt.Errorf("the certificate in --tls-cert %s expired on %s; renew it", c.TLSCert, shown)
		}
		fmt.Fprintf(con.Stdout, "certificate: %s is valid until %s\n", c.TLSCert, shown)
	}
	current, needed, err := c.CheckSchema(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(con.Stdout, "database: %s %s\n", c.Describe(), describeSchema(current, needed))
	if c.Redis != "" {
		redis, err := ratelimit.NewRedis(c.Redis, c.Environment)
		if err != nil {
			return fmt.Errorf("%w; check --redis, and whether Redis is running", err)
		}
		defer redis.Close()
		if err := redis.Try(ctx); err != nil {
			return fmt.Errorf("--redis answers but cannot count requests: %w; it must be a primary, and its user must be allowed to run scripts on the keys petstore:*", err)
		}
		fmt.Fprintln(con.Stdout, "redis: answers")
	}
	return nil
}

func describeSchema(current, needed int) string {
	switch current {
	case 0:
		return "is empty; serve creates its schema"
	case needed:
		return "has the schema of this version"
	}
	return fmt.Sprintf("has the schema of an older version (%d of %d); serve migrates it", current, needed)
}
