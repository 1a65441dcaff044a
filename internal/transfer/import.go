package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"petstore/internal/database"
	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Import is the command that adds the animals of a file.
type Import struct {
	Server      profile.Flags  `embed:""`
	Store       database.Flags `embed:""`
	File        string         `arg:"" help:"The file to import, or - for standard input: CSV with the columns name, categoryId and perhaps status, or JSON Lines."`
	Format      string         `enum:"auto,csv,jsonl" default:"auto" help:"csv, jsonl, or auto. auto goes by the name of the file, or else by its first character."`
	Concurrency int64          `default:"16" help:"How many requests to send at once, from 1 to 256. With 1, animals get their ids in the order of the lines."`
	Strict      bool           `help:"Store nothing if any line is bad. This needs a file that can be read twice."`
	DryRun      bool           `help:"Only check the lines, and store nothing."`
	BadLines    string         `placeholder:"FILE" help:"The file for the numbers of bad lines and what is wrong with them. By default it is beside the imported file, with .bad.txt after its name."`
	Label       string         `placeholder:"TEXT" help:"Import lines again that were imported without a label, or with another one. Lines are imported once for each label."`
}

const resumable = "what was added stays, and the same command goes on and adds nothing twice"

// Interrupted says what becomes of an import that is broken off.
func (*Import) Interrupted() string { return resumable }

// importGCPercent keeps the heap close to the size of the data that the import keeps about the lines, instead of twice
// that size. Frequent collections cost little, because that data has no pointers to follow.
const importGCPercent = 25

// Run checks the lines, if asked to, and adds them.
func (c *Import) Run(ctx context.Context, con *terminal.Console) error {
	if err := c.check(); err != nil {
		return err
	}
	if con.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(importGCPercent))
	}
	file, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	if c.Strict && (c.File == "-" || !file.Regular()) {
		return terminal.WrongUsage("--strict reads the lines twice, so it needs a file; give the name of one")
	}
	im := &importer{con: con, file: file, label: c.Label, ledger: NewLedger(), bad: badLines{name: c.badLinesName()}}
	if err := im.bad.check(file); err != nil {
		return err
	}
	defer im.bad.end()
	if c.DryRun || c.Strict {
		if err := im.checkAll(ctx, c.format(), c.DryRun); err != nil || c.DryRun {
			return err
		}
	}
	if im.reader, err = im.read(ctx, c.format()); err != nil {
		return c.blame(err)
	}
	if ignored := im.reader.Ignored(); len(ignored) > 0 {
		fmt.Fprintf(con.Stderr, "These columns are not known and are ignored: %s\n", terminal.Escape(strings.Join(ignored, ", ")))
	}
	im.progress = con.Progress("lines", im.size())
	return im.finish(c.add(ctx, im))
}

func (c *Import) check() error {
	switch {
	case c.Concurrency < 1 || c.Concurrency > 256:
		return terminal.WrongUsage("--concurrency is %d; it may be from 1 to 256", c.Concurrency)
	case c.Store.Database != "" && (c.Server.Server != "" || c.Server.Profile != ""):
		return terminal.WrongUsage("--database and --server or --profile are both given; give one of them")
	}
	return nil
}

// open opens the file to import.
func (c *Import) open(ctx context.Context) (*Steady, error) {
	if c.File == "-" {
		return Hold(os.Stdin)
	}
	// A named pipe does not open before somebody writes to it.
	file, err := terminal.Interruptible(ctx, func() (*os.File, error) { return os.Open(c.File) })
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("there is nothing to import: %w", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder; give a file", c.File)
	}
	return Hold(file)
}

func (c *Import) format() Format {
	if c.Format == "auto" {
		return FormatOf(c.File)
	}
	return Format(c.Format)
}

func (c *Import) badLinesName() string {
	name := c.File
	if name == "-" {
		name = "standard-input"
	}
	return cmp.Or(c.BadLines, name+".bad.txt")
}

// blame says which file an error is about.
func (c *Import) blame(err error) error {
	name := c.File
	if name == "-" {
		name = "standard input"
	}
	return fmt.Errorf("%s: %w; nothing was added", name, err)
}

// add adds the lines, through the API or straight into the store.
func (c *Import) add(ctx context.Context, im *importer) error {
	if c.Store.Database == "" {
		return c.addThroughAPI(ctx, im)
	}
	storage, err := c.Store.Open(ctx, database.ToFill, database.Watch{})
	if err != nil {
		return err
	}
	defer storage.Close()
	if c.File == "-" || !im.file.Regular() {
		return im.oneByOne(ctx, storeConcurrency, createIn(storage))
	}
	target, err := storage.Identity(ctx)
	if err != nil {
		return err
	}
	if err := im.open(c.journalName(target), confirmIn(ctx, storage)); err != nil {
		return err
	}
	defer im.journal.Close()
	if err := im.compare(ctx, storage); err != nil {
		return err
	}
	return im.inBatches(ctx, storage)
}

func (c *Import) addThroughAPI(ctx context.Context, im *importer) error {
	store, err := c.Server.Client(im.con)
	if err != nil {
		return err
	}
	if im.file.Regular() && c.File != "-" {
		if err := im.open(c.journalName(store.String()), nil); err != nil {
			return err
		}
		defer im.journal.Close()
	}
	return im.oneByOne(ctx, int(c.Concurrency), createAt(store))
}

// journalName is the name of the journal, beside the file. Each store that the file goes into has a journal of its own.
func (c *Import) journalName(target string) string {
	sum := sha256.Sum256([]byte(target))
	return fmt.Sprintf("%s.imported-%x", c.File, sum[:4])
}

// parseObject reads a line of JSON as the service reads a body.
func parseObject(line []byte) (petstore.NewPet, error) {
	pet, err := httpapi.ReadNewPet(line)
	if refused := (*petstore.Error)(nil); errors.As(err, &refused) {
		err = petstore.Errorf(refused.Code, "%s", asLine.Replace(refused.Message))
	}
	return pet, err
}

var asLine = strings.NewReplacer("The body", "The line", "the body", "the line")
