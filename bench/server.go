package main

import (
	"fmt"
	"net/http"
	"os/exec"

	"petstore/bench/load"
	"petstore/bench/result"
)

// server is a subject that runs.
type server struct {
	result.Subject
	*process
	address string
	admin   string // where petstore's metrics and profiles are
	stores  []int  // the processes that it works with
	lines   map[string][]load.Request
}

// apiKey is the operator's own: its limits are those of the key that the first start makes, high enough for any load.
const apiKey = "pets_bench_0123456789abcdef0123456789"

// startPetstore starts the shipped program as a user does: everything on, nothing set but addresses.
func (b *bench) startPetstore(subject result.Subject, dir, database, redis string, stores ...int) (*server, error) {
	s := &server{Subject: subject, stores: stores, lines: petstoreLines(b.run.Settings.Rows)}
	var err error
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.admin, err = freeAddress(); err != nil {
		return nil, err
	}
	args := []string{"serve", "--listen", s.address, "--admin-listen", s.admin, "--database", database}
	if redis != "" {
		args = append(args, "--redis", redis)
	}
	cmd := exec.Command(b.binary, args...)
	cmd.Env = cleanEnvironment("PETSTORE_API_KEY=" + apiKey)
	if s.process, err = start(cmd, dir); err != nil {
		return nil, err
	}
	if err := s.wait(s.ready); err != nil {
		s.stop()
		return nil, fmt.Errorf("petstore does not start: %w", err)
	}
	return s, nil
}

func (s *server) ready() error {
	answer, err := http.Get("http://" + s.address + "/readyz")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", answer.Status)
	}
	return nil
}

// startChild starts this program again as one of the baselines.
func (b *bench) startChild(subject result.Subject, child, dir, what string, lines map[string][]load.Request, stores ...int) (*server, error) {
	s := &server{Subject: subject, stores: stores, lines: lines}
	var err error
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	cmd, err := again(child, s.address, what)
	if err != nil {
		return nil, err
	}
	if s.process, err = start(cmd, dir); err != nil {
		return nil, err
	}
	return s, s.wait(s.listening)
}

// listening reports whether any line is answered as it should be.
func (s *server) listening() error {
	for _, requests := range s.lines {
		r := requests[0]
		var n int64
		if r.Numbers != nil {
			n = r.Numbers.First
		}
		_, _, err := r.Ask(s.address, n)
		return err
	}
	return nil
}
