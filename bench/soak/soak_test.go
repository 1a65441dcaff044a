package soak

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"petstore/bench/load"
)

func TestWhatGrowsIsToldFromWhatOnlyMoves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "soak.jsonl")
	w, err := Create(path, Header{Name: "petstore", Rate: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 360 {
		s := Sample{At: time.Duration(i+1) * 10 * time.Second, Result: load.Result{Requests: 1000, P50: time.Millisecond, P99: 5 * time.Millisecond}}
		s.Resident = int64(100+i%7) << 20   // up and down
		s.Heap = float64((10 + i/10) << 20) // ever more
		s.Log = int64(6+i/200) << 20        // up to a bound that it also meets at first
		if i%5 == 0 {
			s.Log = 7 << 20
		}
		s.Files = 90
		if i < 30 {
			s.Files = 10 + i // it settles
		}
		if i == 350 {
			s.P99 = time.Minute // once
		}
		if err := w.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.judge() {
		if v.grows != (v.name == "Go heap") {
			t.Errorf("%+v", v)
		}
	}
	if table := r.Table(); !strings.Contains(table, "| Go heap, MiB | ") || !strings.Contains(table, "360,000 requests, **0 failed**") {
		t.Error(table)
	}
}

func TestARunThatBrokeOffIsStillRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "soak.jsonl")
	w, err := Create(path, Header{Name: "petstore"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := w.Add(Sample{At: time.Duration(i+1) * time.Second}); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-20); err != nil {
		t.Fatal(err)
	}
	r, err := Load(path)
	if err != nil || len(r.Samples) != 9 {
		t.Errorf("%v, %+v", err, r)
	}
}
