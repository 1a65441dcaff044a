package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"petstore/bench/result"
)

// bench is one run: what it has started, and what it has measured.
type bench struct {
	options
	ctx      context.Context // ends when the user interrupts the run
	cancel   func()
	scratch  string // a folder of its own, gone afterwards
	postgres *store // nil unless it runs, and Redis too
	redis    *store
	services []*service
	run      *result.Run
}

// newBench makes a run ready: petstore is built.
func newBench(o options) (b *bench, err error) {
	b = &bench{options: o}
	b.ctx, b.cancel = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if b.scratch, err = os.MkdirTemp(b.dir, "petstore-bench-"); err != nil {
		return nil, err
	}
	if err = errors.Join(os.Chmod(b.scratch, 0o711), b.prepare()); err != nil { // PostgreSQL may be another user
		b.close()
	}
	return b, err
}

func (b *bench) prepare() error {
	machine, err := describeMachine(b.scratch)
	if err != nil {
		return err
	}
	b.run = &result.Run{
		Date:     time.Now().UTC().Truncate(time.Second),
		Command:  b.command,
		Revision: output("git", "-C", root, "describe", "--tags", "--always", "--dirty"),
		Machine:  machine,
		Settings: b.settings(),
		LeftOut:  []string{},
	}
	if b.binary == "" { // the program as it is shipped
		b.binary = filepath.Join(b.scratch, "petstore")
		if err := b.build(root, "./cmd/petstore", b.binary, "-trimpath", "-ldflags", "-s -w -X main.version="+b.run.Revision); err != nil {
			return err
		}
	}
	info, err := os.Stat(b.binary)
	if err == nil {
		b.run.Binary = info.Size()
	}
	return err
}

// build makes a program of a package.
func (b *bench) build(dir, pkg, program string, flags ...string) error {
	cmd := exec.CommandContext(b.ctx, "go", slices.Concat([]string{"build", "-o", program}, flags, []string{pkg})...)
	cmd.Dir = dir
	if dir == root {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build: %w\n%s", pkg, err, out)
	}
	return nil
}

// leaveOut notes that something cannot be measured, and why.
func (b *bench) leaveOut(what string, err error) {
	sentence := fmt.Sprintf("%s is left out: %s", what, strings.ReplaceAll(err.Error(), "\n", " "))
	fmt.Println(sentence)
	b.run.LeftOut = append(b.run.LeftOut, sentence)
}

// stopServices ends what is measured; the stores go on.
func (b *bench) stopServices() {
	for _, s := range b.services {
		s.stop()
	}
	b.services = nil
}

func (b *bench) close() {
	b.stopServices()
	if b.postgres != nil {
		b.redis.stop()
		b.postgres.stop()
	}
	os.RemoveAll(b.scratch)
	b.cancel()
}

// describeMachine says what the figures are measured on, the disk of that folder among it.
func describeMachine(dir string) (result.Machine, error) {
	sync, err := measureSync(dir)
	kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 10, 64)
	_, fileSystem, _ := strings.Cut(output("df", "--output=fstype", dir), "\n")
	return result.Machine{
		Processor:  field("/proc/cpuinfo", "model name"),
		Processors: runtime.NumCPU(),
		Memory:     kilobytes << 10,
		System:     output("uname", "-srm"),
		Go:         strings.TrimPrefix(runtime.Version(), "go"),
		FileSystem: fileSystem,
		Sync:       sync,
	}, err
}

// output is what a command says, "unknown" if it cannot.
func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// measureSync is how long it takes, most often, to make 4 kB durable: what every commit must wait for.
func measureSync(dir string) (time.Duration, error) {
	file, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	times := make([]time.Duration, 200)
	for i := range times {
		start := time.Now()
		_, err := file.Write(make([]byte, 4096))
		if err := errors.Join(err, file.Sync()); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// field is the first value of that name in one of the kernel's tables.
func field(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
