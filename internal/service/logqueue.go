package service

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"petstore/internal/terminal"
)

const (
	flushEvery = 100 * time.Millisecond // the longest that a line waits while somebody reads the log
	flushSize  = 64 << 10               // this many waiting bytes are written without further delay
	queueSize  = 4 << 20                // how many bytes may wait for a reader; lines beyond them are dropped
)

// logQueue takes log lines and writes them from a goroutine of its own, in their order and many at a time. So code that
// logs never waits for the reader of the log. When the queue is full, lines are dropped and counted, and a line in their
// place says how many are missing. Lines that cannot be written, for example to a full disk, stay and are tried again.
type logQueue struct {
	out io.Writer
	// handler formats lines like the rest of the log.
	handler func(io.Writer) slog.Handler
	full    chan struct{} // says that there is enough to write now
	stop    chan struct{}
	done    chan struct{}

	mu            sync.Mutex
	waiting       []byte
	dropped, told int // lines dropped, and how many of them the log has reported

	writing []byte // used only by the writing goroutine
}

func newLogQueue(out io.Writer, handler func(io.Writer) slog.Handler) *logQueue {
	q := &logQueue{out: out, handler: handler, full: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go q.writeRegularly()
	return q
}

// Write takes a line or drops it. After a dropped line it drops all others until the queue is written, so that the log
// has one gap.
func (q *logQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dropped > q.told || len(q.waiting)+len(line) > queueSize {
		q.dropped++
		return len(line), nil
	}
	before := len(q.waiting)
	q.waiting = append(q.waiting, line...)
	if before < flushSize && len(q.waiting) >= flushSize {
		select {
		case q.full <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// Dropped is the number of lines that were dropped.
func (q *logQueue) Dropped() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// Close writes the waiting lines, if the log is read.
func (q *logQueue) Close() {
	close(q.stop)
	terminal.WaitForReader(func() { <-q.done })
}

func (q *logQueue) writeRegularly() {
	defer close(q.done)
	every := time.NewTicker(flushEvery)
	defer every.Stop()
	for stopped := false; !stopped; {
		select {
		case <-every.C:
		case <-q.full:
		case <-q.stop:
			stopped = true
		}
		q.flush()
	}
}

// flush writes until nothing waits or the writing fails.
func (q *logQueue) flush() {
	for q.take() {
		n, err := q.out.Write(q.writing)
		q.writing = slices.Delete(q.writing, 0, n)
		if err != nil {
			return
		}
	}
}

// take gets the waiting lines, unless some are left from before, and reports whether there is anything to write.
func (q *logQueue) take() bool {
	if len(q.writing) > 0 {
		return true
	}
	q.mu.Lock()
	q.waiting, q.writing = q.writing, q.waiting
	missing := q.dropped - q.told
	q.told = q.dropped
	q.mu.Unlock()
	if missing > 0 {
		q.writing = append(q.writing, q.gap(missing)...)
	}
	return len(q.writing) > 0
}

// gap is the line that stands in place of the missing ones.
func (q *logQueue) gap(lines int) []byte {
	var line bytes.Buffer
	record := slog.NewRecord(time.Now(), slog.LevelWarn, "lines were dropped because nobody read the log", 0)
	record.Add("lines", lines)
	q.handler(&line).Handle(context.Background(), record)
	return line.Bytes()
}
