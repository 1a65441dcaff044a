package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"petstore/bench/baseline"
	"petstore/bench/load"
)

// The bench starts itself again as each of these, so that what is measured, what it is compared with and the load are
// processes of their own.
var children = map[string]func(args []string) error{
	"load":              runLoad,
	"bare":              runBare,
	"dressed":           runDressed,
	"one-commit-sqlite": runOneCommit(baseline.OneCommitSQLite),
	"one-commit-pgx":    runOneCommit(baseline.OneCommitPostgres),
}

// again is the command that makes this program a child.
func again(child string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	return exec.Command(self, append([]string{child}, args...)...), err
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
	result, err := load.Run(job, func(r load.Result) { _ = out.Encode(report{Result: r}) })
	if err != nil {
		return err
	}
	return out.Encode(report{result, true})
}

// runBare serves, at the address given first, the answers in the folder given next.
func runBare(args []string) error {
	bodies, err := readBodies(args[1])
	if err != nil {
		return err
	}
	return http.ListenAndServe(args[0], baseline.Bare(bodies))
}

// runDressed is runBare with the headers that are in the folder too.
func runDressed(args []string) error {
	bodies, err := readBodies(args[1])
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(args[1], "headers"))
	if err != nil {
		return err
	}
	var headers http.Header
	if err := json.Unmarshal(text, &headers); err != nil {
		return err
	}
	return http.ListenAndServe(args[0], baseline.Dressed(baseline.Bare(bodies), headers))
}

func readBodies(dir string) (b baseline.Bodies, err error) {
	var errs [4]error
	b.List, errs[0] = os.ReadFile(filepath.Join(dir, "list"))
	b.Get, errs[1] = os.ReadFile(filepath.Join(dir, "get"))
	b.Created, errs[2] = os.ReadFile(filepath.Join(dir, "created"))
	b.Inventory, errs[3] = os.ReadFile(filepath.Join(dir, "inventory"))
	return b, errors.Join(errs[:]...)
}

func runOneCommit(open func(string) (http.Handler, error)) func([]string) error {
	return func(args []string) error {
		handler, err := open(args[1])
		if err != nil {
			return err
		}
		return http.ListenAndServe(args[0], handler)
	}
}

// drive runs one job in a process of its own, on one processor at a time. It passes on the result of every interval and
// returns that of the whole.
func drive(ctx context.Context, job load.Job, each func(load.Result)) (result load.Result, err error) {
	cmd, err := again("load")
	if err != nil {
		return result, err
	}
	in, err := json.Marshal(job)
	if err != nil {
		return result, err
	}
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return result, err
	}
	if err := cmd.Start(); err != nil {
		return result, err
	}
	defer context.AfterFunc(ctx, func() { cmd.Process.Kill() })()
	results := json.NewDecoder(out)
	for {
		var r report
		if results.Decode(&r) != nil {
			break
		}
		if r.Whole {
			result = r.Result
		} else {
			each(r.Result)
		}
	}
	if err := cmd.Wait(); err != nil {
		return result, fmt.Errorf("the load on %s: %w", job.Address, err)
	}
	return result, nil
}
