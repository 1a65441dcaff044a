package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"petstore/bench/baseline"
	"petstore/bench/load"
)

// patience bounds every wait for a service; only a broken one needs it.
const patience = 60 * time.Second

// process is a running service, which ends with the bench at the latest.
type process struct {
	*os.Process
	log    *os.File // what it writes on both outputs
	exited chan struct{}
}

// start runs a command in a folder, where its log is too, and returns when it is ready.
func start(cmd *exec.Cmd, dir string, ready func() error) (*process, error) {
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	load.Bind(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	p := &process{Process: cmd.Process, log: log, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(p.exited)
	}()
	if err := p.wait(ready); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *process) wait(ready func() error) error {
	for deadline := time.Now().Add(patience); ; {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return errors.New("it ended: " + p.lastWords())
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it was not ready after %v: %w; %s", patience, err, p.lastWords())
		}
	}
}

// stop ends the process as an operator does.
func (p *process) stop() {
	p.Signal(syscall.SIGINT)
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.Kill()
		<-p.exited
	}
	p.log.Close()
}

// emptyLog forgets what was logged, so that a long run does not fill the disk, nor a later measurement wait for it.
func (p *process) emptyLog() error { return p.log.Truncate(0) }

func (p *process) lastWords() string {
	text, _ := os.ReadFile(p.log.Name())
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// must is for what fails only on a machine that can measure nothing, such as one without a free port.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// freeAddress gives an address that nothing listens on.
func freeAddress() string {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	return l.Addr().String()
}

// cleanEnvironment leaves out what could set petstore otherwise than it is shipped.
func cleanEnvironment(more ...string) (env []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

// runBare reads answers and serves them at the address given.
func runBare(args []string) error {
	var answers baseline.Answers
	if err := json.NewDecoder(os.Stdin).Decode(&answers); err != nil {
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
