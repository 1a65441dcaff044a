package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"petstore/bench/result"
)

// bench is one run: what it has started, and what it has measured.
type bench struct {
	options
	ctx      context.Context
	scratch  string // a folder of its own, gone afterwards
	postgres *store // nil unless it runs, and Redis too
	redis    *store
	services []*service
	run      *result.Run
}

// newBench makes a run ready: petstore is built.
func newBench(ctx context.Context, o options) (b *bench, err error) {
	b = &bench{options: o, ctx: ctx}
	if b.scratch, err = os.MkdirTemp(b.dir, "petstore-bench-"); err != nil {
		return nil, err
	}
	if err = os.Chmod(b.scratch, 0o711); err == nil { // PostgreSQL may be another user
		err = b.prepare()
	}
	if err != nil {
		b.close()
	}
	return b, err
}

func (b *bench) prepare() error {
	machine, err := describeMachine(b.scratch)
	if err != nil {
		return err
	}
	revision, err := exec.Command("git", "-C", root, "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		revision = []byte("unknown")
	}
	b.run = &result.Run{
		Date:     time.Now().UTC().Truncate(time.Second),
		Command:  b.command,
		Revision: strings.TrimSpace(string(revision)),
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
	cmd := exec.CommandContext(b.ctx, "go", append(append([]string{"build", "-o", program}, flags...), pkg)...)
	cmd.Dir = dir
	if dir == root {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build: %w\n%s", pkg, err, out)
	}
	return nil
}

// startStores starts PostgreSQL and Redis.
func (b *bench) startStores() error {
	postgres, err := startPostgres(b.scratch)
	if err != nil {
		return fmt.Errorf("it needs PostgreSQL: %w", err)
	}
	redis, err := startRedis(b.scratch)
	if err != nil {
		postgres.stop()
		return fmt.Errorf("its limits need Redis: %w", err)
	}
	b.postgres, b.redis = postgres, redis
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
}
