package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// importer adds the lines of a file to a server or a database.
type importer struct {
	con      *terminal.Console
	file     *stableFile
	format   fileFormat
	label    string
	reader   *petReader
	ledger   *ledger
	journal  *journal // nil if the lines come from a pipe, which has no folder for a journal
	names    *categories
	badLines badLineReport

	journaled    int64        // the number of lines in the journal when the import began
	sent         atomic.Int64 // the number of lines that addOne has finished
	added, known atomic.Int64 // known is the number of lines that an earlier import added
	progress     *terminal.Progress
}

// item is a line to add.
type item struct {
	petLine
	lineID
}

// newReader starts to read the file.
func (im *importer) newReader(ctx context.Context) (*petReader, error) {
	return newPetReader(im.source(ctx), im.format)
}

// showProgress starts to show progress. The function timeLeft returns a lower bound for the time left, and may be nil.
func (im *importer) showProgress(timeLeft func(time.Time) time.Duration) {
	im.progress = im.con.Progress("lines", im.file.size(), timeLeft)
}

// source returns a reader for the file. If the file is a pipe, a read fails when ctx ends, because it could otherwise wait
// forever for the next line.
func (im *importer) source(ctx context.Context) io.Reader {
	if im.file.isRegular() {
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

// openJournal opens the journal for a file and a target, and loads the journal into the ledger. For confirm, see
// journal.load.
func (im *importer) openJournal(file, target string, confirm func(blockID) (bool, error)) error {
	name, err := journalName(im.con, file, target)
	if err != nil {
		return err
	}
	if im.journal, err = openJournal(name); err != nil {
		return err
	}
	if im.journaled, err = im.journal.load(im.ledger, confirm); err != nil {
		im.journal.close()
	}
	return err
}

// next returns the next line that no earlier import has added. It reports all bad lines before that line.
func (im *importer) next() (item, error) {
	for {
		it, stored, err := im.nextItem()
		im.progress.SetPosition(im.reader.offset)
		if bad := (*badLine)(nil); errors.As(err, &bad) {
			if err := im.badLines.add(bad.Number, bad.Reason); err != nil {
				return item{}, err
			}
			continue
		}
		if stored {
			im.known.Add(1)
			im.progress.Add(1)
			continue
		}
		return it, err
	}
}

// nextItem returns the next line, and whether an earlier import has added it.
func (im *importer) nextItem() (it item, stored bool, err error) {
	if it.petLine, err = im.reader.Next(); err != nil {
		return it, false, err
	}
	if it.lineID, stored = im.ledger.identify(it.petLine, im.label); stored {
		return it, true, nil
	}
	return it, false, im.names.resolve(&it.petLine)
}

// checkAll reads the whole file and fails if a line is bad. Unless dryRun is set, it then returns to the beginning of the
// file.
func (im *importer) checkAll(ctx context.Context, dryRun bool) error {
	reader, err := im.newReader(ctx)
	if err != nil {
		return fmt.Errorf("%w; nothing was added", err)
	}
	if err := im.badLines.removeOld(); err != nil {
		return err
	}
	progress := im.con.Progress("lines checked", im.file.size(), nil)
	defer progress.Stop()
	var good int64
	for ctx.Err() == nil {
		line, err := reader.Next()
		if err == nil {
			err = im.names.resolve(&line)
		}
		progress.SetPosition(reader.offset)
		progress.Add(1)
		if bad := (*badLine)(nil); errors.As(err, &bad) {
			err = im.badLines.add(bad.Number, bad.Reason)
		} else if err == nil {
			good++
		}
		if err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("%w; nothing was added", err)
		}
	}
	progress.Stop()
	if err := ctx.Err(); err != nil {
		return err
	}
	if dryRun {
		fmt.Fprintf(im.con.Stderr, "%s can be imported; nothing was added.\n", terminal.Plural(good, "line"))
	}
	if n := im.badLines.n; n > 0 {
		return fmt.Errorf("%s bad, so nothing was added; see %s", terminal.PluralIs(n, "line"), im.badLines.name)
	}
	if dryRun {
		return nil
	}
	_, err = im.file.Seek(0, io.SeekStart)
	return err
}

// summarize prints how many animals were added. It returns the import's error err, and adds what is left to do.
func (im *importer) summarize(err error) error {
	if im.progress != nil {
		im.progress.Stop()
	}
	added, known := im.added.Load(), im.known.Load()
	if err == nil || added+known > 0 {
		fmt.Fprintf(im.con.Stderr, "Added %s.", terminal.Plural(added, "animal"))
		if known > 0 {
			fmt.Fprintf(im.con.Stderr, " Skipped %s that an earlier import added; to import them again, choose a --label.", terminal.Plural(known, "line"))
			if added == 0 && im.journal != nil { // if this import added lines, the next one would add them twice
				fmt.Fprintf(im.con.Stderr, " If a restore has removed all of them from the database, remove %s and import again.", im.journal.name())
			}
		}
		fmt.Fprintln(im.con.Stderr)
	}
	bad := ""
	if n := im.badLines.close(); n > 0 {
		bad = fmt.Sprintf("%s bad and not added; see %s", terminal.PluralIs(n, "line"), im.badLines.name)
	}
	switch {
	case err == nil && bad == "":
		return nil
	case err == nil:
		return errors.New(bad)
	case bad != "":
		fmt.Fprintln(im.con.Stderr, bad)
	}
	if added+known == 0 {
		return profile.Explain(err)
	}
	return fmt.Errorf("%w; %s", profile.Explain(err), interruptedImport)
}
