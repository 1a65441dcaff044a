//go:build linux

package chaos

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/history"
	"petstore/internal/model"
)

// figures are the results of a scenario.
type figures struct {
	took               time.Duration
	sent, acknowledged int
	refused            int // requests that the service refused for any reason
	unanswered         int
	pause              time.Duration // the longest time between two acknowledged writes
	back               time.Duration // the longest time from the end of a fault until the service worked again
	full               int           // the number of minutes in which a key reached its limit and the limit was checked
	faults             map[history.Kind]int
}

// kinds are the kinds of fault that have a column in the report.
var kinds = []history.Kind{history.NotLinearizable, history.NotAskedFor, history.OverLimit, history.WrongFeed, history.Undecided}

func newFigures() *figures { return &figures{faults: make(map[history.Kind]int)} }

func (f *figures) add(g *figures) {
	f.took += g.took
	f.sent += g.sent
	f.acknowledged += g.acknowledged
	f.refused += g.refused
	f.unanswered += g.unanswered
	f.pause = max(f.pause, g.pause)
	f.back = max(f.back, g.back)
	f.full += g.full
	for kind, n := range g.faults {
		f.faults[kind] += n
	}
}

// report collects the results of all scenarios.
type report struct {
	mu       sync.Mutex
	results  map[string]*figures // keyed by scenario
	faults   map[string]int
	pauses   map[string]time.Duration // the longest time without an acknowledged write, keyed by fault
	refusals map[string]int           // keyed by status and code
}

func newReport() *report {
	r := &report{results: make(map[string]*figures), faults: make(map[string]int), pauses: make(map[string]time.Duration), refusals: make(map[string]int)}
	for _, s := range scenarios {
		r.results[s.name] = newFigures()
	}
	return r
}

func (r *report) happened(faults []fault, pause time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range faults {
		r.faults[f.name]++
		r.pauses[f.name] = max(r.pauses[f.name], pause)
	}
}

// check fails the test for every answer that a correct service could not have given, and adds the results to the report.
func (r *run) check(t *testing.T, s *system, h *history.History, took time.Duration) {
	exchanges, began := h.Exchanges(), time.Now()
	faults := history.Check(exchanges, s.rules(h))
	checked := time.Since(began)
	if len(faults) > 0 {
		note("%s: the whole history is in %s", r.name, keep(t, exchanges))
	}
	r.report.mu.Lock()
	defer r.report.mu.Unlock()
	f := newFigures()
	_, pause := s.count.longest()
	f.took, f.sent, f.pause, f.back, f.full = took, int(s.count.sent.Load()), pause, r.back, s.fullMinutes(h)
	for _, e := range exchanges {
		switch {
		case e.Status == model.NoAnswer:
		case e.Status < 300:
			f.acknowledged++
		default:
			f.refused++
			r.report.refusals[refusal(e)]++
		}
		if s.steady && (e.Status == model.NoAnswer || e.Status == 429 && e.Key != limited || e.Status >= 500) {
			t.Errorf("no request may fail in this scenario, but %s %s got %d %s", e.Method, e.Path, e.Status, e.Answer)
		}
	}
	f.unanswered = f.sent - f.acknowledged - f.refused
	for _, fault := range faults {
		f.faults[fault.Kind]++
		t.Error(fault)
	}
	r.report.results[r.name].add(f)
	note("%s: %d requests, %d acknowledged, %d refused, %d without an answer, %d full minutes, %d faults; checked in %.1f s",
		r.name, f.sent, f.acknowledged, f.refused, f.unanswered, f.full, len(faults), checked.Seconds())
}

// keep writes a history that has faults to a file. The file remains after the test.
func keep(t *testing.T, exchanges []model.Exchange) (name string) {
	file, err := os.CreateTemp("", "chaos-history-*.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := json.NewEncoder(file).Encode(exchanges); err != nil {
		t.Error(err)
	}
	return file.Name()
}

func refusal(e model.Exchange) string {
	var body struct{ Code string }
	_ = json.Unmarshal(e.Answer, &body) // if the answer has no code, its status is the whole name
	return strings.TrimSpace(fmt.Sprint(e.Status, " ", body.Code))
}

func (r *report) markdown(length time.Duration, seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "`CHAOS=%v SEED=%d make chaos`:\n\n", length, seed)
	b.WriteString("| Scenario | Load, requests/s | Sent | Acknowledged | Refused | No answer | Longest without a write | All well after | Full minutes checked |")
	for _, kind := range kinds {
		fmt.Fprintf(&b, " %s |", strings.ToUpper(string(kind[0]))+string(kind[1:]))
	}
	b.WriteString("\n" + strings.Repeat("|---", 9+len(kinds)) + "|\n")
	total := newFigures()
	line := func(name string, f *figures) {
		fmt.Fprintf(&b, "| %s | %.0f | %d | %d | %d | %d | %.1f s | %.1f s | %d |", name, float64(f.sent)/max(f.took.Seconds(), 1),
			f.sent, f.acknowledged, f.refused, f.unanswered, f.pause.Seconds(), f.back.Seconds(), f.full)
		for _, kind := range kinds {
			fmt.Fprintf(&b, " %d |", f.faults[kind])
		}
		b.WriteString("\n")
	}
	for _, s := range scenarios {
		line(s.name, r.results[s.name])
		total.add(r.results[s.name])
	}
	line("all", total)
	b.WriteString("\n| Fault | Times | Longest without a write |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.faults)) {
		fmt.Fprintf(&b, "| %s | %d | %.1f s |\n", name, r.faults[name], r.pauses[name].Seconds())
	}
	b.WriteString("\n| Refused with | Times |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.refusals)) {
		fmt.Fprintf(&b, "| %s | %d |\n", name, r.refusals[name])
	}
	return b.String()
}
