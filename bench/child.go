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
)

// runBare serves, at the address given first, the answers given next.
func runBare(args []string) error {
	var answers baseline.Answers
	if err := json.Unmarshal([]byte(args[1]), &answers); err != nil {
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

// again is this program once more, as one of its commands.
func again(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, must(os.Executable()), args...)
}

// drive runs one job in a process of its own, on one processor at a time. It passes on the result of every interval and
// returns that of the whole.
func drive(ctx context.Context, job load.Job, each func(load.Result)) (whole load.Result, err error) {
	cmd := again(ctx, "load")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stdin, cmd.Stderr, cmd.SysProcAttr = bytes.NewReader(must(json.Marshal(job))), os.Stderr, &syscall.SysProcAttr{}
	load.Bind(cmd.SysProcAttr)
	results := json.NewDecoder(must(cmd.StdoutPipe()))
	if err := cmd.Start(); err != nil {
		return whole, err
	}
	for {
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
