package transfer

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"petstore/client"
	"petstore/internal/terminal"
)

const (
	// smallFile is the size below which a file needs no estimate. The lines of such a file fit into a minute of the smallest
	// plan.
	smallFile = 1 << 10
	// minRequest is how many bytes of a file a request needs at least: a line such as "x,1,y" with its line break has a
	// profile, so it needs two requests.
	minRequest = 3
	// fewPages is how many pages of an export need no estimate.
	fewPages = 60
)

// estimate returns a function for the progress display, or nil if the key's limits do not slow the import down. The function
// returns how long the rest of the import takes at least. If the import takes more than an hour, estimate tells the person.
func (im *importer) estimate(ctx context.Context, store *client.Client) (timeLeft func(time.Time) time.Duration, err error) {
	if im.file.size() < smallFile {
		return nil, nil
	}
	limits, err := keyLimits(ctx, store)
	if err != nil {
		return nil, err
	}
	p := &pace{store: store, limits: limits, total: im.file.size() / minRequest, sent: im.sent.Load}
	if p.timeLeft(time.Now()) == 0 {
		return nil, nil
	}
	lines, requests, err := im.countNew(ctx)
	if err != nil {
		return nil, err
	}
	p.total = requests
	p.announce(im.con, "Adding "+terminal.Plural(lines, "line"), "If you stop the import, the same command continues it.")
	return p.timeLeft, nil
}

// estimate returns a function for the progress display, or nil if the key's limits do not slow the export down. The function
// returns how long the rest of the export takes at least. If the export takes more than an hour, estimate tells the person.
// The counter read grows while the export runs.
func (c *Export) estimate(ctx context.Context, con *terminal.Console, store *client.Client, total int64, read *atomic.Int64) (timeLeft func(time.Time) time.Duration, err error) {
	pages := (total + serverPage - 1) / serverPage
	if pages <= fewPages {
		return nil, nil
	}
	limits, err := keyLimits(ctx, store)
	if err != nil {
		return nil, err
	}
	p := &pace{store: store, limits: limits, total: pages, sent: func() int64 { return read.Load() / serverPage }}
	p.announce(con, "Exporting "+terminal.Plural(total, "animal"), "If you stop the export, it has to begin again.")
	return p.timeLeft, nil
}

// countNew reads the file and returns how many lines no earlier import has added, and how many requests they need. Then it
// returns to the beginning of the file.
func (im *importer) countNew(ctx context.Context) (lines, requests int64, err error) {
	if _, err := im.file.Seek(0, io.SeekStart); err != nil {
		return 0, 0, err
	}
	reader, err := im.newReader(ctx)
	if err != nil {
		return 0, 0, err
	}
	progress := im.con.Progress("lines counted", im.file.size(), nil)
	defer progress.Stop()
	for ctx.Err() == nil {
		line, err := reader.Next()
		progress.SetPosition(reader.offset)
		progress.Add(1)
		if err == io.EOF {
			break
		} else if errors.As(err, new(*badLine)) {
			continue
		} else if err != nil {
			return 0, 0, err
		}
		if _, stored := im.ledger.identify(line, im.label); !stored {
			lines++
			requests += line.requests()
		}
	}
	if ctx.Err() != nil {
		return 0, 0, ctx.Err()
	}
	im.ledger.forgetSeen()
	if _, err := im.file.Seek(0, io.SeekStart); err != nil {
		return 0, 0, err
	}
	im.reader, err = im.newReader(ctx)
	return lines, requests, err
}
