package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"petstore/bench/baseline"
	"petstore/bench/load"
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
	lines   map[string][]load.Request
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
func (b *bench) newService(subject result.Subject, lines map[string][]load.Request) (*service, error) {
	s := &service{Subject: subject, lines: lines}
	var err error
	if s.dir, err = os.MkdirTemp(b.scratch, s.ID+"-"); err != nil {
		return nil, err
	}
	s.address, err = freeAddress()
	return s, err
}

// launch starts the service and waits until it answers any of its lines as it should.
func (s *service) launch(cmd *exec.Cmd) (err error) {
	if s.process, err = start(cmd, s.dir, s.answersAny); err != nil {
		return fmt.Errorf("%s does not start: %w", s.Name, err)
	}
	return nil
}

func (s *service) answersAny() error {
	for _, line := range []string{result.Hot, result.Create} {
		if s.lines[line] != nil {
			_, _, err := s.lines[line][0].Ask(s.address, 0)
			return err
		}
	}
	return nil
}

// again starts this program once more, as one of its commands.
func (s *service) again(command string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return s.launch(exec.Command(self, append([]string{command, s.address}, args...)...))
}

// petstore starts the shipped program as a user does, with everything on and nothing set but addresses, on a new store with
// that many animals. It is checked before it is measured.
func (b *bench) petstore(store, database string, rows int64) (*service, error) {
	s, err := b.newService(b.subject(store), petstoreLines(rows))
	if err != nil {
		return nil, err
	}
	url, err := b.seed(s, database, rows)
	if err != nil {
		return nil, err
	}
	if err := b.serve(s, url); err != nil {
		return nil, err
	}
	if err := s.checkShipped(); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s does not answer as it should: %w", s.Name, err)
	}
	return s, nil
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
func (b *bench) serve(s *service, url string) (err error) {
	if s.admin, err = freeAddress(); err != nil {
		return err
	}
	cmd := exec.Command(b.binary, "serve", "--listen", s.address, "--admin-listen", s.admin, "--database", url)
	if s.ID == result.Postgres {
		cmd.Args = append(cmd.Args, "--redis", "redis://"+b.redis.address)
		s.stores = []int{b.postgres.Pid, b.redis.Pid}
	}
	cmd.Env = cleanEnvironment("PETSTORE_API_KEY=" + apiKey)
	return s.launch(cmd)
}

// bare starts a bare handler that has the answers of a petstore, and if it is dressed also the headers of its hot page.
func (b *bench) bare(petstore *service, subject result.Subject, lines map[string][]load.Request) (*service, error) {
	s, err := b.newService(subject, lines)
	if err != nil {
		return nil, err
	}
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
	text, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, "answers")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return nil, err
	}
	return s, s.again("bare", file)
}

// postgresPool is the number of connections of the plain service. It is more than petstore's own pool has, because without
// shared commits it is the connections that let commits overlap.
const postgresPool = 32

// plain starts the plain service on a store of its own.
func (b *bench) plain(id string) (*service, error) {
	rows := b.run.Settings.Rows
	subject := result.Subject{ID: id, Name: "plain Go, SQLite", Peer: true,
		Detail: "net/http by hand with petstore's driver, table and durability; one query a request, every create commits by itself; keys in a map, no limits, log or metrics"}
	if id == result.PlainPostgres {
		subject.Name = "plain Go, PostgreSQL"
		subject.Detail = fmt.Sprintf("the same with pgx on %d connections, with nothing of Redis", postgresPool)
	}
	s, err := b.newService(subject, simpleLines(rows))
	if err != nil {
		return nil, err
	}
	url, err := b.seed(s, "plain", rows)
	if err != nil {
		return nil, err
	}
	if id == result.PlainPostgres {
		s.stores = []int{b.postgres.Pid}
		url = fmt.Sprintf("%s&pool_max_conns=%d", url, postgresPool)
	}
	if err := s.again("plain", url, apiKey); err != nil {
		return nil, err
	}
	return s, s.checkAnswers()
}
