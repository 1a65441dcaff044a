package manage

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

	"petstore/internal/database"
	"petstore/internal/sqlite"
	"petstore/internal/terminal"
)

// Backup is the command that backs up an SQLite database.
type Backup struct {
	database.Flags
	File string `arg:"" help:"The new file to write, or - for standard output."`
}

// Interrupted says what becomes of a backup that is broken off.
func (*Backup) Interrupted() string { return "no backup was made" }

// Run backs up the embedded store. A server may use the store meanwhile.
func (c *Backup) Run(ctx context.Context, con *terminal.Console) error {
	cfg, err := file(c.Flags)
	if err != nil {
		return err
	}
	began, target := time.Now(), c.File
	if target == "-" {
		target, err = "standard output", printBackup(con, ctx, cfg)
	} else {
		err = sqlite.Backup(ctx, cfg, target, progress(con))
	}
	if err != nil {
		return err
	}
	if err := sqlite.NoteBackup(ctx, cfg, began); err != nil {
		fmt.Fprintf(con.Stderr, "The backup is complete, but the database could not record it, so the metrics do not show it: %v\n", err)
	}
	fmt.Fprintf(con.Stderr, "Backed up %s to %s.\n", cfg.Path, target)
	return nil
}

// printBackup makes the backup in a file beside the database and prints that file. The disk of the database is the one
// most likely to have room for another copy.
func printBackup(con *terminal.Console, ctx context.Context, cfg sqlite.Config) error {
	if terminal.IsTerminal(con.Stdout) {
		return terminal.WrongUsage("standard output is a terminal, and a backup is not text; send it to a file or a program, such as petstore backup - > FILE")
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
	if err := sqlite.Backup(ctx, cfg, made, progress(con)); err != nil {
		return err
	}
	return print(con, ctx, made)
}

// print copies a file to standard output. It stops when ctx ends, even if the reader is slow.
func print(con *terminal.Console, ctx context.Context, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = terminal.Interruptible(ctx, func() (int64, error) { return io.Copy(con.Stdout, file) })
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
		err = cause.Err
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the backup cannot be written to standard output, so there is none: %w", err)
	}
	return err
}

// Restore is the command that restores a backup.
type Restore struct {
	database.Flags
	File    string `arg:"" help:"The backup to restore from."`
	Replace bool   `help:"Replace the database that is there; it stays beside the new one under another name."`
}

// Interrupted says what becomes of a restore that is broken off.
func (*Restore) Interrupted() string { return "nothing was written" }

// Run restores a backup.
func (c *Restore) Run(ctx context.Context, con *terminal.Console) error {
	cfg, err := file(c.Flags)
	if err != nil {
		return err
	}
	aside, err := sqlite.Restore(ctx, cfg, c.File, c.Replace, progress(con))
	if err != nil {
		return err
	}
	fmt.Fprintf(con.Stderr, "Restored %s from %s.\n", cfg.Path, c.File)
	if aside != "" {
		fmt.Fprintf(con.Stderr, "The database that was there is now %s.\n", aside)
	}
	return nil
}

// file returns the configuration of the embedded store that the flags name.
func file(f database.Flags) (sqlite.Config, error) {
	kind, path, err := f.Parse()
	if err == nil && kind != database.SQLite {
		err = terminal.WrongUsage("this command is for the embedded store; use pg_dump and pg_restore with PostgreSQL")
	}
	return sqlite.Config{Path: path, Environment: f.Environment}, err
}

func progress(con *terminal.Console) func(done, total int64) {
	return func(done, total int64) {
		fmt.Fprintf(con.Stderr, "%d of %d MB (%d %%)\n", done>>20, total>>20, done*100/max(1, total))
	}
}
