package hostile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// fewest returns the smallest number of requests in a measurement.
func fewest() int { return scaled(30) }

// manners records what a well-behaved client has experienced.
type manners struct {
	mu       sync.Mutex
	asked    int
	good     int
	told     int // how often the server told it to wait and ask again
	took     []time.Duration
	problems []string // the first few
}

// habit is what one worker of that client does again and again.
type habit struct {
	method, path, body string
	every              time.Duration
	fresh              bool // uses a new connection each time
}

var habits = []habit{
	{method: "GET", path: "/v1/pets?limit=5", every: 5 * time.Millisecond},
	{method: "POST", path: "/v1/pets", body: `{"name":"Rex","categoryId":1}`, every: 10 * time.Millisecond},
	{method: "GET", path: "/v1/inventory", every: 25 * time.Millisecond, fresh: true},
}

// neighbor runs a well-behaved client while during runs. It has a key of its own: hostile clients with the same key may take
// the share of its owner.
func (s *target) neighbor(during func()) *manners {
	m := &manners{}
	ctx, stop := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for _, h := range habits {
		client := s.client(h.fresh)
		defer client.CloseIdleConnections()
		workers.Go(func() { m.follow(ctx, s, h, client) })
	}
	if during != nil {
		during()
	}
	for m.count() < fewest() {
		time.Sleep(time.Millisecond)
	}
	stop()
	workers.Wait()
	return m
}

// client is an ordinary client of the target. Over TLS it speaks HTTP/2.
func (s *target) client(fresh bool) *http.Client {
	return &http.Client{Timeout: patience / 2, Transport: &http.Transport{TLSClientConfig: s.tls.Clone(), ForceAttemptHTTP2: true, DisableKeepAlives: fresh}}
}

// follow sends requests until ctx ends, and finishes the last one.
func (m *manners) follow(ctx context.Context, s *target, h habit, client *http.Client) {
	beat := time.NewTicker(h.every)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			began := time.Now()
			problem := h.ask(s, client)
			m.note(time.Since(began), problem)
		}
	}
}

// toldToWait is the answer of a server that has too much to do. Then it is not a fault.
const toldToWait = "503 with Retry-After"

// ask sends one request and says what is wrong with its answer.
func (h habit) ask(s *target, client *http.Client) (problem string) {
	request, err := http.NewRequest(h.method, s.URL+h.path, bytes.NewReader([]byte(h.body)))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+s.own)
	response, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") != "" {
		return toldToWait
	}
	if err != nil || response.StatusCode/100 != 2 {
		return fmt.Sprintf("%s %s is answered %s, %v: %.300s", h.method, h.path, response.Status, err, body)
	}
	return ""
}

func (m *manners) note(took time.Duration, problem string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	m.took = append(m.took, took)
	switch {
	case problem == "":
		m.good++
	case problem == toldToWait:
		m.told++
	case len(m.problems) < 5:
		m.problems = append(m.problems, problem)
	}
}

func (m *manners) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// p99 is the time that one request in a hundred exceeded.
func (m *manners) p99() time.Duration {
	slices.Sort(m.took)
	return m.took[len(m.took)*99/100].Round(100 * time.Microsecond)
}
