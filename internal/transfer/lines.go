package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// importer adds the lines of a file to a store.
type importer struct {
	con     *terminal.Console
	file    *Steady
	label   string
	reader  *Reader
	ledger  *Ledger
	journal *Journal // nil if there is no file to keep it beside
	bad     badLines

	journaled    int64        // the number of lines in the journal at the start
	added, known atomic.Int64 // known counts lines that an earlier import has added
	progress     *terminal.Progress
}

// item is a line that is to be added.
type item struct {
	Line
	ID
}

// read begins to read the file.
func (im *importer) read(ctx context.Context, format Format) (*Reader, error) {
	return NewReader(im.source(ctx), format, parseObject)
}

// source is the file. A read from a pipe ends with ctx, because the next line may never come.
func (im *importer) source(ctx context.Context) io.Reader {
	if im.file.Regular() {
		return im.file
	}
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, im.file)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return out
}

// open opens the journal and loads it with confirm.
func (im *importer) open(name string, confirm func(Block) (bool, error)) (err error) {
	if im.journal, err = OpenJournal(name); err != nil {
		return err
	}
	if im.journaled, err = im.journal.Load(im.ledger, confirm); err != nil {
		im.journal.Close()
	}
	return err
}

// next returns the next line that no earlier import has added, and reports the bad lines before it.
func (im *importer) next() (item, error) {
	for {
		line, err := im.reader.Next()
		im.progress.SetPosition(im.reader.Offset())
		if bad := (*BadLine)(nil); errors.As(err, &bad) {
			if err := im.bad.report(bad.Number, bad.Reason); err != nil {
				return item{}, err
			}
			continue
		}
		if err != nil {
			return item{}, err
		}
		id, done := im.ledger.Meet(ContentOf(line.Pet, im.label))
		if done {
			im.known.Add(1)
			im.progress.Add(1)
			continue
		}
		return item{line, id}, nil
	}
}

// checkAll reads the whole file. It fails if any line is bad; otherwise it goes back to the beginning.
func (im *importer) checkAll(ctx context.Context, format Format, say bool) error {
	reader, err := im.read(ctx, format)
	if err != nil {
		return fmt.Errorf("%w; nothing was added", err)
	}
	if err := im.bad.begin(); err != nil {
		return err
	}
	m := im.con.Progress("lines checked", im.size())
	defer m.Stop()
	var good int64
	for ctx.Err() == nil {
		_, err := reader.Next()
		m.SetPosition(reader.Offset())
		m.Add(1)
		if bad := (*BadLine)(nil); errors.As(err, &bad) {
			err = im.bad.report(bad.Number, bad.Reason)
		} else if err == nil {
			good++
		}
		if err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("%w; nothing was added", err)
		}
	}
	m.Stop()
	if err := ctx.Err(); err != nil {
		return err
	}
	if say {
		fmt.Fprintf(im.con.Stderr, "%s can be imported; nothing was added.\n", terminal.Plural(good, "line"))
	}
	if n := im.bad.n; n > 0 {
		return fmt.Errorf("%s bad, so nothing was added: %s", terminal.PluralIs(n, "line"), im.bad.tell())
	}
	if say {
		return nil
	}
	_, err = im.file.Seek(0, io.SeekStart)
	return err
}

// size is the size of the file, 0 if it is not known.
func (im *importer) size() int64 {
	if !im.file.Regular() {
		return 0
	}
	return im.file.Size()
}

// finish says what was done.
func (im *importer) finish(err error) error {
	im.progress.Stop()
	if added, known := im.added.Load(), im.known.Load(); err == nil || added+known > 0 {
		fmt.Fprintf(im.con.Stderr, "Added %s.", terminal.Plural(added, "animal"))
		if known > 0 {
			fmt.Fprintf(im.con.Stderr, " Skipped %s that an earlier import added; a --label of your choice imports lines again.", terminal.Plural(known, "line"))
			if added == 0 && im.journal != nil { // otherwise that would add the new ones twice
				fmt.Fprintf(im.con.Stderr, " If a restore has removed all of them from the store, remove %s and import again.", im.journal.Name())
			}
		}
		fmt.Fprintln(im.con.Stderr)
	}
	bad := ""
	if n := im.bad.end(); n > 0 {
		bad = fmt.Sprintf("%s bad and not added: %s", terminal.PluralIs(n, "line"), im.bad.tell())
	}
	switch {
	case err == nil && bad == "":
		return nil
	case err == nil:
		return errors.New(bad)
	case bad != "":
		fmt.Fprintln(im.con.Stderr, bad)
	}
	if im.added.Load()+im.known.Load() == 0 {
		return profile.Explain(err)
	}
	return fmt.Errorf("%w; %s", profile.Explain(err), resumable)
}
