package main

import (
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

const (
	flushEvery = 100 * time.Millisecond // how long a line may stay in the buffer
	bufferSize = 64 << 10
)

// bufferedWriter makes one write of the many lines of a busy moment. Lines that cannot be written are lost, and the next
// ones are tried anew, which a bufio.Writer would not do.
type bufferedWriter struct {
	out    io.Writer
	mu     sync.Mutex
	buffer []byte
	stop   chan struct{}
	done   chan struct{}
}

func newBufferedWriter(out io.Writer) *bufferedWriter {
	w := &bufferedWriter{out: out, buffer: make([]byte, 0, bufferSize), stop: make(chan struct{}), done: make(chan struct{})}
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
	w.empty()
}

// Write takes a line into the buffer.
func (w *bufferedWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buffer)+len(line) > bufferSize {
		w.empty()
	}
	w.buffer = append(w.buffer, line...)
	return len(line), nil
}

func (w *bufferedWriter) empty() {
	if len(w.buffer) > 0 {
		w.out.Write(w.buffer)
		w.buffer = w.buffer[:0]
	}
}

// Close writes what is left.
func (w *bufferedWriter) Close() {
	close(w.stop)
	<-w.done
}
