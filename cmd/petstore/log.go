package main

import (
	"bufio"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"
)

// newLog makes the log: text for a person at a terminal, else JSON through a buffer, which flush empties for good.
func newLog(out io.Writer, level slog.Level, format string) (log *slog.Logger, flush func()) {
	options := &slog.HandlerOptions{Level: level}
	if isTerminal(out) {
		flush = func() {}
		if format == "auto" {
			format = "text"
		}
	} else {
		buffered := newBufferedWriter(out)
		out, flush = buffered, buffered.Close
	}
	if format == "text" {
		return slog.New(slog.NewTextHandler(out, options)), flush
	}
	return slog.New(slog.NewJSONHandler(out, options)), flush
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
