package httpapi

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"petstore/internal/feed"
	"petstore/internal/petstore"
)

// StreamTimes says how long things may take on a stream of events. A field that is zero has the documented value.
type StreamTimes struct {
	// Bookmark is how long a stream is quiet before it sends the position that it has reached: 15 seconds.
	Bookmark time.Duration
	// Unread is how long a client may leave what it gets unread: 10 seconds.
	Unread time.Duration
	// Life is how long a stream lasts: 30 minutes.
	Life time.Duration
}

// eventStream is a stream of events.
type eventStream struct {
	query   petstore.EventQuery // After is the position that the stream has reached
	owner   string
	keyHash petstore.SecretHash
	access  petstore.Access
	end     context.CancelCauseFunc // ends the stream
	began   time.Duration           // the time from the request to the first byte of the answer
}

// Why the server ends a stream.
var (
	errKeyEnded = errors.New("the key may no longer follow events")
	errDraining = errors.New("the server is about to stop")
)

// openStream checks the request for a stream. The step sent then sends the stream.
func (a *API) openStream(x *exchange) error {
	q, err := parseQuery(x.r.URL.RawQuery, eventsQuery{}, streamParameters)
	if err != nil {
		return err
	}
	if ids := x.r.Header["Last-Event-Id"]; len(ids) > 0 {
		last, ok := petstore.ParseEventPosition(ids[0])
		if !ok || len(ids) > 1 {
			return newRefusal(invalidParameter, "Last-Event-ID must be given once, with the id of an event, such as evt_4f7k_1234.")
		}
		q.After = &last
	}
	page, err := a.Storage.ListEvents(x.r.Context(), petstore.EventQuery{After: q.After, FromEnd: q.After == nil, Limit: 1})
	if err != nil {
		return err
	}
	if q.After == nil {
		q.After = &page.Next
	}
	x.stream = &eventStream{query: q.EventQuery, owner: x.key.Owner, keyHash: x.keyHash, access: x.key.Access}
	return nil
}

// sendStream sends a stream until it ends. The stream holds nothing that other requests need but its connection.
func (a *API) sendStream(x *exchange) error {
	s := x.stream
	if x.r.Method == http.MethodHead {
		a.beginStream(x)
		return nil
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), a.Stream.Life)
	defer cancel()
	ctx, s.end = context.WithCancelCause(ctx)
	defer s.end(nil)
	if err := a.streams.add(s); err != nil {
		return err
	}
	defer a.streams.remove(s)
	a.metrics.inFlight.Dec()
	defer a.metrics.inFlight.Inc()
	if a.LongLived != nil {
		defer a.LongLived(x.r)()
	}
	reader := a.feed.NewReader()
	defer reader.Close()
	w := &streamWriter{x: x, control: http.NewResponseController(x.w), timeout: a.Stream.Unread}
	w.control.SetReadDeadline(time.Time{}) // a timeout for the request would end the stream
	a.beginStream(x)
	x.cut = a.follow(ctx, w, reader) != nil
	return nil
}

// beginStream sends the head of the answer.
func (a *API) beginStream(x *exchange) {
	x.stream.began = a.Now().Sub(x.start)
	x.set("Content-Type", "text/event-stream")
	x.set("X-Accel-Buffering", "no")
	x.WriteHeader(http.StatusOK)
}

// follow sends events until ctx ends. It returns an error if the client does not take them.
func (a *API) follow(ctx context.Context, w *streamWriter, reader *feed.Reader) error {
	q := w.x.stream.query
	err := w.send(func() { w.retry(3000); w.bookmark(*q.After) })
	for err == nil {
		quiet, cancel := context.WithTimeout(ctx, a.Stream.Bookmark)
		events, next, readErr := reader.Read(quiet, q)
		cancel()
		q.After = &next
		switch {
		case len(events) > 0:
			err = w.send(func() { w.events(events) })
		case errors.Is(context.Cause(ctx), errDraining):
			return w.send(func() { w.retry(1000 + rand.IntN(4000)) }) // so that the clients do not all come back at once
		case ctx.Err() != nil, petstore.IsCode(readErr, petstore.EventsGone):
			return nil
		default:
			err = w.send(func() { w.bookmark(next) })
		}
	}
	return err
}

// streamWriter writes the frames of a stream.
type streamWriter struct {
	x       *exchange
	control *http.ResponseController
	timeout time.Duration
	err     error // of the first write that failed
	frame   []byte
}

// maxPiece is how many bytes the client must read in one timeout.
const maxPiece = 16 << 10

// send writes what the function write writes, and returns when the client has been sent all of it.
func (w *streamWriter) send(write func()) error {
	write()
	if w.err == nil {
		w.control.SetWriteDeadline(time.Now().Add(w.timeout))
		w.err = w.control.Flush()
	}
	w.control.SetWriteDeadline(time.Time{}) // a quiet stream has none
	return w.err
}

// text writes a text piece by piece.
func (w *streamWriter) text(s string) {
	for s != "" && w.err == nil {
		piece := s[:min(len(s), maxPiece)]
		s = s[len(piece):]
		w.control.SetWriteDeadline(time.Now().Add(w.timeout))
		var n int
		n, w.err = io.WriteString(w.x.w, piece)
		w.x.size += n
	}
}

func (w *streamWriter) events(events []feed.Event) {
	private := w.x.seesPrivate()
	for _, e := range events {
		data := e.Public
		if private {
			data = e.Full
		}
		w.frame = append(w.frame[:0], "id: "...)
		w.frame = append(w.frame, e.Position.String()...)
		w.frame = append(w.frame, "\nevent: "...)
		w.frame = append(w.frame, e.Type.String()...)
		w.frame = append(w.frame, "\ndata: "...)
		w.text(string(w.frame))
		w.text(data)
		w.text("\n\n")
	}
}

// bookmark writes a frame that tells the client its position without an event.
func (w *streamWriter) bookmark(p petstore.EventPosition) { w.text("id: " + p.String() + "\n\n") }

// retry writes after how many milliseconds the client should connect again when the stream has ended.
func (w *streamWriter) retry(milliseconds int) {
	w.text("retry: " + strconv.Itoa(milliseconds) + "\n\n")
}
