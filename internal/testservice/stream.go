package testservice

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Frame is a frame of a stream of events. A field that the frame does not have is empty.
type Frame struct{ ID, Event, Data, Retry string }

// Stream is an open stream of events.
type Stream struct {
	Response *http.Response
	lines    *bufio.Scanner
	cancel   context.CancelFunc
}

// OpenStream asks for a stream. The test fails if the answer is not a stream. The stream closes when the test ends.
func OpenStream(t testing.TB, client *http.Client, url, key string, headers ...string) *Stream {
	t.Helper()
	s, err := TryStream(client, url, key, headers...)
	noError(t, err)
	t.Cleanup(s.Close)
	if kind := s.Response.Header.Get("Content-Type"); s.Response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		body, _ := io.ReadAll(s.Response.Body)
		t.Fatalf("no stream, but %s, %s: %s", s.Response.Status, kind, body)
	}
	return s
}

// TryStream asks for a stream, and returns whatever is answered. Each header is written as in HTTP.
func TryStream(client *http.Client, url, key string, headers ...string) (*Stream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+key)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	response, err := client.Do(r)
	if err != nil {
		cancel()
		return nil, err
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 4<<20)
	return &Stream{response, lines, cancel}, nil
}

// Close hangs up.
func (s *Stream) Close() {
	s.cancel()
	s.Response.Body.Close()
}

// TryNext returns the next frame, or io.EOF if the server has ended the stream.
func (s *Stream) TryNext() (f Frame, err error) {
	for s.lines.Scan() {
		if s.lines.Text() == "" {
			return f, nil
		}
		name, value, ok := strings.Cut(s.lines.Text(), ": ")
		field := map[string]*string{"id": &f.ID, "event": &f.Event, "data": &f.Data, "retry": &f.Retry}[name]
		if !ok || field == nil || *field != "" {
			return f, fmt.Errorf("%q is not a line of a frame", s.lines.Text())
		}
		*field = value
	}
	if err := s.lines.Err(); err != nil {
		return f, err
	}
	if f != (Frame{}) {
		return f, errors.New("the last frame is not complete")
	}
	return f, io.EOF
}

// Next returns the next frame. The test fails if there is none.
func (s *Stream) Next(t testing.TB) Frame {
	t.Helper()
	f, err := s.TryNext()
	noError(t, err)
	return f
}

// NextEvent returns the next frame with an event.
func (s *Stream) NextEvent(t testing.TB) Frame {
	t.Helper()
	for {
		if f := s.Next(t); f.Event != "" {
			return f
		}
	}
}

// ExpectEnd fails the test unless the server ends the stream, and returns the frames before its end.
func (s *Stream) ExpectEnd(t testing.TB) (last []Frame) {
	t.Helper()
	for {
		f, err := s.TryNext()
		if err == io.EOF {
			return last
		}
		noError(t, err)
		last = append(last, f)
	}
}
