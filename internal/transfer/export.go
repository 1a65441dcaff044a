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

	"petstore/client"
	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Export is the command that writes animals to a file.
type Export struct {
	Server profile.Flags  `embed:""`
	Store  database.Flags `embed:""`
	Output string         `placeholder:"FILE" help:"The file to write. It appears only when it is complete. Without it, animals go to standard output."`
	Format string         `enum:"auto,csv,jsonl" default:"auto" help:"csv, jsonl, or auto: by the name of the file, else csv."`
	Status string         `enum:"any,available,pending,sold" default:"any" help:"Only animals of that status: available, pending or sold."`
}

// Interrupted says what becomes of an export that is broken off.
func (*Export) Interrupted() string { return "there is no complete export" }

// Run writes animals, the newest first.
func (c *Export) Run(ctx context.Context, con *terminal.Console) error {
	if err := spareDatabase("--output", c.Output); err != nil {
		return err
	}
	if c.Store.Database != "" && (c.Server.Server != "" || c.Server.Profile != "") {
		return terminal.WrongUsage("--database and --server or --profile are both given; give one of them")
	}
	if c.Store.Database == "" {
		return c.Server.With(con, func(store *client.Client) error { return c.fromAPI(ctx, con, store) })
	}
	return c.Store.With(ctx, database.ToChange, func(storage *database.Storage) error { return c.fromStore(ctx, con, storage) })
}

func (c *Export) fromAPI(ctx context.Context, con *terminal.Console, store *client.Client) error {
	counted, err := store.GetInventory(ctx)
	if err != nil {
		return err
	}
	total := petstore.Inventory{Available: counted.Available, Pending: counted.Pending, Sold: counted.Sold}
	return c.write(ctx, con, c.count(total), func(yield func(Pet, error) bool) {
		for pet, err := range store.Pets(ctx, client.PetQuery{Status: client.PetStatus(c.status().String())}) {
			if !yield(Pet{ID: pet.ID, Name: pet.Name, CategoryID: pet.CategoryID, Status: string(pet.Status)}, err) {
				return
			}
		}
	})
}

// exportStep is how many animals are read at once.
const exportStep = 1000

func (c *Export) fromStore(ctx context.Context, con *terminal.Console, storage petstore.Storage) error {
	counted, err := storage.Inventory(ctx)
	if err != nil {
		return err
	}
	return c.write(ctx, con, c.count(counted), func(yield func(Pet, error) bool) {
		query := petstore.PetQuery{Status: c.status(), Limit: exportStep}
		for {
			page, err := storage.ListPets(ctx, query)
			if err != nil {
				yield(Pet{}, err)
				return
			}
			for _, pet := range page {
				if !yield(Pet{ID: pet.ID, Name: pet.Name, CategoryID: pet.CategoryID, Status: pet.Status.String()}, nil) {
					return
				}
				query.Before = pet.ID
			}
			if len(page) < exportStep {
				return
			}
		}
	})
}

// status is the status to export, 0 for all.
func (c *Export) status() petstore.Status {
	status, _ := petstore.ParseStatus(c.Status)
	return status
}

// count is how many animals there are to write.
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

// write writes animals to the file, or to standard output if there is none.
func (c *Export) write(ctx context.Context, con *terminal.Console, total int64, pets iter.Seq2[Pet, error]) error {
	m := con.Progress("animals", total)
	defer m.Stop()
	copyTo := func(out io.Writer) error { return c.writeTo(out, m, pets) }
	var err error
	if c.Output == "" {
		_, err = terminal.Interruptible(ctx, func() (any, error) { return nil, copyTo(con.Stdout) })
		err = unwritten("standard output", err)
	} else if name, refused := ordinary(c.Output); refused != nil {
		err = unwritten(c.Output, refused)
	} else {
		err = unwritten(c.Output, terminal.WriteFile(name, copyTo))
	}
	m.Stop()
	if err != nil {
		return err
	}
	fmt.Fprintf(con.Stderr, "Exported %s.\n", terminal.Plural(m.Count(), "animal"))
	return nil
}

func (c *Export) writeTo(out io.Writer, m *terminal.Progress, pets iter.Seq2[Pet, error]) error {
	format := Format(c.Format)
	if c.Format == "auto" {
		format = cmp.Or(FormatOf(c.Output), CSV)
	}
	w, err := NewWriter(out, format)
	if err != nil {
		return err
	}
	for pet, err := range pets {
		if err != nil {
			return err
		}
		if err := w.Write(pet); err != nil {
			return err
		}
		m.Add(1)
		m.SetPosition(m.Count())
	}
	return w.Flush()
}

// ordinary follows links and returns the name of the file that they lead to. It refuses anything but a regular file,
// because only that may be replaced.
func ordinary(name string) (string, error) {
	target, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil
	} else if err != nil {
		return "", err
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return "", terminal.WrongUsage("--output names %s, which is not an ordinary file; leave it out to write to standard output", name)
	}
	return target, nil
}

// spareDatabase refuses to have a database overwritten. It is called before this process opens any: to close one's own
// view of a file drops SQLite's locks on it.
func spareDatabase(flag, name string) error {
	const magic = "SQLite format 3\x00"
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil // whoever writes the file says what is wrong with it
	}
	defer file.Close()
	head := make([]byte, len(magic))
	if n, _ := io.ReadFull(file, head); string(head[:n]) == magic {
		return terminal.WrongUsage("%s names %s, which is a database; name another file", flag, name)
	}
	return nil
}

// unwritten adds to an error about a file that no export was written.
func unwritten(where string, err error) error {
	cause := (*fs.PathError)(nil)
	if !errors.As(err, &cause) {
		return err
	}
	return fmt.Errorf("the export cannot be written to %s, so there is no complete one: %w", where, cause.Err)
}
