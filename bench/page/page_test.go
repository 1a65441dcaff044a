package page

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"petstore/bench/load"
	"petstore/bench/result"
)

func TestThePageOfAWholeRun(t *testing.T) {
	text := write(t, wholeRun(), "targets.svg", "throughput.svg", "latency.svg", "rate.svg", "growth.svg", "peers.svg")
	for _, want := range []string{
		"| list, hot page | ≥ 0.78 of bare | 0.50 (0.50–0.50) | **missed** |",
		"| create, durable | ≥ 0.46 of bare | 0.50 (0.50–0.50) | reached |",
		"| start to first answer, new database | ≤ 100 ms | 12.0 (12.0–12.0) | reached |",
		"**0 answers were wrong**",
		"| Gin | v1 |",
		"| Gin | 50 % | 10,000 | 1.0 ms | 1000 ms |",
		"| get, random ids | 2 | 10,000 (10,000–10,000) | 100 µs | 100 µs | 50 µs | 25 µs |",
		"| 100 | 1,000,000 | 100.0 | 50.0 | 25.0 | 800 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestThePageOfARunThatLeftMuchOut(t *testing.T) {
	r := wholeRun()
	r.Subjects, r.LeftOut = r.Subjects[:2], []string{"PostgreSQL is left out: it is not here"}
	r.Shots = slices.DeleteFunc(r.Shots, func(s result.Shot) bool { return s.Rows > 0 || s.Share > 0 || s.Replicas > 0 })
	text := write(t, r, "targets.svg", "throughput.svg", "latency.svg")
	for _, want := range []string{"> PostgreSQL is left out: it is not here", "`make bench-peers` does", "not measured in this run"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// write writes a page and its plots, which must be well-formed.
func write(t *testing.T, r *result.Run, plots ...string) string {
	t.Helper()
	docs := t.TempDir()
	if err := Write(r, docs); err != nil {
		t.Fatal(err)
	}
	for _, name := range plots {
		svg, err := os.Open(filepath.Join(docs, "img", "performance", name))
		if err != nil {
			t.Fatal(err)
		}
		defer svg.Close()
		for decoder := xml.NewDecoder(svg); err == nil; {
			_, err = decoder.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(docs, Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"NaN", "Inf", "%!", "<no value>"} {
		if strings.Contains(string(text), bad) {
			t.Errorf("the page has %q in it", bad)
		}
	}
	return string(text)
}

// wholeRun has everything in it; whatever is not bare does half of it.
func wholeRun() *result.Run {
	r := &result.Run{
		Settings: result.Settings{Rounds: 2, Duration: time.Second, Connections: []int{1, result.Busy}, Rows: 100_000, Growth: []int64{10_000, 10_000_000},
			Shares: []float64{0.5}, Replicas: []int{1, 2}},
		Subjects: []result.Subject{{ID: result.Bare, Name: "bare"}, {ID: result.SQLite, Name: "SQLite"}, {ID: result.Postgres, Name: "PostgreSQL"},
			{ID: result.PlainSQLite, Name: "one", Peer: true}, {ID: "gin", Name: "Gin", Detail: "v1", Peer: true}},
		Starts: []result.Start{{Subject: result.SQLite, State: "new database", Times: []time.Duration{12 * time.Millisecond}, Resident: 20 << 20}},
		Binary: 30e6,
	}
	for round := range 2 {
		for _, s := range r.Subjects {
			for _, line := range result.Lines {
				keys := []result.Key{{Connections: 1}, {Connections: result.Busy}, {Connections: result.Busy, Share: 0.5}, {Connections: result.Busy, Rows: 10_000},
					{Connections: result.Busy, Rows: 10_000_000}, {Connections: result.Busy, Replicas: 1}, {Connections: result.Busy, Replicas: 2}}
				for _, key := range keys {
					key.Subject, key.Line = s.ID, line.ID
					shot := result.Shot{Key: key, Round: round, Result: load.Result{Requests: 10_000, Elapsed: time.Second, P50: time.Millisecond, P99: time.Second,
						ServerCPU: time.Second, EachStore: []time.Duration{time.Second, time.Second / 2, time.Second / 4}}}
					if s.ID == result.Bare {
						shot.Requests *= 2
					}
					r.Shots = append(r.Shots, shot)
				}
			}
		}
	}
	return r
}
