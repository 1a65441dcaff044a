package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"petstore/bench/baseline"
	"petstore/bench/result"
)

// service is a subject that runs.
type service struct {
	result.Subject
	*process
	dir     string
	address string
	admin   string // where petstore's metrics and profiles are
	stores  []int  // the processes that it works with
	lines   lines
	rows    int64 // where growth is measured
	// replicas are the processes behind a balancer, which is then the process of this service.
	replicas []int
}

// pids are the processes that are measured.
func (s *service) pids() []int {
	if s.replicas != nil {
		return s.replicas
	}
	return []int{s.Pid}
}

// apiKey is the operator's own: its limits are those of the key that the first start makes, high enough for any load.
const apiKey = "pets_bench_0123456789abcdef0123456789"

// newService gives a subject a folder and an address.
func (b *bench) newService(subject result.Subject, requests lines) *service {
	return &service{Subject: subject, lines: requests, dir: must(os.MkdirTemp(b.scratch, subject.ID+"-")), address: freeAddress()}
}

// launch starts the service and waits until it answers its hot page as it should.
func (s *service) launch(cmd *exec.Cmd) (err error) {
	s.process, err = start(cmd, s.dir, func() error {
		_, _, err := s.lines[result.Hot][0].Ask(s.address, 0)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s does not start: %w", s.Name, err)
	}
	return nil
}

// checked returns the service unless a check has failed.
func (s *service) checked(err error) (*service, error) {
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("%s does not answer as it should: %w", s.Name, err)
	}
	return s, nil
}

// petstore starts the shipped program as a user does, with everything on and nothing set but addresses, on a new store with
// that many animals. It is checked before it is measured.
func (b *bench) petstore(store, database string, rows int64) (*service, error) {
	s := b.newService(b.subject(store), petstoreLines(rows))
	url, err := b.seed(s, database, rows)
	if err == nil {
		err = b.serve(s, url)
	}
	if err != nil {
		return nil, err
	}
	return s.checked(s.checkShipped())
}

// subject describes petstore on a store.
func (b *bench) subject(store string) result.Subject {
	if store == result.SQLite {
		return result.Subject{ID: store, Name: "petstore, SQLite", Detail: "as shipped; WAL, synchronous=FULL: a create is on the disk when it is acknowledged"}
	}
	return result.Subject{ID: store, Name: "petstore, PostgreSQL + Redis", Detail: fmt.Sprintf(
		"as shipped; PostgreSQL %s with its own settings (fsync and synchronous_commit on) and Redis %s on the same machine", b.postgres.version, b.redis.version)}
}

// serve starts petstore on a database; one on PostgreSQL has Redis too.
func (b *bench) serve(s *service, url string) error {
	s.admin = freeAddress()
	cmd := exec.Command(b.binary, "serve", "--listen", s.address, "--admin-listen", s.admin, "--database", url)
	if s.ID == result.Postgres {
		cmd.Args = append(cmd.Args, "--redis", "redis://"+b.redis.address)
		s.stores = []int{b.postgres.Pid, b.redis.Pid}
	}
	cmd.Env = cleanEnvironment("PETSTORE_API_KEY=" + apiKey)
	return s.launch(cmd)
}

// ask asks petstore's admin listener.
func (s *service) ask(path string) (string, error) {
	answer, err := http.Get("http://" + s.admin + path)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return string(body), err
}

// metrics are the values that the admin listener shows, by name and labels.
func (s *service) metrics() (map[string]float64, error) {
	text, err := s.ask("/metrics")
	values := make(map[string]float64)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		values[name], _ = strconv.ParseFloat(value, 64)
	}
	return values, err
}

// bare starts a bare handler that has the answers of a petstore, and if it is dressed also the headers of its hot page.
func (b *bench) bare(petstore *service, subject result.Subject, requests lines) (*service, error) {
	s := b.newService(subject, requests)
	answers := baseline.Answers{Bodies: map[string][]byte{}}
	for _, line := range []string{result.Hot, result.Get, result.Create, result.Inventory} {
		answer, body, err := petstore.lines[line][0].Ask(petstore.address, b.run.Settings.Rows)
		if err != nil {
			return nil, err
		}
		answers.Bodies[line] = body
		if line == result.Hot && s.ID == result.Dressed {
			answers.Headers = answer.Header
			answers.Headers.Del("Date") // net/http adds both by itself
			answers.Headers.Del("Content-Length")
		}
	}
	cmd := again(context.Background(), "bare", s.address)
	cmd.Stdin = bytes.NewReader(must(json.Marshal(answers)))
	return s, s.launch(cmd)
}
