package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// silenceTimeout is how long a stream may say nothing. The service says something every 15 seconds.
	silenceTimeout = 40 * time.Second
	// maxFrame bounds the lines of a stream and the data of an event. Every event is smaller than 1 MiB.
	maxFrame = 2 << 20
	// maxRetry is the longest wait before a stream is opened again for which the follower lets the service ask.
	maxRetry = time.Minute
)

var (
	errSilent = fmt.Errorf("the stream of events said nothing for %s", silenceTimeout)
	errEnded  = errors.New("the service ended the stream of events")
)

// notStream is an answer that does not come from the service, so that opening the stream again does not help.
type notStream struct{ error }

func (n *notStream) Unwrap() error { return n.error }

// readStream opens a stream behind the position, as soon as the gate admits the request, and yields its events until it ends.
// It always returns an error.
func (f *follower) readStream(ctx context.Context) error {
	pass, err := f.gate.enter(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(silenceTimeout, func() { cancel(errSilent) })
	defer silence.Stop()
	stream, err := f.openStream(ctx, pass)
	if err == nil {
		defer stream.Close()
		err = f.readFrames(stream, silence)
	}
	if context.Cause(ctx) == errSilent {
		return errSilent
	}
	return err
}

// openStream opens a stream. It gives the pass back to the gate when the stream is open.
func (f *follower) openStream(ctx context.Context, pass pass) (io.ReadCloser, error) {
	r := newRequest(http.MethodGet, "/events", nil)
	r.query = EventQuery{Types: f.Types, PetID: f.PetID}.encode()
	r.accept, r.lastEventID = "text/event-stream", f.After
	req, err := f.prepare(ctx, r)
	if err != nil {
		f.gate.leave(pass, feedback{})
		return nil, err
	}
	endless := *f.http
	endless.Timeout = 0 // what is bounded is the silence of a stream, not its length
	res, err := endless.Do(req)
	if err != nil {
		f.gate.leave(pass, noAnswer(err))
		return nil, err
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode != http.StatusOK || media != "text/event-stream" {
		if _, err := f.receive(ctx, r, res, pass); err != nil {
			return nil, err
		}
		return nil, &notStream{fmt.Errorf("the answer to GET /events is no stream of events; check that %s is the service", f.base)}
	}
	f.gate.leave(pass, f.feedbackOf(res, nil, time.Now()))
	f.opened = true
	if f.OnOpen != nil {
		f.OnOpen()
	}
	return res.Body, nil
}

// frame is a part of a stream that ends with an empty line: an event with its position, or one of the two alone.
type frame struct {
	id   string
	data []byte
}

// readFrames yields the events of a stream. The timer silence stands still while the caller handles an event.
func (f *follower) readFrames(stream io.Reader, silence *time.Timer) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, maxFrame)
	var next frame
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			next.id = value
		case "data":
			next.data = append(next.data, value...)
		case "retry":
			if milliseconds, err := strconv.ParseUint(value, 10, 32); err == nil {
				f.retry = min(time.Duration(milliseconds)*time.Millisecond, maxRetry)
			}
		case "": // an empty line, or a comment
			if lines.Text() != "" {
				continue
			}
			if next.id != "" {
				silence.Stop()
				if err := f.take(next); err != nil {
					return err
				}
				silence.Reset(silenceTimeout)
			}
			next = frame{}
		}
		if len(next.data) > maxFrame {
			return &notStream{fmt.Errorf("an event of the stream has more than %d bytes", maxFrame)}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return &notStream{fmt.Errorf("a line of the stream of events has more than %d bytes", maxFrame)}
	case err != nil:
		return fmt.Errorf("the stream of events broke: %w", err)
	}
	return errEnded
}

// take yields the event of a frame, if it has one, and moves the position.
func (f *follower) take(next frame) error {
	if next.data != nil {
		var e Event
		err := json.Unmarshal(next.data, &e)
		if err == nil && (e.missing() || !printable(next.id)) {
			err = errors.New("it has no id or no data")
		}
		if err != nil {
			return &notStream{fmt.Errorf("an event of the stream is not what this client understands; check that %s is the service: %w", f.base, err)}
		}
		e.server = strings.TrimSuffix(f.base, "/v1")
		if !f.yield(e, nil) {
			return errStopped
		}
	}
	f.After, f.breaks = next.id, 0
	return nil
}
