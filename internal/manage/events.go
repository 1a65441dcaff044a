package manage

import (
	"context"

	"petstore/internal/database"
	"petstore/internal/terminal"
)

// ResetEvents is the command that gives the feed of events a new name, after a database was recovered to an earlier state.
type ResetEvents struct{ flags }

// Help explains when to reset the feed.
func (ResetEvents) Help() string {
	return "Run it after you recovered a database by other means than petstore restore, such as from a snapshot of its disk or with pg_restore, and before a server serves it. Readers of the feed may have seen events that the database no longer has. After the reset, their positions count as gone (410 events_gone), so that they notice; webhooks are disabled and stand at the end of the feed. petstore restore does the same by itself."
}

// Interrupted says what is left of an interrupted reset.
func (*ResetEvents) Interrupted() string { return "run the command again" }

// Run resets the feed.
func (c *ResetEvents) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(ctx, database.ToRecover, func(storage *database.Storage) error {
		if err := storage.ResetFeed(ctx); err != nil {
			return err
		}
		con.Say("The feed of events has a new name. Readers that go on where they were get 410 events_gone, and webhooks are disabled.")
		return nil
	})
}
