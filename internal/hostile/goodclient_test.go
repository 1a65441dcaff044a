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

// minRequests returns the smallest number of requests in a measurement.
func minRequests() int { return scaled(30) }

// goodClient records how the server treated a well-behaved client.
type goodClient struct {
	mu       sync.Mutex
	asked    int
	good     int
	told     int // how often the server told the client to wait
	took     []time.Duration
	problems []string // the first few problems
}

// habit is a request that one worker of the client sends again and again.
type habit struct {
	method, path, body string
	every              time.Duration
	fresh              bool // whether each request uses a new connection
}

var habits = []habit{
	{method: "GET", path: "/v1/pets?limit=5", every: 5 * time.Millisecond},
	{method: "POST", path: "/v1/pets", body: `{"name":"Rex","categoryId":1}`, every: 10 * time.Millisecond},
	{method: "GET", path: "/v1/inventory", every: 25 * time.Millisecond, fresh: true},
}

// withGoodClient runs a well-behaved client while the function during runs, and returns how the server treated the client.
// The client has its own key, because hostile clients with the same key could use up its owner's share.
func (s *target) withGoodClient(during func()) *goodClient {
	g := &goodClient{}
	ctx, stop := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for _, h := range habits {
		client := s.client(h.fresh)
		defer client.CloseIdleConnections()
		workers.Go(func() { g.follow(ctx, s, h, client) })
	}
	if during != nil {
		during()
	}
	for g.count() < minRequests() {
		time.Sleep(time.Millisecond)
	}
	stop()
	workers.Wait()
	return g
}

// client returns an ordinary HTTP client for the target. Over TLS the client uses HTTP/2.
func (s *target) client(fresh bool) *http.Client {
	return &http.Client{Timeout: waitTimeout / 2, Transport: &http.Transport{TLSClientConfig: s.tls.Clone(), ForceAttemptHTTP2: true, DisableKeepAlives: fresh}}
}

// follow sends the request of the habit h until ctx ends. It waits for the last answer.
func (g *goodClient) follow(ctx context.Context, s *target, h habit, client *http.Client) {
	beat := time.NewTicker(h.every)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			began := time.Now()
			problem := h.ask(s, client)
			g.note(time.Since(began), problem)
		}
	}
}

// toldToWait is the result for the answer of an overloaded server. Such an answer is not a fault.
const toldToWait = "503 with Retry-After"

// ask sends one request, and describes what is wrong with the answer. The result is empty if nothing is wrong.
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

func (g *goodClient) note(took time.Duration, problem string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	g.took = append(g.took, took)
	switch {
	case problem == "":
		g.good++
	case problem == toldToWait:
		g.told++
	case len(g.problems) < 5:
		g.problems = append(g.problems, problem)
	}
}

func (g *goodClient) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked
}

// p99 returns the time that one request in a hundred exceeded.
func (g *goodClient) p99() time.Duration {
	slices.Sort(g.took)
	return g.took[len(g.took)*99/100].Round(100 * time.Microsecond)
}
