package report

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"petstore/bench/load"
)

func TestThePagesSayWhatTheResultsGive(t *testing.T) {
	for page, text := range write(t, latest(t), "targets", "throughput", "latency", "rate", "growth", "peers") {
		published, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		if text != string(published) {
			t.Errorf("docs/%s was not written from results/latest.json; go -C bench run . -page results/latest.json rewrites it", page)
		}
	}
}

func TestThePagesOfARunThatLeftMuchOut(t *testing.T) {
	r := latest(t)
	r.Subjects, r.LeftOut, r.Starts = r.Subjects[:3], []string{"PostgreSQL is left out: it is not here"}, nil
	r.Shots = slices.DeleteFunc(r.Shots, func(s Shot) bool {
		return s.Rows > 0 || s.Share > 0 || s.Replicas > 0 || r.subject(s.Subject).Name == ""
	})
	pages := write(t, r, "targets", "throughput", "latency")
	for page, wanted := range map[string][]string{
		Page:    {"> PostgreSQL is left out: it is not here", "`make bench-peers` measures them", "| – | not measured in this run |"},
		Details: {"## Replicas\n\nNot measured in this run.", "## Growth\n\nNot measured in this run."},
	} {
		for _, want := range wanted {
			if !strings.Contains(pages[page], want) {
				t.Errorf("%s does not say %q", page, want)
			}
		}
	}
}

func TestFiguresMatchACalculationByHand(t *testing.T) {
	shot := func(key Key, round int, requests int64) Shot {
		each := func(micros time.Duration) time.Duration { return micros * time.Microsecond * time.Duration(requests) }
		return Shot{Key: key, Round: round, Result: load.Result{
			Requests: requests, Elapsed: time.Second, ServerCPU: each(100), EachStore: []time.Duration{each(20), each(10), each(5)},
		}}
	}
	of := func(subject, line string, rows int64, replicas int) Key {
		return Key{Subject: subject, Line: line, Connections: Busy, Rows: rows, Replicas: replicas}
	}
	r := &Run{
		Settings: Settings{Growth: []int64{1_000, 1_000_000}},
		Subjects: []Subject{{ID: Bare}, {ID: SQLite}},
		Shots: []Shot{
			shot(of(Bare, Hot, 0, 0), 0, 1000), shot(of(SQLite, Hot, 0, 0), 0, 500),
			shot(of(Bare, Hot, 0, 0), 1, 500), shot(of(SQLite, Hot, 0, 0), 1, 500),
			shot(of(SQLite, Get, 1_000, 0), 0, 1000), shot(of(SQLite, Get, 1_000_000, 0), 0, 900),
			shot(of(SQLite, Distinct, 1_000, 0), 0, 1000), shot(of(SQLite, Distinct, 1_000_000, 0), 0, 800),
			shot(of(Ceiling+SQLite, Get, 1_000_000, 0), 0, 1000), shot(of(Ceiling+SQLite, Distinct, 1_000_000, 0), 0, 900),
			shot(of(Postgres, Mix, 0, 3), 0, 1000),
		},
	}
	if got := r.Ratio(of(SQLite, Hot, 0, 0)); !slices.Equal(got, Figures{0.5, 1}) || got.Median() != 0.75 {
		t.Errorf("shares of bare: %v, median %v", got, got.Median())
	}
	verdicts := make(map[string]string)
	for _, target := range r.Targets(SQLite) {
		verdicts[target.Name] = target.Verdict()
	}
	for name, want := range map[string]string{
		"list, hot page": "**missed**", "get, random ids": "not measured in this run",
		"get, random ids, on 1 million rows": "reached", "list, distinct pages, on 1 million rows": "**missed**",
	} {
		if verdicts[name] != want {
			t.Errorf("%s: %q, want %q", name, verdicts[name], want)
		}
	}
	if needs := r.Needs(); len(needs) != 3 || needs[2] != (need{100, 1_000_000, 20, 10, 5, 800}) {
		t.Errorf("needs: %+v", needs)
	}
}

// latest returns the committed results of the latest run.
func latest(t *testing.T) *Run {
	t.Helper()
	r, err := Load[Run]("../results/latest.json")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// write writes both pages and their plots. It returns the text of each page by name.
func write(t *testing.T, r *Run, plots ...string) map[string]string {
	t.Helper()
	docs := t.TempDir()
	if err := r.Write(docs); err != nil {
		t.Fatal(err)
	}
	for _, name := range plots {
		if _, err := os.Stat(filepath.Join(docs, "img", "performance", name+".svg")); err != nil {
			t.Error(err)
		}
	}
	pages := make(map[string]string)
	for _, page := range []string{Page, Details} {
		text, err := os.ReadFile(filepath.Join(docs, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"NaN", "Inf", "%!", "<no value>"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s has %q in it", page, bad)
			}
		}
		pages[page] = string(text)
	}
	return pages
}

func TestVerdictsTellGrowthFromFluctuation(t *testing.T) {
	written := &Soak{Run: Run{Subjects: []Subject{{Name: "petstore"}}}, Rate: 100, Watched: []string{"moves", "grows", "bounded", "settles", "once"}}
	for i := range 360 {
		f := Figures{float64(100 + i%7), float64(10 + i/10), float64(6 + i/200), float64(min(10+i, 90)), 5}
		if i%5 == 0 {
			f[2] = 7 // the third figure begins at its upper bound
		}
		if i == 350 {
			f[4] = 60_000
		}
		written.Samples = append(written.Samples, Sample{At: time.Duration(i+1) * 10 * time.Second, Load: load.Result{Requests: 1000}, Figures: f})
	}
	path := filepath.Join(t.TempDir(), "soak")
	if err := errors.Join(Save(path, written), written.Draw(path+".svg")); err != nil {
		t.Fatal(err)
	}
	s, err := Load[Soak](path)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Verdicts() {
		if v.Grows != (v.Name == "grows") {
			t.Errorf("%+v", v)
		}
	}
	table, err := s.Table()
	if err != nil || !strings.Contains(table, "| grows | ") || !strings.Contains(table, "360,000 requests, **0 failed**") {
		t.Error(err, table)
	}
}
