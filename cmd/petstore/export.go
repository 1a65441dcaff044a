package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	remote "petstore/client"
	"petstore/internal/bulk"
	"petstore/internal/petstore"
)

type exportCmd struct {
	remoteFlags
	storeFlags
	Output string `placeholder:"FILE" help:"The file to write. It appears only when it is complete. Without it, animals go to standard output."`
	Format string `enum:"auto,csv,jsonl" default:"auto" help:"csv, jsonl, or auto: by the name of the file, else csv."`
	Status string `enum:"any,available,pending,sold" default:"any" help:"Only animals of that status: available, pending or sold."`
}

// Run writes animals, the newest first.
func (c *exportCmd) Run(ctx context.Context, con *console) error {
	if err := spareDatabase("--output", c.Output); err != nil {
		return err
	}
	if c.Database != "" && (c.Server != "" || c.Profile != "") {
		return wrongUsage("--database and --server or --profile are both given; give one of them")
	}
	if c.Database == "" {
		return c.remoteFlags.with(con, func(store *remote.Client) error { return c.fromAPI(ctx, con, store) })
	}
	return c.storeFlags.with(ctx, toChange, func(storage petstore.Storage) error { return c.fromStore(ctx, con, storage) })
}

func (c *exportCmd) fromAPI(ctx context.Context, con *console, store *remote.Client) error {
	counted, err := store.GetInventory(ctx)
	if err != nil {
		return err
	}
	total := petstore.Inventory{Available: counted.Available, Pending: counted.Pending, Sold: counted.Sold}
	return c.write(ctx, con, c.count(total), func(yield func(bulk.Pet, error) bool) {
		for pet, err := range store.Pets(ctx, remote.PetQuery{Status: remote.PetStatus(c.status().String())}) {
			if !yield(bulk.Pet{ID: pet.ID, Name: pet.Name, CategoryID: pet.CategoryID, Status: string(pet.Status)}, err) {
				return
			}
		}
	})
}

// exportStep is how many animals are read at once.
const exportStep = 1000

func (c *exportCmd) fromStore(ctx context.Context, con *console, storage petstore.Storage) error {
	counted, err := storage.Inventory(ctx)
	if err != nil {
		return err
	}
	return c.write(ctx, con, c.count(counted), func(yield func(bulk.Pet, error) bool) {
		query := petstore.PetQuery{Status: c.status(), Limit: exportStep}
		for {
			page, err := storage.ListPets(ctx, query)
			if err != nil {
				yield(bulk.Pet{}, err)
				return
			}
			for _, pet := range page {
				if !yield(bulk.Pet{ID: pet.ID, Name: pet.Name, CategoryID: pet.CategoryID, Status: pet.Status.String()}, nil) {
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
func (c *exportCmd) status() petstore.Status {
	status, _ := petstore.ParseStatus(c.Status)
	return status
}

// count is how many animals there are to write.
func (c *exportCmd) count(all petstore.Inventory) int64 {
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
func (c *exportCmd) write(ctx context.Context, con *console, total int64, pets iter.Seq2[bulk.Pet, error]) error {
	m := con.meter("animals", total)
	defer m.stop()
	copyTo := func(out io.Writer) error { return c.writeTo(out, m, pets) }
	var err error
	if c.Output == "" {
		err = unwritten("standard output", orStopped(ctx, func() error { return copyTo(con.stdout) }))
	} else if name, refused := ordinary(c.Output); refused != nil {
		err = unwritten(c.Output, refused)
	} else {
		err = unwritten(c.Output, whole(name, copyTo))
	}
	m.stop()
	if err != nil {
		return err
	}
	fmt.Fprintf(con.stderr, "Exported %s.\n", many(m.counted.Load(), "animal"))
	return nil
}

// orStopped does work, and returns when ctx ends even if the reader of its output is slow.
func orStopped(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *exportCmd) writeTo(out io.Writer, m *meter, pets iter.Seq2[bulk.Pet, error]) error {
	format := bulk.Format(c.Format)
	if c.Format == "auto" {
		format = cmp.Or(bulk.FormatOf(c.Output), bulk.CSV)
	}
	w, err := bulk.NewWriter(out, format)
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
		m.count(1)
		m.at(m.counted.Load())
	}
	return w.Flush()
}

// whole makes a file that appears, or replaces an older one, only after write has written all of it.
func whole(name string, write func(io.Writer) error) (err error) {
	part := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.part-%s", filepath.Base(name), rand.Text()))
	file, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(part)
		}
	}()
	if err := write(file); err != nil {
		return err
	}
	if err := cmp.Or(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(part, name)
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
		return "", wrongUsage("--output names %s, which is not an ordinary file; leave it out to write to standard output", name)
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
		return wrongUsage("%s names %s, which is a database; name another file", flag, name)
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
