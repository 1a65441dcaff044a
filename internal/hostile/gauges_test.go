package hostile

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// gauges says how much memory, and how many goroutines and files, the server uses.
type gauges struct {
	resident, heap    int64 // in bytes
	goroutines, files int64
}

// slack is how much more a server may use after an attack than before, because a busy server keeps some of what it has
// used.
var slack = gauges{resident: 64 << 20, heap: 16 << 20, goroutines: 20, files: 20}

// adminClient calls the admin listener, with a new connection for each request.
var adminClient = &http.Client{Timeout: waitTimeout, Transport: &http.Transport{DisableKeepAlives: true}}

// gauges reads the server's metrics. It first makes the server collect its garbage, so that the heap holds only what is in
// use.
func (s *target) gauges(t testing.TB) gauges {
	t.Helper()
	_, err := s.adminGet("/debug/pprof/heap?gc=1")
	text, err2 := s.adminGet("/metrics")
	if err = errors.Join(err, err2); err != nil {
		t.Fatalf("the metrics cannot be read: %v", err)
	}
	return gauges{
		resident: metric(text, "process_resident_memory_bytes"), heap: metric(text, "go_memstats_heap_alloc_bytes"),
		goroutines: metric(text, "go_goroutines"), files: metric(text, "process_open_fds"),
	}
}

func (s *target) adminGet(path string) (string, error) {
	answer, err := adminClient.Get(s.Admin + path)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func metric(text, name string) int64 {
	_, rest, _ := strings.Cut(text, "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.ParseFloat(value, 64)
	return int64(n)
}

// The method exceeds lists the resources of which the server uses more than before, beyond the slack. The result is empty
// if there are none.
func (g gauges) exceeds(before gauges) (problem string) {
	for _, c := range []struct {
		what             string
		now, then, slack int64
	}{
		{"bytes of resident memory", g.resident, before.resident, slack.resident},
		{"bytes of heap", g.heap, before.heap, slack.heap},
		{"goroutines", g.goroutines, before.goroutines, slack.goroutines},
		{"open files", g.files, before.files, slack.files},
	} {
		if c.now > c.then+c.slack {
			problem += fmt.Sprintf("%d %s, and %d before; ", c.now, c.what, c.then)
		}
	}
	return problem
}

// recoveryTimeout is how long a server may take to recover. If an HTTP/2 connection closes with open requests, net/http
// keeps the connection until the idle timeout of two minutes.
const recoveryTimeout = 3 * time.Minute

// awaitRecovery waits until the server uses no more than before the attack.
func (s *target) awaitRecovery(t *testing.T, before gauges) gauges {
	t.Helper()
	for deadline := time.Now().Add(recoveryTimeout); ; time.Sleep(100 * time.Millisecond) {
		now := s.gauges(t)
		problem := now.exceeds(before)
		if problem == "" {
			return now
		}
		if time.Now().After(deadline) {
			t.Errorf("the server does not recover: %s", problem)
			return now
		}
	}
}

// peak starts to watch the server's resident memory. The returned function stops watching, and returns the highest value.
func (s *target) peak() (highest func() int64) {
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		var seen int64
		for {
			if text, err := s.adminGet("/metrics"); err == nil {
				seen = max(seen, metric(text, "process_resident_memory_bytes"))
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case <-stop:
				most <- seen
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-most
	}
}
