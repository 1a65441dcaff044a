package manage

import (
	"context"
	"fmt"

	"petstore/internal/sqlite"
	"petstore/internal/terminal"
)

// Restore is the command that restores a backup.
type Restore struct {
	flags
	File    string `arg:"" help:"The backup to restore from."`
	Replace bool   `help:"Replace the existing database, which is kept beside the new one under another name."`
}

// Interrupted says what is left of an interrupted restore.
func (*Restore) Interrupted() string { return "nothing was written" }

// Run restores a backup.
func (c *Restore) Run(ctx context.Context, con *terminal.Console) error {
	cfg, err := sqliteConfig(c.Flags)
	if err != nil {
		return err
	}
	replaced, err := sqlite.Restore(ctx, cfg, c.File, c.Replace, reportProgress(con))
	if err != nil {
		return err
	}
	fmt.Fprintf(con.Stderr, "Restored %s from %s.\n", cfg.Path, c.File)
	if replaced != "" {
		fmt.Fprintf(con.Stderr, "The previous database is now %s.\n", replaced)
	}
	return nil
}
