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
	postgres *postgresServer
	redis    *redisServer
	servers  []*server
	run      *result.Run
}

// newBench makes a run ready: petstore is built.
func newBench(ctx context.Context, o options) (*bench, error) {
	b := &bench{options: o, ctx: ctx}
	if err := b.prepare(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) prepare() (err error) {
	if b.root, err = filepath.Abs(b.root); err != nil {
		return err
	}
	if b.scratch, err = os.MkdirTemp(b.dir, "petstore-bench-"); err != nil {
		return err
	}
	if err := os.Chmod(b.scratch, 0o711); err != nil { // PostgreSQL may be another user
		return err
	}
	if b.run, err = b.newRun(); err != nil {
		return err
	}
	return b.build()
}

// startStores starts PostgreSQL and Redis.
func (b *bench) startStores() (err error) {
	if b.postgres, err = startPostgres(b.scratch); err != nil {
		b.postgres = nil
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	if b.redis, err = startRedis(b.scratch); err != nil {
		b.redis = nil
		return fmt.Errorf("Redis: %w", err)
	}
	return nil
}

func (b *bench) newRun() (*result.Run, error) {
	machine, err := describeMachine(b.scratch)
	if err != nil {
		return nil, err
	}
	revision, err := exec.Command("git", "-C", b.root, "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		revision = []byte("unknown")
	}
	return &result.Run{
		Date:     time.Now().UTC().Truncate(time.Second),
		Command:  b.command(),
		Revision: strings.TrimSpace(string(revision)),
		Machine:  machine,
		Settings: b.settings(),
		LeftOut:  []string{},
	}, nil
}

// build makes the program as it is shipped.
func (b *bench) build() error {
	if b.binary == "" {
		b.binary = filepath.Join(b.scratch, "petstore")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+b.run.Revision, "-o", b.binary, "./cmd/petstore")
		cmd.Dir, cmd.Env = b.root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("petstore does not build: %w\n%s", err, out)
		}
	}
	info, err := os.Stat(b.binary)
	if err != nil {
		return err
	}
	b.run.Binary = info.Size()
	return nil
}

// leaveOut notes that something cannot be measured, and why.
func (b *bench) leaveOut(what string, err error) {
	sentence := fmt.Sprintf("%s is left out: %s", what, strings.ReplaceAll(err.Error(), "\n", " "))
	fmt.Println(sentence)
	b.run.LeftOut = append(b.run.LeftOut, sentence)
}

// add takes a server into the run.
func (b *bench) add(s *server) {
	b.servers = append(b.servers, s)
	b.run.Subjects = append(b.run.Subjects, s.Subject)
}

// stopServers ends what is measured; the stores go on.
func (b *bench) stopServers() {
	for _, s := range b.servers {
		s.stop()
	}
	b.servers = nil
}

func (b *bench) close() {
	b.stopServers()
	if b.redis != nil {
		b.redis.stop()
	}
	if b.postgres != nil {
		b.postgres.stop()
	}
	os.RemoveAll(b.scratch)
}
