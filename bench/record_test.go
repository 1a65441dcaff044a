package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"petstore/bench/report"
)

// measured returns a bench that has taken some measurements. Its last part fails, because no program is on the PATH.
func measured(t *testing.T) *bench {
	t.Helper()
	t.Setenv("PATH", "")
	return &bench{scratch: filepath.Join(t.TempDir(), "none"), run: report.Run{Revision: "this one", Shots: []report.Shot{{Round: 7}}}}
}

// kept returns the results that a failed run has written. It fails the test if the run has written anything else.
func kept(t *testing.T, results, docs string) *report.Run {
	t.Helper()
	for folder, wanted := range map[string]int{results: 2, docs: 0} {
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != wanted {
			t.Errorf("%s has %v, %v", folder, entries, err)
		}
	}
	if latest, err := os.ReadFile(filepath.Join(results, "latest.json")); err != nil || string(latest) != "the last run" {
		t.Errorf("the results of the last run are now %s, %v", latest, err)
	}
	run, err := report.Load[report.Run](filepath.Join(results, "incomplete.json"))
	if err != nil {
		t.Fatal(err)
	}
	if run.Revision != "this one" || len(run.Shots) != 1 || run.Shots[0].Round != 7 {
		t.Errorf("kept %+v", run)
	}
	if err := run.Write(docs); err == nil || !strings.Contains(err.Error(), run.Incomplete) {
		t.Errorf("the pages of a run that is not complete: %v", err)
	}
	return run
}

// folders returns a folder with the results of an earlier run, and an empty folder for the pages.
func folders(t *testing.T) (results, docs string) {
	t.Helper()
	results, docs = t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(results, "latest.json"), []byte("the last run"), 0o644); err != nil {
		t.Fatal(err)
	}
	return results, docs
}

func TestWhatWasMeasuredBeforeAPartFailsIsKept(t *testing.T) {
	results, docs := folders(t)
	err := measured(t).record(results, docs, []string{"rates", "growth", "replicas", "starts"})
	if err == nil || !strings.HasPrefix(err.Error(), "build: ") {
		t.Fatalf("the build failed, and the bench says %v", err)
	}
	if run := kept(t, results, docs); run.Incomplete != err.Error() {
		t.Errorf("the results say that they are not complete because of %q; the bench said %v", run.Incomplete, err)
	}
}

func TestWhatWasMeasuredBeforeAPanicIsKept(t *testing.T) {
	results, docs := folders(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a service without a folder was started")
			}
		}()
		measured(t).record(results, docs, []string{"rates", "growth", "replicas", "build"})
	}()
	if run := kept(t, results, docs); run.Incomplete == "" {
		t.Error("the results seem complete")
	}
}

func TestACompleteRunReplacesTheLastOne(t *testing.T) {
	results, docs := folders(t)
	b := measured(t)
	shipped, err := report.Load[report.Run](filepath.Join("results", "latest.json"))
	if err != nil {
		t.Fatal(err)
	}
	b.run = *shipped
	if err := b.record(results, docs, []string{"rates", "growth", "replicas", "starts", "build"}); err != nil {
		t.Fatal(err)
	}
	latest, err := report.Load[report.Run](filepath.Join(results, "latest.json"))
	if err != nil || latest.Incomplete != "" || len(latest.Shots) != len(shipped.Shots) {
		t.Errorf("wrote %+v, %v", latest, err)
	}
	for _, file := range []string{filepath.Join(docs, report.Page), filepath.Join(docs, report.Details)} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(results, "incomplete.json")); !os.IsNotExist(err) {
		t.Errorf("the incomplete results are still there: %v", err)
	}
}

func TestTheBenchNeverChoosesTheSamePortTwice(t *testing.T) {
	b := &bench{}
	defer b.close()
	seen := make(map[string]bool)
	for range 500 {
		address := b.freeAddress()
		if seen[address] {
			t.Fatalf("%s was chosen twice, though nothing listens on it yet", address)
		}
		seen[address] = true
	}
}
