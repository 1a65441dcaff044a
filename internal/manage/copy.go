package manage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// Copy is the command that copies one database into another.
type Copy struct {
	database.UnusedRedis
	Environment petstore.Environment `enum:"production,staging" default:"production" help:"production or staging. Both databases must belong to it."`
	From        string               `required:"" placeholder:"URL" help:"The database to copy from, which a server may be using: sqlite:FILE or postgres://user:password@host/name."`
	To          string               `required:"" placeholder:"URL" help:"The database to copy into, in the same form. No server may have served from it yet."`
}

// Interrupted says what is left of an interrupted copy.
func (*Copy) Interrupted() string { return "what was copied stays; run the command again to continue" }

// Run copies one database into another.
func (c *Copy) Run(ctx context.Context, con *terminal.Console) error {
	from, err := c.open(ctx, "--from", c.From, database.ToUse)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := c.open(ctx, "--to", c.To, database.ToFill)
	if err != nil {
		return err
	}
	defer to.Close()
	reported := time.Now()
	tallies, err := petstore.Copy(ctx, from, to, func(kind string, n, total int64) {
		now := time.Now()
		if now.Sub(reported) < progressEvery {
			return
		}
		reported = now
		if total == 0 {
			fmt.Fprintf(con.Stderr, "%d %s\n", n, kind)
		} else {
			fmt.Fprintf(con.Stderr, "%d of %d %s (%d %%)\n", n, total, kind, n*100/total)
		}
	})
	switch {
	case errors.Is(err, petstore.ErrServed):
		return errors.New("a server has served from the database to copy into, and a copy would undo what was done there; copy into an empty one")
	case err != nil:
		return fmt.Errorf("%w; %s", err, c.Interrupted())
	}
	for _, t := range tallies {
		kept := ""
		if t.Kept > 0 {
			kept = fmt.Sprintf(", %d kept that only the target has", t.Kept)
		}
		fmt.Fprintf(con.Stderr, "Copied %s: %d added, %d changed, %d removed%s\n", t.Kind, t.Added, t.Changed, t.Removed, kept)
	}
	return nil
}

// open opens a database. Its errors name the flag that contains the URL.
func (c *Copy) open(ctx context.Context, flag, url string, why database.Purpose) (*database.Storage, error) {
	storage, err := database.Flags{Environment: c.Environment, Database: url}.Open(ctx, why, database.Watch{})
	return storage, terminal.RenameFlags(err, func(named string) string {
		if named == "--database" {
			return flag
		}
		return named
	})
}

// progressEvery is the time between two reports of a copy's progress.
const progressEvery = time.Second
