package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	flushEvery = 100 * time.Millisecond // how long a line may wait though the log is read
	flushSize  = 64 << 10               // how many bytes are written sooner
	queueSize  = 4 << 20                // how many bytes may wait for a reader; lines beyond them are dropped
	lastWords  = time.Second            // how long the program waits for a reader before it goes on without one
)

// logQueue takes lines at once and writes them from a goroutine of its own, in their order and many at a time: whoever
// logs never waits for whoever reads. Lines that find the queue full are dropped and counted, and the log tells how many
// were where they are missing. What cannot be written, to a full disk for one, stays and is tried again.
type logQueue struct {
	out io.Writer
	// handler makes lines of the log's format.
	handler func(io.Writer) slog.Handler
	full    chan struct{} // there is enough to be written now
	stop    chan struct{}
	done    chan struct{}

	mu            sync.Mutex
	waiting       []byte
	dropped, told int // lines dropped, and how many of them the log has told of

	writing []byte // only the goroutine uses it
}

func newLogQueue(out io.Writer, handler func(io.Writer) slog.Handler) *logQueue {
	q := &logQueue{out: out, handler: handler, full: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go q.writeRegularly()
	return q
}

// Write takes a line or drops it. After a dropped one all are dropped until there is room, so that the log has one gap.
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

// Close writes what waits, if somebody reads it.
func (q *logQueue) Close() {
	close(q.stop)
	briefly(func() { <-q.done })
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

// take gets what waits, unless there is a rest from before, and reports whether there is anything to write.
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

// gap is the line that stands for those that are missing.
func (q *logQueue) gap(lines int) []byte {
	var line bytes.Buffer
	record := slog.NewRecord(time.Now(), slog.LevelWarn, "lines were dropped because nobody read the log", 0)
	record.Add("lines", lines)
	q.handler(&line).Handle(context.Background(), record)
	return line.Bytes()
}

// briefly does what blocks while nobody reads, and leaves it to itself if that takes longer than a moment.
func briefly(write func()) (done bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		write()
	}()
	select {
	case <-ended:
		return true
	case <-time.After(lastWords):
		return false
	}
}
