//go:build linux

package chaos

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

const patroniFolder = "../../deploy/patroni"

// startPatroni starts a cluster whose PostgreSQL is run by Patroni. No fault leaves a replaced primary running: a node that
// hangs does so until another one is the primary and all replicas have seen it. docs/failover.md says what happens
// otherwise.
func startPatroni(t testing.TB) *system {
	p := testservice.StartPatroni(t, patroniFolder)
	c := &cluster{database: p.URL, redis: testservice.StartRedis(t), links: make(map[string][]*testservice.Link)}
	c.serve(t, c.direct(t))
	s := c.system(t, nil)
	s.awaitHealthy = func(t testing.TB) {
		p.AwaitHealthy(t)
		c.awaitHealthy(t)
	}
	s.faults = []fault{
		{part: "PostgreSQL", name: "the node of the primary is killed and started", do: func(t testing.TB, _ *rand.Rand) {
			primary := p.Primary(t)
			primary.Kill(t)
			p.AwaitFailover(t, primary)
			primary.Start(t)
		}},
		{part: "PostgreSQL", name: "the PostgreSQL of the primary is killed", do: func(t testing.TB, _ *rand.Rand) {
			p.Primary(t).KillPostgres(t)
			s.awaitRefusal(t)
		}},
		{part: "PostgreSQL", name: "the node of the primary hangs", do: func(t testing.TB, _ *rand.Rand) {
			primary := p.Primary(t)
			primary.Pause(t)
			p.AwaitFailover(t, primary)
			c.awaitHealthy(t) // a replica that is ready has found the new primary, because the old one does not answer
			primary.Resume(t)
		}},
		{part: "PostgreSQL", name: "the node of the primary is cut off", do: func(t testing.TB, _ *rand.Rand) {
			primary := p.Primary(t)
			primary.CutOff()
			p.AwaitFailover(t, primary)
			primary.Mend()
		}},
		{part: "PostgreSQL", name: "the node of a standby is killed and started", do: func(t testing.TB, random *rand.Rand) {
			crash(t, random, p.Standby(t))
		}},
		{part: "PostgreSQL", name: "an administrator switches over", do: func(t testing.TB, _ *rand.Rand) { p.SwitchOver(t) }},
		{part: "etcd", name: "an etcd is killed and started", do: func(t testing.TB, random *rand.Rand) {
			crash(t, random, p.Etcd[random.IntN(len(p.Etcd))])
		}},
	}
	return s
}

// Only Patroni hangs, so its PostgreSQL goes on as if it were still the primary. The replica that only reads must leave it by
// itself.
func TestAReplicaThatOnlyReadsLeavesAPrimaryThatWasReplaced(t *testing.T) {
	t.Parallel()
	p := testservice.StartPatroni(t, patroniFolder)
	var servers [2]*testservice.Server
	for i := range servers {
		servers[i] = testservice.NewServer(t, testservice.Build(t), "--database", p.URL, "--log-level", "warn")
		servers[i].Start(t)
	}
	reader, writer := servers[0], servers[1]
	key := testservice.NewKey(t, testservice.Build(t), p.URL, "--plan", "enterprise", "--per-minute", fmt.Sprint(unlimited), "--per-day", fmt.Sprint(unlimited))
	ask := func(server *testservice.Server, method, path, body string) testservice.Answer {
		answer, err := testservice.Request(server.URL, key, method, path, body)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	created := ask(writer, "POST", "/v1/pets", `{"name":"Rex","categoryId":1,"status":"available"}`)
	var pet struct{ ID int64 }
	if err := json.Unmarshal([]byte(created.Body), &pet); err != nil {
		t.Fatalf("%s: %v", created.Body, err)
	}
	path := fmt.Sprintf("/v1/pets/%d", pet.ID)
	renamed := func() bool { return strings.Contains(ask(reader, "GET", path, "").Body, "Renamed") }
	renamed() // so that the reader has a connection to the old primary

	old := p.Primary(t)
	old.PausePatroni(t)
	p.AwaitFailover(t, old)
	eventually(t, "a write is acknowledged", func() bool { return ask(writer, "PATCH", path, `{"name":"Renamed"}`).Status == http.StatusOK })
	acknowledged := time.Now()
	eventually(t, "the reader has left the old primary", renamed)
	note("a replica left the old primary %v after the new one had acknowledged a write", time.Since(acknowledged).Round(time.Millisecond))
	for range 100 {
		if !renamed() {
			t.Fatal("the reader went back to the old primary")
		}
	}
	eventually(t, "the old primary is counted", func() bool {
		answer, err := testservice.Request(reader.Admin, "", "GET", "/metrics", "")
		return err == nil && strings.Contains(answer.Body, "\npetstore_replaced_primaries_total 1\n")
	})
	if log := reader.Log(t); !strings.Contains(log, "the PostgreSQL at "+old.Address+" is still the primary of timeline 1") {
		t.Errorf("the log does not name the old primary:\n%s", log)
	}
}
