package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"petstore/client"
	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Export is the command that writes animals to a file.
type Export struct {
	profile.Flags
	database.UnusedRedis
	Database    string               `placeholder:"URL" help:"Read the animals straight from this database instead of through a server: sqlite:FILE or postgres://user:password@host/name."`
	Environment petstore.Environment `enum:"production,staging" default:"production" help:"The environment of that database: production or staging."`
	Output      string               `placeholder:"FILE" help:"The file to write, which appears only when it is complete. The default is standard output."`
	Format      string               `enum:"auto,csv,jsonl" default:"auto" help:"csv, jsonl or auto, which goes by the extension of the file and is csv otherwise."`
	Status      string               `enum:"any,available,pending,sold" default:"any" help:"Export only animals with this status: available, pending or sold."`
}

// Interrupted says what is left of an interrupted export.
func (*Export) Interrupted() string { return "there is no complete export" }

// Run writes the animals to a file, newest first.
func (c *Export) Run(ctx context.Context, con *terminal.Console) error {
	if err := refuseDatabase("--output", c.Output); err != nil {
		return err
	}
	if err := checkTarget(c.Flags, c.Database); err != nil {
		return err
	}
	if c.Database == "" {
		return c.With(con, func(store *client.Client) error { return c.fromServer(ctx, con, store) }, untilTomorrow)
	}
	flags := database.Flags{Environment: c.Environment, Database: c.Database}
	return flags.With(ctx, database.ToUse, func(storage *database.Storage) error { return c.fromStorage(ctx, con, storage) })
}

func (c *Export) fromServer(ctx context.Context, con *terminal.Console, store *client.Client) error {
	counted, err := store.GetInventory(ctx)
	if err != nil {
		return err
	}
	total := c.count(petstore.Inventory{Available: counted.Available, Pending: counted.Pending, Sold: counted.Sold})
	var read atomic.Int64
	timeLeft, err := c.estimate(ctx, con, store, total, &read)
	if err != nil {
		return err
	}
	return c.write(ctx, con, total, timeLeft, func(yield func(exportedPet, error) bool) {
		for pet, err := range store.Pets(ctx, client.PetQuery{Status: client.PetStatus(c.status().String()), Profiles: true, Limit: serverPage}) {
			read.Add(1)
			if !yield(exportedPet{pet.ID, pet.Name, pet.CategoryID, string(pet.Status), factsOf(pet.Profile)}, err) {
				return
			}
		}
	})
}

const (
	serverPage   = 100  // the number of animals that an export reads from a server with one request
	databasePage = 1000 // the number of animals that an export reads from a database with one query
)

func (c *Export) fromStorage(ctx context.Context, con *terminal.Console, storage petstore.Database) error {
	counted, err := storage.Inventory(ctx)
	if err != nil {
		return err
	}
	return c.write(ctx, con, c.count(counted), nil, func(yield func(exportedPet, error) bool) {
		query := petstore.PetQuery{Status: c.status(), Limit: databasePage}
		for {
			page, profiles, err := pageWithProfiles(ctx, storage, query)
			if err != nil {
				yield(exportedPet{}, err)
				return
			}
			for _, pet := range page {
				if !yield(exportedPet{pet.ID, pet.Name, pet.CategoryID, pet.Status.String(), profiles[pet.ID].Facts}, nil) {
					return
				}
				query.Before = pet.ID
			}
			if len(page) < databasePage {
				return
			}
		}
	})
}

// pageWithProfiles returns a page of animals and their profiles. It does not look for the profile of each animal if there
// are none.
func pageWithProfiles(ctx context.Context, storage petstore.Database, query petstore.PetQuery) ([]petstore.Pet, map[int64]petstore.Profile, error) {
	page, err := storage.ListPets(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	if some, err := storage.StoredProfiles(ctx, petstore.StoredProfile{}, 1); err != nil || len(some) == 0 {
		return page, nil, err
	}
	ids := make([]int64, len(page))
	for i, pet := range page {
		ids[i] = pet.ID
	}
	profiles, err := storage.Profiles(ctx, ids)
	return page, profiles, err
}

// status returns the status to export, or 0 for all animals.
func (c *Export) status() petstore.Status {
	status, _ := petstore.ParseStatus(c.Status)
	return status
}

// count returns how many animals the export will write.
func (c *Export) count(all petstore.Inventory) int64 {
	switch c.status() {
	case petstore.Available:
		return all.Available
	case petstore.Pending:
		return all.Pending
	case petstore.Sold:
		return all.Sold
	}
	return all.Available + all.Pending + all.Sold
}

// write writes animals to the output file. Without an output file, it writes to standard output.
func (c *Export) write(ctx context.Context, con *terminal.Console, total int64, timeLeft func(time.Time) time.Duration, pets iter.Seq2[exportedPet, error]) error {
	progress := con.Progress("animals", total, timeLeft)
	defer progress.Stop()
	writeAll := func(out io.Writer) error { return c.writeTo(out, progress, pets) }
	var err error
	if c.Output == "" {
		_, err = terminal.Interruptible(ctx, func() (any, error) { return nil, writeAll(con.Stdout) })
		err = explainWriteError("standard output", err)
	} else if name, refused := regularFile(c.Output); refused != nil {
		err = explainWriteError(c.Output, refused)
	} else {
		err = explainWriteError(c.Output, terminal.WriteFile(name, writeAll))
	}
	progress.Stop()
	if err != nil {
		return err
	}
	fmt.Fprintf(con.Stderr, "Exported %s.\n", terminal.Plural(progress.Count(), "animal"))
	return nil
}

func (c *Export) writeTo(out io.Writer, progress *terminal.Progress, pets iter.Seq2[exportedPet, error]) error {
	format := fileFormat(c.Format)
	if c.Format == "auto" {
		format = cmp.Or(formatByName(c.Output), csvFormat)
	}
	w := newPetWriter(out, format)
	defer w.close()
	for pet, err := range pets {
		if err != nil {
			return err
		}
		if err := w.write(pet); err != nil {
			return err
		}
		progress.Add(1)
		progress.SetPosition(progress.Count())
	}
	return w.flush()
}

// regularFile follows links and returns the name of the file to write. It refuses devices and folders, because an export
// replaces the file.
func regularFile(name string) (string, error) {
	target, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil
	} else if err != nil {
		return "", err
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return "", terminal.WrongUsage("--output is %s, which is not a regular file; to write to standard output, leave --output out", name)
	}
	return target, nil
}

// refuseDatabase refuses to overwrite an SQLite database. Call it before the process opens a database. When a process closes
// a file, the operating system drops all locks that the process has on that file, even the locks of SQLite.
func refuseDatabase(flag, name string) error {
	const magic = "SQLite format 3\x00"
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil // writing the file will fail with a better message
	}
	defer file.Close()
	head := make([]byte, len(magic))
	if n, _ := io.ReadFull(file, head); string(head[:n]) == magic {
		return terminal.WrongUsage("%s is %s, which is a database; choose another file", flag, name)
	}
	return nil
}

// explainWriteError makes an error about a file also say that there is no complete export.
func explainWriteError(output string, err error) error {
	cause := (*fs.PathError)(nil)
	if !errors.As(err, &cause) {
		return err
	}
	return fmt.Errorf("there is no complete export, because %s cannot be written: %w", output, cause.Err)
}
