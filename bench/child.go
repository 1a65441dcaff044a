package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"

	"petstore/bench/baseline"
	"petstore/bench/load"
	"petstore/bench/proc"
)

// runBare serves, at the address given first, the answers in the file given next.
func runBare(args []string) error {
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	var answers baseline.Answers
	if err := json.Unmarshal(text, &answers); err != nil {
		return err
	}
	return http.ListenAndServe(args[0], baseline.Bare(answers))
}

// runPlain serves, at the address given first, the database given next to whoever has the key given last.
func runPlain(args []string) error {
	handler, err := baseline.Plain(args[1], args[2])
	if err != nil {
		return err
	}
	return http.ListenAndServe(args[0], handler)
}

// report is what a load tells the bench: the result of an interval, or that of the whole.
type report struct {
	load.Result
	Whole bool
}

// runLoad reads a job and writes its results, that of the whole last.
func runLoad([]string) error {
	var job load.Job
	if err := json.NewDecoder(os.Stdin).Decode(&job); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	whole, err := load.Run(job, func(r load.Result) { _ = out.Encode(report{Result: r}) })
	if err != nil {
		return err
	}
	return out.Encode(report{whole, true})
}

// drive runs one job in a process of its own, on one processor at a time. It passes on the result of every interval and
// returns that of the whole.
func drive(ctx context.Context, job load.Job, each func(load.Result)) (whole load.Result, err error) {
	self, err := os.Executable()
	if err != nil {
		return whole, err
	}
	in, err := json.Marshal(job)
	if err != nil {
		return whole, err
	}
	cmd := exec.CommandContext(ctx, self, "load")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stdin, cmd.Stderr, cmd.SysProcAttr = bytes.NewReader(in), os.Stderr, &syscall.SysProcAttr{}
	proc.Bind(cmd.SysProcAttr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return whole, err
	}
	if err := cmd.Start(); err != nil {
		return whole, err
	}
	for results := json.NewDecoder(out); ; {
		var r report
		if results.Decode(&r) != nil {
			break
		}
		if r.Whole {
			whole = r.Result
		} else {
			each(r.Result)
		}
	}
	if err := cmd.Wait(); err != nil {
		return whole, fmt.Errorf("the load on %s: %w", job.Address, err)
	}
	return whole, nil
}
