package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fullOnce is a disk that becomes full during the first write, and has room for all later writes.
type fullOnce struct {
	bytes.Buffer
	refused bool
}

func (w *fullOnce) Write(b []byte) (int, error) {
	if !w.refused {
		w.refused = true
		n, _ := w.Buffer.Write(b[:len(b)/2])
		return n, errors.New("no space left on device")
	}
	return w.Buffer.Write(b)
}

func TestTheLogContinuesWhenItsDiskHasRoomAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var disk fullOnce
		log := newLogs(&disk, slog.LevelInfo, "json")
		log.Info("while it is full")
		time.Sleep(flushEvery + 1) // by now the first write is over
		log.Info("when there is room")
		log.queue.Close()
		lines := strings.SplitAfter(disk.String(), "\n")
		if len(lines) != 3 || !strings.Contains(lines[0], "while it is full") || !strings.Contains(lines[1], "when there is room") {
			t.Errorf("the log is %q", lines)
		}
	})
}

// unread is a writer that blocks until somebody reads from it.
type unread struct {
	bytes.Buffer
	read chan struct{}
}

func (w *unread) Write(b []byte) (int, error) {
	<-w.read
	return w.Buffer.Write(b)
}

func TestTheLogReportsDroppedLinesWhereTheyAreMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, long := &unread{read: make(chan struct{})}, strings.Repeat("x", 20_000)
		log := newLogs(out, slog.LevelError, "json")
		n := 0
		write := func(lines int) {
			for range lines {
				for _, padding := range []string{long, ""} { // the short line would fit where the long line does not
					log.Error("line", "n", n, "padding", padding)
					n++
				}
			}
		}
		for range 3 {
			write(flushSize/len(long) + 1)
			synctest.Wait() // the queue is writing these lines
			write(3 * queueSize / len(long))
			for range 2 { // one read for the lines being written, one for the lines that wait
				out.read <- struct{}{}
				synctest.Wait()
			}
		}
		close(out.read)
		log.queue.Close()

		next, gaps := 0, 0
		for lines := json.NewDecoder(&out.Buffer); ; {
			var line struct {
				Msg      string
				N, Lines int
			}
			if err := lines.Decode(&line); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.Contains(line.Msg, "dropped"):
				next += line.Lines
				gaps++
			case line.N != next:
				t.Fatalf("line %d follows line %d", line.N, next-1)
			default:
				next++
			}
		}
		if next != n || gaps < 3 {
			t.Errorf("the log accounts for %d lines of %d and has %d gaps", next, n, gaps)
		}
	})
}

func TestClosingTheLogWaitsASecondForAReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &unread{read: make(chan struct{})}
		log := newLogs(out, slog.LevelInfo, "json")
		log.Info("stopped")
		start := time.Now()
		log.queue.Close()
		if took := time.Since(start); took != time.Second {
			t.Errorf("it took %s", took)
		}
		close(out.read)
	})
}

func BenchmarkLogLine(b *testing.B) {
	log := newLogs(io.Discard, slog.LevelInfo, "json")
	defer log.queue.Close()
	line := bytes.Repeat([]byte("x"), 250)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			log.access.Write(line)
		}
	})
}
