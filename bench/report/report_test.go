package report

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
)

func TestThePageSaysWhatTheResultsGive(t *testing.T) {
	text := write(t, latest(t), "targets", "throughput", "latency", "rate", "growth", "peers")
	published, err := os.ReadFile(filepath.Join("..", "..", "docs", Page))
	if err != nil {
		t.Fatal(err)
	}
	if text != string(published) {
		t.Error("docs/performance.md is not the page of results/latest.json; go -C bench run . -page results/latest.json writes it anew")
	}
}

func TestThePageOfARunThatLeftMuchOut(t *testing.T) {
	r := latest(t)
	r.Subjects, r.LeftOut, r.Starts = r.Subjects[:3], []string{"PostgreSQL is left out: it is not here"}, nil
	r.Shots = slices.DeleteFunc(r.Shots, func(s Shot) bool {
		return s.Rows > 0 || s.Share > 0 || s.Replicas > 0 || r.subject(s.Subject).Name == ""
	})
	text := write(t, r, "targets", "throughput", "latency")
	for _, want := range []string{"> PostgreSQL is left out: it is not here", "`make bench-peers` does", "| – | not measured in this run |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// latest are the results that the published page is made of.
func latest(t *testing.T) *Run {
	t.Helper()
	r, err := Load[Run]("../results/latest.json")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// write writes a page and its plots, which must be well-formed.
func write(t *testing.T, r *Run, plots ...string) string {
	t.Helper()
	docs := t.TempDir()
	if err := r.Write(docs); err != nil {
		t.Fatal(err)
	}
	for _, name := range plots {
		checkSVG(t, filepath.Join(docs, "img", "performance", name+".svg"))
	}
	text, err := os.ReadFile(filepath.Join(docs, Page))
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

func checkSVG(t *testing.T, path string) {
	t.Helper()
	svg, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer svg.Close()
	for decoder := xml.NewDecoder(svg); err == nil; {
		_, err = decoder.Token()
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("%s: %v", path, err)
	}
}

func TestWhatGrowsIsToldFromWhatOnlyMoves(t *testing.T) {
	written := &Soak{Run: Run{Subjects: []Subject{{Name: "petstore"}}}, Rate: 100}
	for i := range 360 {
		s := Sample{At: time.Duration(i+1) * 10 * time.Second, Result: load.Result{Requests: 1000, P50: time.Millisecond, P99: 5 * time.Millisecond}}
		s.Resident = int64(100+i%7) << 20   // up and down
		s.Heap = float64((10 + i/10) << 20) // ever more
		s.Log = int64(6+i/200) << 20        // up to a bound that it also meets at first
		if i%5 == 0 {
			s.Log = 7 << 20
		}
		s.Files = min(10+i, 90) // it settles
		if i == 350 {
			s.P99 = time.Minute // once
		}
		written.Samples = append(written.Samples, s)
	}
	path := filepath.Join(t.TempDir(), "soak")
	if err := errors.Join(Save(path, written), written.Draw(path+".svg")); err != nil {
		t.Fatal(err)
	}
	checkSVG(t, path+".svg")
	s, err := Load[Soak](path)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Verdicts() {
		if v.Grows != (v.Name == "Go heap, MiB") {
			t.Errorf("%+v", v)
		}
	}
	table, err := s.Table()
	if err != nil || !strings.Contains(table, "| Go heap, MiB | ") || !strings.Contains(table, "360,000 requests, **0 failed**") {
		t.Error(err, table)
	}
}
