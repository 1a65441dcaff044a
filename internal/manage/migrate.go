// Package manage holds the commands that work on a database: backup, restore, copy, migrate and events reset.
package manage

import (
	"context"

	"petstore/internal/database"
	"petstore/internal/terminal"
)

// flags are the flags for a command that works on one database.
type flags struct {
	database.Flags
	database.UnusedRedis
}

// Migrate is the command that migrates a database to the schema of this version.
type Migrate struct{ flags }

// Interrupted says what is left of an interrupted migration.
func (*Migrate) Interrupted() string { return "nothing is half done; run it again" }

// Run migrates the database. It does not create a database: if the file does not exist, the value of --database is wrong.
func (c *Migrate) Run(ctx context.Context, con *terminal.Console) error {
	before, known, err := c.CheckSchema(ctx)
	if err != nil {
		return err
	}
	return c.With(ctx, database.ToMigrate, func(*database.Storage) error {
		switch before {
		case known:
			con.Say("The database already has this version's schema.")
		case 0:
			con.Say("The database was empty; now it has this version's schema.")
		default:
			con.Say("The database had schema %d; now it has this version's schema, %d.", before, known)
		}
		return nil
	})
}
