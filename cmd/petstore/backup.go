package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"petstore/internal/sqlite"
)

type backupCmd struct {
	storeFlags
	File string `arg:"" help:"The new file to write, or - for standard output."`
}

// Run backs up the embedded store. A server may use the store meanwhile.
func (c *backupCmd) Run(ctx context.Context, con *console) error {
	cfg, err := c.file()
	if err != nil {
		return err
	}
	began, target := time.Now(), c.File
	if target == "-" {
		target, err = "standard output", con.printBackup(ctx, cfg)
	} else {
		err = sqlite.Backup(ctx, cfg, target, con.progress)
	}
	if err != nil {
		return err
	}
	if err := sqlite.NoteBackup(ctx, cfg, began); err != nil {
		fmt.Fprintf(con.stderr, "The backup is complete, but the database could not record it, so the metrics do not show it: %v\n", err)
	}
	fmt.Fprintf(con.stderr, "Backed up %s to %s.\n", cfg.Path, target)
	return nil
}

// printBackup makes the backup in a file beside the database and prints that file. The disk of the database is the one
// most likely to have room for another copy.
func (con *console) printBackup(ctx context.Context, cfg sqlite.Config) error {
	if isTerminal(con.stdout) {
		return wrongUsage("standard output is a terminal, and a backup is not text; send it to a file or a program, such as petstore backup - > FILE")
	}
	signal.Ignore(syscall.SIGPIPE) // SIGPIPE would end the program before it has removed the file
	folder, err := os.MkdirTemp(filepath.Dir(cfg.Path), ".petstore-backup-")
	if err != nil {
		folder, err = os.MkdirTemp("", "petstore-backup-")
	}
	if err != nil {
		return fmt.Errorf("the backup cannot be made beside the database before it is printed: %w", err)
	}
	defer os.RemoveAll(folder)
	made := filepath.Join(folder, "backup.db")
	if err := sqlite.Backup(ctx, cfg, made, con.progress); err != nil {
		return err
	}
	return con.print(ctx, made)
}

// print copies a file to standard output. It stops when ctx ends, even if the reader is slow.
func (con *console) print(ctx context.Context, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	err = orStopped(ctx, func() error {
		_, err := io.Copy(con.stdout, file)
		return err
	})
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
		err = cause.Err
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the backup cannot be written to standard output, so there is none: %w", err)
	}
	return err
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

// file returns the configuration of the embedded store that the flags name.
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
