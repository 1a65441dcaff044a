package main

import (
	"context"
	"fmt"
	"time"

	"petstore/internal/petstore"
)

type copyCmd struct {
	Environment petstore.Environment `enum:"production,staging" default:"production" help:"The environment of both databases: production or staging."`
	From        string               `required:"" placeholder:"URL" help:"The database to copy from, which may be in use."`
	To          string               `required:"" placeholder:"URL" help:"The database to copy into, which no server may use if it is a file."`
}

func (c *copyCmd) Run(ctx context.Context, con *console) error {
	from, err := storeFlags{Environment: c.Environment, Database: c.From}.open(ctx, toChange, nil)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := storeFlags{Environment: c.Environment, Database: c.To}.open(ctx, toLoad, nil)
	if err != nil {
		return err
	}
	defer to.Close()
	var done int64
	told := time.Now()
	err = petstore.Copy(ctx, from, to, func(n, total int64) {
		done = n
		if now := time.Now(); now.Sub(told) >= progressEvery {
			told = now
			fmt.Fprintf(con.stderr, "%d of %d animals (%d %%)\n", n, total, n*100/total)
		}
	})
	if err != nil {
		return fmt.Errorf("%w; what was copied stays, and copying again goes on", err)
	}
	fmt.Fprintf(con.stderr, "Copied %d animals, the keys and the idempotency records.\n", done)
	return nil
}

// progressEvery is how often a long command says how far it is.
const progressEvery = time.Second
