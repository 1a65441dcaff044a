//go:build linux

package chaos

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/testservice"
)

const replicas = 3

// cluster is three replicas behind the balancer of deploy/, a PostgreSQL with a synchronous standby, and a Redis. Between
// any two of them is a link that can fail.
type cluster struct {
	primary, standby *testservice.PostgresServer
	database         string // its URL
	redis            *testservice.RedisServer
	servers          []*testservice.Server
	balancer         *testservice.Balancer
	links            map[string][]*testservice.Link // to each part, of every replica
}

// parts are where a replica finds what it needs.
type parts struct {
	binary, database, redis string
	set                     []string // variables of its environment
}

// postgresSettings let a standby find its primary again at once.
var postgresSettings = []string{"wal_retrieve_retry_interval=100ms"}

// serve starts replicas and the balancer before them.
func (c *cluster) serve(t testing.TB, needs func(replica int) parts) {
	t.Helper()
	var addresses []string
	for i := range replicas {
		n := needs(i)
		server := testservice.NewServer(t, n.binary, "--database", n.database, "--redis", n.redis, "--drain-delay", "2s", "--log-level", "warn")
		server.Set(n.set...)
		front := testservice.StartLink(t, strings.TrimPrefix(server.URL, "http://"))
		c.servers, c.links["a replica"] = append(c.servers, server), append(c.links["a replica"], front)
		addresses = append(addresses, front.Address)
	}
	c.revive(t, 0) // the first one creates the schema
	var others sync.WaitGroup
	for i := 1; i < replicas; i++ {
		others.Go(func() { c.revive(t, i) })
	}
	others.Wait()
	if t.Failed() {
		t.FailNow()
	}
	c.balancer = testservice.StartBalancer(t, "../../deploy/haproxy.cfg", addresses)
}

// system returns the cluster with API keys and the faults that happen to it.
func (c *cluster) system(t testing.TB, faults []fault) *system {
	t.Helper()
	s := &system{base: c.balancer.URL, keys: newKeys(t, c.database), faults: faults, whole: c.whole}
	for _, server := range c.servers {
		s.counting = append(s.counting, server.Admin)
	}
	return s
}

// revive starts a replica as a supervisor does: if the replica finds no database yet, revive starts it again.
func (c *cluster) revive(t testing.TB, i int) {
	t.Helper()
	for deadline := time.Now().Add(recovery); ; {
		err := c.servers[i].TryStart()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("replica %d does not start: %v", i, err)
		}
	}
}

// whole returns when every part works.
func (c *cluster) whole(t testing.TB) {
	t.Helper()
	if c.standby != nil {
		c.primary.AwaitStandby(t)
	}
	for _, server := range c.servers {
		awaitReady(t, server.URL)
	}
	awaitReady(t, c.balancer.URL)
}

// awaitReady returns when a server is ready for requests.
func awaitReady(t testing.TB, url string) {
	t.Helper()
	eventually(t, url+" is ready", func() bool {
		answer, err := http.Get(url + "/readyz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// newCluster returns a cluster with a database of its own.
func newCluster(t testing.TB, primary *testservice.PostgresServer) *cluster {
	t.Helper()
	return &cluster{primary: primary, database: primary.URL, redis: testservice.StartRedis(t), links: make(map[string][]*testservice.Link)}
}

// onSharedPostgres returns a cluster on a database that no fault touches.
func onSharedPostgres(t testing.TB) *cluster {
	t.Helper()
	return &cluster{database: testservice.Postgres(t), redis: testservice.StartRedis(t), links: make(map[string][]*testservice.Link)}
}

func startCluster(t testing.TB) *system {
	c := newCluster(t, testservice.StartPostgres(t, postgresSettings...))
	c.standby = c.primary.Standby(t)
	c.serve(t, func(int) parts {
		first, second := c.link(t, "PostgreSQL", c.primary.Address), c.link(t, "PostgreSQL", c.standby.Address)
		return parts{
			binary:   testservice.Build(t),
			database: "postgres://postgres@" + first + "," + second + "/postgres?sslmode=disable&target_session_attrs=read-write",
			redis:    "redis://" + c.link(t, "Redis", c.redis.Address),
		}
	})
	faults := append(c.replicaFaults(), c.postgresFaults()...)
	faults = append(faults, c.redisFaults()...)
	faults = append(faults, fault{part: "balancer", name: "the balancer is killed and started", do: c.killBalancer})
	return c.system(t, append(faults, c.networkFaults()...))
}

func (c *cluster) link(t testing.TB, part, address string) string {
	l := testservice.StartLink(t, address)
	c.links[part] = append(c.links[part], l)
	return l.Address
}

// startRolling restarts replicas one by one and breaks nothing, so no request may fail.
func startRolling(t testing.TB) *system {
	c := onSharedPostgres(t)
	c.serve(t, c.direct(t))
	s := c.system(t, []fault{{part: "replica", name: "all replicas are restarted one by one", do: c.rollingRestart}})
	s.steady = true
	return s
}

// direct lets every replica use the same PostgreSQL and the same Redis, without links.
func (c *cluster) direct(t testing.TB) func(int) parts {
	return func(int) parts { return parts{binary: testservice.Build(t), database: c.database, redis: c.redis.URL} }
}

// pick returns the index of a replica.
func (c *cluster) pick(random *rand.Rand) int { return random.IntN(len(c.servers)) }
