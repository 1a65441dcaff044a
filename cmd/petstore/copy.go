package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"petstore/internal/petstore"
)

type copyCmd struct {
	Environment petstore.Environment `enum:"production,staging" default:"production" help:"The environment of both databases: production or staging."`
	From        string               `required:"" placeholder:"URL" help:"The database to copy from, which may be in use: sqlite:FILE or postgres://user:password@host/name."`
	To          string               `required:"" placeholder:"URL" help:"The database to copy into, from which no server has served yet, written in the same way."`
}

func (c *copyCmd) Run(ctx context.Context, con *console) error {
	from, err := c.open(ctx, "--from", c.From, toChange)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := c.open(ctx, "--to", c.To, toFill)
	if err != nil {
		return err
	}
	defer to.Close()
	told := time.Now()
	tallies, err := petstore.Copy(ctx, from, to, func(n, total int64) {
		if now := time.Now(); now.Sub(told) >= progressEvery {
			told = now
			fmt.Fprintf(con.stderr, "%d of %d animals (%d %%)\n", n, total, n*100/max(1, total))
		}
	})
	switch {
	case errors.Is(err, petstore.ErrServed):
		return petstore.ErrServed
	case err != nil:
		return fmt.Errorf("%w; what was copied stays, and copying again goes on", err)
	}
	for _, t := range tallies {
		kept := ""
		if t.Kept > 0 {
			kept = fmt.Sprintf(", %d only there and kept", t.Kept)
		}
		fmt.Fprintf(con.stderr, "Copied %s: %d added, %d changed, %d removed%s\n", t.Kind, t.Added, t.Changed, t.Removed, kept)
	}
	return nil
}

// open opens a database. Its errors name the flag that gave the URL.
func (c *copyCmd) open(ctx context.Context, flag, url string, why purpose) (petstore.Copyable, error) {
	storage, err := storeFlags{Environment: c.Environment, Database: url}.open(ctx, why, watch{})
	return storage, reword(err, func(named string) string {
		if named == "--database" {
			return flag
		}
		return named
	})
}

// progressEvery is how often a long command reports its progress.
const progressEvery = time.Second
