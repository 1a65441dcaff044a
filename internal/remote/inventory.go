package remote

import (
	"context"

	"petstore/client"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Inventory is the command that counts the animals on a server.
type Inventory struct {
	profile.Flags
	showFlags
}

// Run prints how many animals have each status.
func (c *Inventory) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		counts, err := store.GetInventory(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return show(con, c.showFlags, view[client.Inventory]{}, counts)
		}
		return con.Table("STATUS", "ANIMALS").Print([][]string{
			{string(client.Available), number(counts.Available)},
			{string(client.Pending), number(counts.Pending)},
			{string(client.Sold), number(counts.Sold)},
		})
	})
}
