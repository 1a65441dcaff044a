package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"petstore/bench/report"
)

// record measures everything. It writes the results into the folder results and the pages into the folder docs. If a part
// fails, record writes only the measurements before the failure, into a separate file.
func (b *bench) record(results, docs string, skip []string) error {
	if err := os.MkdirAll(results, 0o755); err != nil {
		return err
	}
	b.partial = filepath.Join(results, "incomplete.json")
	if err := b.measure(skip); err != nil {
		err = errors.Join(err, b.keep(err.Error()))
		fmt.Printf("\n%s has what was measured before it failed. The pages are unchanged.\n", b.partial)
		return err
	}
	file := filepath.Join(results, "latest.json")
	if err := b.keep(""); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(b.partial, file), b.run.Write(docs)); err != nil {
		return err
	}
	fmt.Printf("\nWrote %s, and %s and %s into %s, after %v.\n", file, report.Page, report.Details, docs, time.Since(b.run.Date).Round(time.Second))
	if wrong := b.run.Wrong(false); wrong.Answers > 0 {
		return fmt.Errorf("%d answers were wrong; the first: %s", wrong.Answers, wrong.First)
	}
	return nil
}

// keep saves the measurements so far, with the reason why they are not complete.
func (b *bench) keep(why string) error {
	b.run.Incomplete = why
	return report.Save(b.partial, b.run)
}
