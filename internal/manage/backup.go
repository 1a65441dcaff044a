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
	flags
	File string `arg:"" help:"The new file to write, or - for standard output."`
}

// Interrupted says what is left of an interrupted backup.
func (*Backup) Interrupted() string { return "no backup was made" }

// Run backs up the database. A server may use the database at the same time.
func (c *Backup) Run(ctx context.Context, con *terminal.Console) error {
	cfg, err := sqliteConfig(c.Flags)
	if err != nil {
		return err
	}
	start, target := time.Now(), c.File
	if target == "-" {
		target, err = "standard output", printBackup(con, ctx, cfg)
	} else {
		err = sqlite.Backup(ctx, cfg, target, reportProgress(con))
	}
	if err != nil {
		return err
	}
	if err := sqlite.NoteBackup(ctx, cfg, start); err != nil {
		fmt.Fprintf(con.Stderr, "The backup is complete, but its time could not be recorded in the database, so the metrics do not show it: %v\n", err)
	}
	fmt.Fprintf(con.Stderr, "Backed up %s to %s.\n", cfg.Path, target)
	return nil
}

// printBackup makes the backup in a temporary file beside the database and prints that file. The disk of the database is the
// disk most likely to have room for a second copy.
func printBackup(con *terminal.Console, ctx context.Context, cfg sqlite.Config) error {
	if terminal.IsTerminal(con.Stdout) {
		return terminal.WrongUsage("standard output is a terminal, and a backup is not text; redirect it to a file or a program, such as petstore backup - > FILE")
	}
	signal.Ignore(syscall.SIGPIPE) // SIGPIPE would end the program before it removes the temporary file
	folder, err := os.MkdirTemp(filepath.Dir(cfg.Path), ".petstore-backup-")
	if err != nil {
		folder, err = os.MkdirTemp("", "petstore-backup-")
	}
	if err != nil {
		return fmt.Errorf("there is no place for a temporary copy of the database: %w", err)
	}
	defer os.RemoveAll(folder)
	backup := filepath.Join(folder, "backup.db")
	if err := sqlite.Backup(ctx, cfg, backup, reportProgress(con)); err != nil {
		return err
	}
	return printFile(con, ctx, backup)
}

// printFile copies a file to standard output. It stops when ctx ends, even if nobody reads the output.
func printFile(con *terminal.Console, ctx context.Context, name string) error {
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
		return fmt.Errorf("no backup was made, because standard output cannot be written: %w", err)
	}
	return err
}

// sqliteConfig returns the configuration of the SQLite database that the flags choose.
func sqliteConfig(f database.Flags) (sqlite.Config, error) {
	kind, path, err := f.Parse()
	if err == nil && kind != database.SQLite {
		err = terminal.WrongUsage("this command is for SQLite; use pg_dump and pg_restore with PostgreSQL")
	}
	return sqlite.Config{Path: path, Environment: f.Environment}, err
}

func reportProgress(con *terminal.Console) func(done, total int64) {
	return func(done, total int64) {
		fmt.Fprintf(con.Stderr, "%d of %d MB (%d %%)\n", done>>20, total>>20, done*100/max(1, total))
	}
}
