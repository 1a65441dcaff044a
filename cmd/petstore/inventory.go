package main

import (
	"context"

	remote "petstore/client"
)

type inventoryCmd struct {
	remoteFlags
	showFlags
}

func (c *inventoryCmd) Run(ctx context.Context, con *console) error {
	return c.with(con, func(store *remote.Client) error {
		counts, err := store.GetInventory(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return show(con, c.showFlags, shape[remote.Inventory]{}, counts)
		}
		return con.table("STATUS", "ANIMALS").print([][]string{
			{string(remote.Available), number(counts.Available)},
			{string(remote.Pending), number(counts.Pending)},
			{string(remote.Sold), number(counts.Sold)},
		})
	})
}
