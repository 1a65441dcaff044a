package client

import (
	"context"
	"errors"
	"iter"
	"time"
)

// FollowOptions says which events to follow. A field that is zero or nil does not restrict the selection.
type FollowOptions struct {
	After string      // begins after the event with this id, or at Oldest; empty is Now
	Types []EventType // selects the events of these types, or of patterns such as "pet.*"
	PetID *int64      // selects the events of the animal with this id, its orders and its profile

	// OnGap is called when events were lost, because the service no longer keeps those that follow the one with the id after,
	// or because its database was restored. The iteration then goes on with the oldest event that is kept. If OnGap is nil,
	// the iteration ends with the refusal, which is ErrEventsGone.
	OnGap func(after string, refusal *Error)
	// OnOpen, unless nil, is called when the stream is open: at first, and after each break.
	OnOpen func()
	// OnBreak, unless nil, is called when the stream has ended or cannot be opened, before the wait for the next try. It is
	// called in place of the function of [WithWaitNotice].
	OnBreak func(because error, wait time.Duration)
}

// Follow iterates over events as they happen, each exactly once and in the order of the feed. When the stream of the service
// ends or breaks, Follow opens it again and goes on where it was, however long that takes: after a restart of the service too.
// It takes a stream that says nothing for 40 seconds for broken. The waits between tries grow, as those of other calls do.
//
// The iteration ends when ctx ends, and with a refusal that trying again does not change, such as ErrUnauthorized. It also ends
// with ErrRateLimited if the limits of the key reset only after a time that [WithRetries] does not allow. To go on later, in
// another process too, use the ID of the last event as After.
func (c *Client) Follow(ctx context.Context, o FollowOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &follower{Client: c, FollowOptions: o, yield: yield}
		if f.After == "" {
			f.After = Now
		}
		if err := f.follow(ctx); err != nil && err != errStopped {
			yield(Event{}, err)
		}
	}
}

// follower is one iteration over the events of a stream. Its After is where to go on.
type follower struct {
	*Client
	FollowOptions
	yield  func(Event, error) bool
	opened bool          // whether a stream was open before
	breaks int           // how often the stream broke since it last told a position
	retry  time.Duration // how long the service asks to wait after a break
}

// errStopped ends an iteration without an error, because the caller left the loop.
var errStopped = errors.New("the caller left the loop")

// follow begins with a page, and reads one after each gap. So the follower always knows where to go on, even if the stream
// breaks before it tells a position.
func (f *follower) follow(ctx context.Context) error {
	for knowsPosition := false; ; {
		var err error
		if knowsPosition {
			err = f.readStream(ctx)
		} else if err = f.readPage(ctx); err == nil {
			knowsPosition = true
			continue
		}
		switch refused := (*Error)(nil); {
		case errors.As(err, &refused) && refused.Code == ErrEventsGone && f.OnGap != nil:
			f.OnGap(f.After, refused)
			f.After, knowsPosition = Oldest, false
		case !f.mayGoOn(ctx, err, knowsPosition):
			return err
		}
		if err := f.pause(ctx, err); err != nil {
			return err
		}
	}
}

// readPage yields the page that follows the position, and moves the position behind it.
func (f *follower) readPage(ctx context.Context) error {
	page, err := f.ListEvents(ctx, EventQuery{After: f.After, Types: f.Types, PetID: f.PetID, Limit: maxEvents})
	if err != nil {
		return err
	}
	for _, e := range page.Items {
		if !f.yield(e, nil) {
			return errStopped
		}
	}
	f.After = page.Next
	return nil
}

// mayGoOn reports whether the follower may try again after an error. Until a stream was open, it tries as often as a call does.
func (f *follower) mayGoOn(ctx context.Context, err error, knowsPosition bool) bool {
	switch {
	case ctx.Err() != nil || err == errStopped || errors.As(err, new(*gateClosed)) || errors.As(err, new(*notStream)):
		return false
	case !f.opened && (!knowsPosition || f.breaks+1 >= f.attempts):
		return false
	}
	return errors.Is(err, ErrTooManyStreams) || f.worthRetrying(err)
}

// pause waits before the next try.
func (f *follower) pause(ctx context.Context, because error) error {
	f.breaks++
	wait := f.retry + backoff(because, f.breaks)
	f.log.InfoContext(ctx, "opening the stream of events again", "in", wait, "because", because)
	switch {
	case errors.Is(because, ErrEventsGone): // OnGap has told of it
	case f.OnBreak != nil:
		f.OnBreak(because, wait)
	default:
		f.onWait(wait, because)
	}
	if err := sleep(ctx, wait); err != nil {
		return joinErrors(because, err)
	}
	return nil
}
