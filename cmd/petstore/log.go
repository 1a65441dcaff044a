package main

import (
	"bufio"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"
)

// logs are where the server writes what it does.
type logs struct {
	*slog.Logger
	// access takes a line of JSON for every request; nil leaves them to the Logger.
	access io.Writer
	// flush writes what is still in a buffer, for good.
	flush func()
}

// newLogs writes text for a person at a terminal, else JSON through a buffer.
func newLogs(out io.Writer, level slog.Level, format string) logs {
	flush := func() {}
	if isTerminal(out) {
		if format == "auto" {
			format = "text"
		}
	} else {
		buffered := newBufferedWriter(out)
		out, flush = buffered, buffered.Close
	}
	options := &slog.HandlerOptions{Level: level}
	if format == "text" {
		return logs{slog.New(slog.NewTextHandler(out, options)), nil, flush}
	}
	made := logs{slog.New(slog.NewJSONHandler(out, options)), nil, flush}
	if level <= slog.LevelInfo {
		made.access = out
	}
	return made
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// flushEvery is how long a line may stay in the buffer.
const flushEvery = 100 * time.Millisecond

// bufferedWriter makes one write of the many lines of a busy moment.
type bufferedWriter struct {
	mu     sync.Mutex
	buffer *bufio.Writer
	stop   chan struct{}
	done   chan struct{}
}

func newBufferedWriter(out io.Writer) *bufferedWriter {
	w := &bufferedWriter{buffer: bufio.NewWriterSize(out, 64<<10), stop: make(chan struct{}), done: make(chan struct{})}
	go w.flushRegularly()
	return w
}

func (w *bufferedWriter) flushRegularly() {
	defer close(w.done)
	for every := time.NewTicker(flushEvery); ; {
		select {
		case <-every.C:
			w.flush()
		case <-w.stop:
			every.Stop()
			w.flush()
			return
		}
	}
}

func (w *bufferedWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buffer.Flush()
}

// Write takes a line into the buffer.
func (w *bufferedWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buffer.Write(line)
}

// Close writes what is left.
func (w *bufferedWriter) Close() {
	close(w.stop)
	<-w.done
}
