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
	flushEvery = 100 * time.Millisecond // the longest time that a line waits while somebody reads the log
	flushSize  = 64 << 10               // the queue writes immediately when this many bytes wait
	queueSize  = 4 << 20                // the number of bytes that may wait for a reader; the queue drops further lines
)

// logQueue writes log lines in a goroutine of its own, in order and many at a time. Code that logs therefore never waits for
// the reader of the log. When the queue is full, it drops lines. A line in their place says how many lines are missing.
// Lines that cannot be written, for example because a disk is full, stay in the queue until they can be written.
type logQueue struct {
	out io.Writer
	// handler makes the slog.Handler that formats the lines of the queue like the rest of the log.
	handler func(io.Writer) slog.Handler
	full    chan struct{} // signals that flushSize bytes wait
	stop    chan struct{}
	done    chan struct{}

	mu                sync.Mutex
	waiting           []byte
	dropped, reported int // the number of dropped lines, and how many of them the log has reported

	writing []byte // the lines being written; used only by the writing goroutine
}

func newLogQueue(out io.Writer, handler func(io.Writer) slog.Handler) *logQueue {
	q := &logQueue{out: out, handler: handler, full: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go q.run()
	return q
}

// Write queues a line or drops it. After it has dropped a line, Write drops all further lines until the queue has been
// written, so that the log has a single gap.
func (q *logQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dropped > q.reported || len(q.waiting)+len(line) > queueSize {
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

// Dropped returns the number of dropped lines.
func (q *logQueue) Dropped() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// Close writes the waiting lines. If nobody reads the log, Close gives up after a second.
func (q *logQueue) Close() {
	close(q.stop)
	terminal.WaitForReader(func() { <-q.done })
}

// run writes the waiting lines regularly until the queue is closed.
func (q *logQueue) run() {
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

// flush writes until no line waits or a write fails.
func (q *logQueue) flush() {
	for q.take() {
		n, err := q.out.Write(q.writing)
		q.writing = slices.Delete(q.writing, 0, n)
		if err != nil {
			return
		}
	}
}

// take moves the waiting lines to the field writing, unless that field still has lines that could not be written. It returns
// whether there is anything to write.
func (q *logQueue) take() bool {
	if len(q.writing) > 0 {
		return true
	}
	q.mu.Lock()
	q.waiting, q.writing = q.writing, q.waiting
	missing := q.dropped - q.reported
	q.reported = q.dropped
	q.mu.Unlock()
	if missing > 0 {
		q.writing = append(q.writing, q.gapLine(missing)...)
	}
	return len(q.writing) > 0
}

// gapLine returns the line that stands in place of the dropped lines.
func (q *logQueue) gapLine(lines int) []byte {
	var line bytes.Buffer
	record := slog.NewRecord(time.Now(), slog.LevelWarn, "lines were dropped because nobody read the log", 0)
	record.Add("lines", lines)
	q.handler(&line).Handle(context.Background(), record)
	return line.Bytes()
}
