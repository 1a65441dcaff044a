package main

import (
	"context"
	"fmt"

	"petstore/internal/petstore"
)

type migrateCmd struct{ storeFlags }

func (c *migrateCmd) Run(ctx context.Context, con *console) error {
	return c.with(ctx, toServe, func(petstore.Storage) error {
		fmt.Fprintln(con.stderr, "The database has this version's schema.")
		return nil
	})
}
