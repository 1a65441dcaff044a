package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"petstore/bench/load"
	"petstore/bench/report"
)

// service is a process that the bench has started. It is a subject, or a store that a subject uses. It ends at the latest
// when the bench ends.
type service struct {
	report.Subject
	*os.Process
	dir, address, port string
	admin              string              // the address of petstore's metrics and profiles
	log                string              // the file with the service's standard output and standard error
	user               *syscall.Credential // the user as whom the service runs; nil for the user who runs the bench
	exited             chan struct{}
	pids               []int // the processes to measure: its own, or the replicas behind a balancer
	stores             []int // the processes of the stores that the service uses
	lines              lines
	rows               int64 // the number of animals in the service, where growth is measured
	replicas           int   // the number of replicas behind the service, if it is a balancer
}

// newService makes a service for a subject, with a folder and a free address.
func (b *bench) newService(subject report.Subject, requests lines) *service {
	s := &service{Subject: subject, lines: requests, dir: must(os.MkdirTemp(b.scratch, subject.ID+"-")), address: b.freeAddress()}
	_, s.port, _ = net.SplitHostPort(s.address)
	return s
}

// freeAddress returns an address on which no program listens. A load makes thousands of outgoing connections, so the port is
// below the range that they use. Every bench and every test first takes the UDP port with the same number and keeps it until
// the end. So no two of them use the same TCP port.
func (b *bench) freeAddress() string {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
		held, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		b.held = append(b.held, held)
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			return address
		}
	}
	panic("no free port was found between 20000 and 29999")
}

// start runs a command in the service's folder, which also has the log of the service. It returns when the service is ready.
func (s *service) start(cmd *exec.Cmd, ready func() error) (*service, error) {
	s.log = filepath.Join(s.dir, "log")
	log := must(os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	defer log.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = s.dir, log, log, load.EndWithParent()
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Credential = true, s.user
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.Process, s.pids, s.exited = cmd.Process, []int{cmd.Process.Pid}, make(chan struct{})
	go func() {
		_ = cmd.Wait() // the log says how the command ended
		close(s.exited)
	}()
	if err := s.wait(ready); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %s does not start: %w", s.Name, filepath.Base(cmd.Path), err)
	}
	return s, nil
}

// serviceTimeout is how long the bench waits for a service. Only a broken service needs that long.
const serviceTimeout = 60 * time.Second

func (s *service) wait(ready func() error) error {
	deadline := time.After(serviceTimeout)
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(time.Millisecond):
			continue
		case <-s.exited:
		case <-deadline:
		}
		log, _ := os.ReadFile(s.log)
		return fmt.Errorf("%w; its log ends with: %s", err, log[max(0, len(log)-1000):])
	}
}

// stop ends the process as an operator would.
func (s *service) stop() {
	s.Signal(syscall.SIGINT)
	select {
	case <-s.exited:
	case <-time.After(serviceTimeout):
		s.Kill()
		<-s.exited
	}
}

// launch starts the service and waits until the service answers its hot page correctly.
func (s *service) launch(cmd *exec.Cmd) (*service, error) {
	return s.start(cmd, func() error {
		_, _, err := s.lines[report.Hot][0].Ask(s.address, 0)
		return err
	})
}

// startAndCheck launches the service and checks its answers before any measurement. If err is not nil, it only returns err.
func (s *service) startAndCheck(cmd *exec.Cmd, err error) (*service, error) {
	if err == nil {
		_, err = s.launch(cmd)
	}
	if err != nil {
		return nil, err
	}
	if err = s.checkAnswers(); err == nil && s.admin != "" {
		err = errors.Join(s.checkList(), s.checkObserved())
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("%s gives wrong answers: %w", s.Name, err)
	}
	return s, nil
}

// animals says how many animals the answer to the first request of each line has.
var animals = map[string]int{
	report.Hot: pageSize, report.Distinct: pageSize, report.Mix: pageSize, report.Inventory: 0,
	report.Get: 1, report.Create: 1, report.CreateKeyed: 1, report.Update: 1, report.UpdateKeyed: 1, report.Adoption: 1,
}

// checkAnswers checks, before any measurement, that each line gets the right number of animals. It also checks that requests
// with different numbers get different answers.
func (s *service) checkAnswers() error {
	for line, requests := range s.lines {
		r := requests[0]
		_, first, err1 := r.Ask(s.address, r.First)
		_, last, err2 := r.Ask(s.address, r.Last)
		err := errors.Join(err1, err2)
		if err == nil && r.First != r.Last && bytes.Equal(first, last) {
			err = fmt.Errorf("the answers for %d and %d are the same: %s", r.First, r.Last, first)
		}
		// Prism has no pages. Its list is an example from the OpenAPI document.
		if n := bytes.Count(first, []byte(`"name"`)); err == nil && s.ID != "prism" && n != animals[line] {
			err = fmt.Errorf("%d animals instead of %d in %s", n, animals[line], first)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// numbers matches the numbers and times in an answer.
var numbers = regexp.MustCompile(`\d+`)

// checkAgainst checks that the service answers like petstore does. The numbers may differ in answers that depend on what was
// written before.
func (s *service) checkAgainst(petstore *service) error {
	_, _, err := s.checkFresh()
	for line, requests := range s.lines {
		theirs, ours := rows/2, rows/2
		for r := &requests[0]; err == nil && r != nil && line != report.Hot && line != report.Mix; r = r.Next {
			_, want, err1 := r.Ask(petstore.address, theirs)
			_, got, err2 := r.Ask(s.address, ours)
			if r.Next != nil {
				theirs, ours = load.Number(want, r.Next.Field), load.Number(got, r.Next.Field)
			}
			if line != report.Get && line != report.Distinct {
				want, got = numbers.ReplaceAll(want, nil), numbers.ReplaceAll(got, nil)
			}
			if err = errors.Join(err1, err2); err == nil && !bytes.Equal(want, got) {
				err = fmt.Errorf("%s: the answer is %s; petstore's is %s", line, got, want)
			}
		}
	}
	return err
}

// checkFresh checks that a new animal is immediately the first on the list. It returns the list, with its headers.
func (s *service) checkFresh() (*http.Response, []byte, error) {
	_, created, err1 := s.lines[report.Create][0].Ask(s.address, 0)
	answer, body, err2 := s.lines[report.Hot][0].Ask(s.address, 0)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	if !bytes.HasPrefix(body, append([]byte("["), bytes.TrimSpace(created)...)) {
		return nil, nil, fmt.Errorf("%s was created, but the list is %s", created, body)
	}
	return answer, body, nil
}

// checkList checks that a new animal is immediately the first on petstore's list, and that the load makes the same cursors as
// petstore.
func (s *service) checkList() error {
	list, page, err := s.checkFresh()
	if err != nil {
		return err
	}
	last := page[bytes.LastIndexByte(page, '{'):]
	cursor := load.Cursor.Text(load.Number(last, "id"))
	if link := list.Header.Get("Link"); !strings.Contains(link, "cursor="+cursor+"&") {
		return fmt.Errorf("the next page is at %q, but the load would use the cursor %s", link, cursor)
	}
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"} {
		if list.Header.Get(name) == "" {
			return fmt.Errorf("the answer has no %s", name)
		}
	}
	return nil
}

// checkObserved checks that petstore refuses a request without a key, and that it counts and logs a create.
func (s *service) checkObserved() error {
	if _, _, err := load.NewRequest(http.MethodGet, "/v1/pets", "", "", http.StatusUnauthorized).Ask(s.address, 0); err != nil {
		return fmt.Errorf("without a key: %w", err)
	}
	metrics, err := s.metrics()
	if err != nil || metrics[`petstore_requests_total{route="createPet",status="201"}`] == 0 {
		return errors.Join(err, errors.New("metrics: the create was not counted"))
	}
	return s.wait(func() error {
		log, err := os.ReadFile(s.log)
		if err == nil && !bytes.Contains(log, []byte("createPet")) {
			err = errors.New("log: the create is not in it")
		}
		return err
	})
}

// askAdmin gets a page from petstore's admin listener.
func (s *service) askAdmin(path string) (string, error) {
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

// metrics returns the values of petstore's metrics. The keys of the map are the names with their labels.
func (s *service) metrics() (map[string]float64, error) {
	text, err := s.askAdmin("/metrics")
	values := make(map[string]float64)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		values[name], _ = strconv.ParseFloat(value, 64)
	}
	return values, err
}

// runLoad reads a job from standard input and writes the result of each interval to standard output.
func runLoad([]string) error {
	var job load.Job
	if err := json.NewDecoder(os.Stdin).Decode(&job); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	return load.Run(job, func(r load.Result) { _ = out.Encode(r) })
}

// drive runs a job in its own process, on one processor at a time. It calls each with the result of every interval.
func (b *bench) drive(job load.Job, each func(load.Result)) error {
	cmd := exec.CommandContext(b.ctx, must(os.Executable()), "load")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stdin, cmd.Stderr, cmd.SysProcAttr = bytes.NewReader(must(json.Marshal(job))), os.Stderr, load.EndWithParent()
	results := json.NewDecoder(must(cmd.StdoutPipe()))
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		var r load.Result
		if results.Decode(&r) != nil {
			break
		}
		each(r)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the load on %s: %w", job.Address, err)
	}
	return nil
}
