package transfer

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Import is the command that adds the animals in a file.
type Import struct {
	profile.Flags
	database.UnusedRedis
	Database         string               `placeholder:"URL" help:"Add the animals straight to this database instead of through a server: sqlite:FILE or postgres://user:password@host/name. No server may be using an SQLite file."`
	Environment      petstore.Environment `enum:"production,staging" default:"production" help:"The environment of that database: production or staging."`
	File             string               `arg:"" help:"The file to import, or - for standard input: either JSON Lines, or CSV with the columns name and categoryId or category, and optionally status, breed, sex, bornOn, arrivedOn, description, tags and notes."`
	Format           string               `enum:"auto,csv,jsonl" default:"auto" help:"csv, jsonl or auto, which recognizes the format by the extension of the file, or else by its first character."`
	Concurrency      int64                `default:"16" help:"How many requests to send at once, from 1 to 256. With 1, animals get their ids in the order of the lines, also with --database."`
	Strict           bool                 `help:"Add nothing if any line is bad. This needs a file that can be read twice."`
	DryRun           bool                 `help:"Only check the lines, and add nothing."`
	BadLines         string               `placeholder:"FILE" help:"The file that lists the bad lines and what is wrong with them. The default is the name of the imported file with .bad.txt added."`
	CreateCategories bool                 `help:"Create the categories that the file names and the store does not have."`
	Label            string               `placeholder:"TEXT" help:"Import lines again that were imported without a label or with another one. A line is imported once for each label."`
}

const interruptedImport = "what was added stays; run the same command again to continue, which adds nothing twice"

// Interrupted says what is left of an interrupted import.
func (*Import) Interrupted() string { return interruptedImport }

// importGCPercent keeps the heap about as small as the ledger. With Go's default, the heap would grow to twice that size.
// Frequent collections cost little, because the ledger has almost no pointers to follow.
const importGCPercent = 25

// Run adds the lines of the file. With --strict or --dry-run, it checks all lines first.
func (c *Import) Run(ctx context.Context, con *terminal.Console) error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	if con.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(importGCPercent))
	}
	file, err := c.openFile(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	if c.Strict && (c.File == "-" || !file.isRegular()) {
		return terminal.WrongUsage("--strict reads the lines twice, so it needs a regular file, not a pipe")
	}
	im := &importer{con: con, file: file, format: c.format(), label: c.Label, ledger: newLedger(), badLines: badLineReport{name: c.badLinesName()}}
	if err := im.badLines.checkName(file); err != nil {
		return err
	}
	defer im.badLines.close()
	if c.DryRun || c.Strict {
		im.names = c.categoriesToCheck(ctx, con)
		if err := im.checkAll(ctx, c.DryRun); err != nil || c.DryRun {
			return err
		}
	}
	if im.reader, err = im.newReader(ctx); err != nil {
		return c.nameFile(err)
	}
	if ignored := im.reader.ignoredColumns(); len(ignored) > 0 {
		fmt.Fprintf(con.Stderr, "Ignoring unknown columns: %s\n", terminal.Escape(strings.Join(ignored, ", ")))
	}
	return im.summarize(c.add(ctx, im))
}

func (c *Import) checkFlags() error {
	if c.Concurrency < 1 || c.Concurrency > 256 {
		return terminal.WrongUsage("--concurrency is %d; it must be from 1 to 256", c.Concurrency)
	}
	return checkTarget(c.Flags, c.Database)
}

// checkTarget refuses flags that choose both a server and a database.
func checkTarget(server profile.Flags, database string) error {
	if database != "" && (server.Server != "" || server.Profile != "") {
		return terminal.WrongUsage("--database cannot be combined with --server or --profile; give one of them")
	}
	return nil
}

// openFile opens the file to import.
func (c *Import) openFile(ctx context.Context) (*stableFile, error) {
	if c.File == "-" {
		return newStableFile(os.Stdin)
	}
	// Opening a named pipe blocks until somebody writes to it.
	file, err := terminal.Interruptible(ctx, func() (*os.File, error) { return os.Open(c.File) })
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("the file to import cannot be opened: %w", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, not a file", c.File)
	}
	return newStableFile(file)
}

func (c *Import) format() fileFormat {
	if c.Format == "auto" {
		return formatByName(c.File)
	}
	return fileFormat(c.Format)
}

func (c *Import) badLinesName() string {
	name := c.File
	if name == "-" {
		name = "standard-input"
	}
	return cmp.Or(c.BadLines, name+".bad.txt")
}

// nameFile adds the name of the imported file to an error.
func (c *Import) nameFile(err error) error {
	name := c.File
	if name == "-" {
		name = "standard input"
	}
	return fmt.Errorf("%s: %w; nothing was added", name, err)
}

// add adds the lines to the server or the database that the flags choose.
func (c *Import) add(ctx context.Context, im *importer) error {
	if c.Database == "" {
		return c.addToServer(ctx, im)
	}
	flags := database.Flags{Environment: c.Environment, Database: c.Database}
	storage, err := flags.Open(ctx, database.ToFill, database.Watch{})
	if err != nil {
		return err
	}
	defer storage.Close()
	im.showProgress(nil)
	im.names = c.categoriesInStorage(ctx, storage)
	concurrency := storageConcurrency
	if c.Concurrency == 1 { // somebody wants the order of the lines
		concurrency = 1
	}
	if c.File == "-" || !im.file.isRegular() {
		return im.addOneByOne(ctx, concurrency, createInStorage(storage))
	}
	target, err := storage.Identity(ctx)
	if err != nil {
		return err
	}
	if err := im.openJournal(c.File, target, confirmBlock(ctx, storage)); err != nil {
		return err
	}
	defer im.journal.close()
	if err := im.checkJournal(ctx, storage); err != nil {
		return err
	}
	return im.addInBatches(ctx, storage, concurrency)
}

func (c *Import) addToServer(ctx context.Context, im *importer) error {
	store, err := c.Client(im.con, untilTomorrow)
	if err != nil {
		return err
	}
	im.names = c.categoriesOnServer(ctx, store)
	var timeLeft func(time.Time) time.Duration
	if im.file.isRegular() && c.File != "-" {
		if err := im.openJournal(c.File, store.String(), nil); err != nil {
			return err
		}
		defer im.journal.close()
		if timeLeft, err = im.estimate(ctx, store); err != nil {
			return err
		}
	}
	im.showProgress(timeLeft)
	return im.addOneByOne(ctx, int(c.Concurrency), createOnServer(store))
}
