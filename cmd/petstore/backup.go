package main

import (
	"context"
	"fmt"
	"time"

	"petstore/internal/sqlite"
)

type backupCmd struct {
	storeFlags
	File string `arg:"" help:"The new file to write."`
}

// Run backs up the embedded store while a server may go on using it.
func (c *backupCmd) Run(ctx context.Context, con *console) error {
	cfg, err := c.file()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := sqlite.Backup(ctx, cfg, c.File, con.progress); err != nil {
		return err
	}
	if err := sqlite.NoteBackup(ctx, cfg, began); err != nil {
		fmt.Fprintf(con.stderr, "The backup is whole, but the database does not remember it, so the metrics do not show it: %v\n", err)
	}
	fmt.Fprintf(con.stderr, "Backed up %s to %s.\n", cfg.Path, c.File)
	return nil
}

type restoreCmd struct {
	storeFlags
	File    string `arg:"" help:"The backup to restore from."`
	Replace bool   `help:"Replace the database that is there; it stays beside the new one under another name."`
}

func (c *restoreCmd) Run(ctx context.Context, con *console) error {
	cfg, err := c.file()
	if err != nil {
		return err
	}
	aside, err := sqlite.Restore(ctx, cfg, c.File, c.Replace, con.progress)
	if err != nil {
		return err
	}
	fmt.Fprintf(con.stderr, "Restored %s from %s.\n", cfg.Path, c.File)
	if aside != "" {
		fmt.Fprintf(con.stderr, "The database that was there is now %s.\n", aside)
	}
	return nil
}

// file is the embedded store that the flags name.
func (f storeFlags) file() (sqlite.Config, error) {
	kind, path, err := f.database()
	if err == nil && kind != "sqlite" {
		err = wrongUsage("this command is for the embedded store; use pg_dump and pg_restore with PostgreSQL")
	}
	return sqlite.Config{Path: path, Environment: f.Environment}, err
}

func (con *console) progress(done, total int64) {
	fmt.Fprintf(con.stderr, "%d of %d MB (%d %%)\n", done>>20, total>>20, done*100/max(1, total))
}
