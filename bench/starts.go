package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"petstore/bench/proc"
	"petstore/bench/result"
)

// rest is how long a server has been left alone when its memory is read.
const rest = time.Second

// measureStarts measures how long the program takes from its command to its first answer, and what it holds at rest.
func (b *bench) measureStarts() error {
	filled := result.Count(b.run.Settings.Rows) + " animals"
	err := b.measureStart(result.SQLite, "new database", func(dir string) (string, string) {
		return "sqlite:" + filepath.Join(dir, "new.db"), ""
	})
	if err != nil {
		return err
	}
	err = b.measureStart(result.SQLite, filled, func(string) (string, string) {
		return "sqlite:" + filepath.Join(b.scratch, "sqlite-lines", "petstore.db"), ""
	})
	if err != nil {
		return err
	}
	if _, measured := b.run.Subject(result.Postgres); !measured {
		return nil
	}
	return b.measureStart(result.Postgres, filled, func(string) (string, string) {
		return b.postgres.url("lines"), "redis://" + b.redis.address
	})
}

func (b *bench) measureStart(subject, state string, store func(dir string) (database, redis string)) error {
	result := result.Start{Subject: subject, State: state}
	for range 2 * b.run.Settings.Rounds {
		dir, err := os.MkdirTemp(b.scratch, "start-")
		if err != nil {
			return err
		}
		database, redis := store(dir)
		took, resident, err := b.startOnce(dir, database, redis)
		if err != nil {
			return err
		}
		result.Times = append(result.Times, took)
		result.Resident = max(result.Resident, resident)
	}
	b.run.Starts = append(b.run.Starts, result)
	fmt.Printf("start, %s, %s: %v, %d MiB at rest\n", subject, state, result.Times, result.Resident>>20)
	return nil
}

func (b *bench) startOnce(dir, database, redis string) (took time.Duration, resident int64, err error) {
	address, err := freeAddress()
	if err != nil {
		return 0, 0, err
	}
	cmd := exec.Command(b.binary, "serve", "--listen", address, "--admin-listen", "127.0.0.1:0", "--database", database, "--redis", redis)
	cmd.Env = cleanEnvironment("PETSTORE_API_KEY=" + apiKey)
	list := only(petstoreLines(b.run.Settings.Rows), "hot")["hot"][0]
	began := time.Now()
	p, err := start(cmd, dir)
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	if err := p.wait(func() error { _, _, err := list.Ask(address, 0); return err }); err != nil {
		return 0, 0, fmt.Errorf("petstore does not start: %w", err)
	}
	took = time.Since(began)
	time.Sleep(rest)
	return took, proc.Resident(p.Pid), nil
}
