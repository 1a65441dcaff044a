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
// any two parts of the cluster is a link that can fail.
type cluster struct {
	primary, standby *testservice.PostgresServer
	database         string // the URL of the database
	redis            *testservice.RedisServer
	servers          []*testservice.Server
	balancer         *testservice.Balancer
	links            map[string][]*testservice.Link // for each part, the links that lead to it from every replica
}

// parts says which program a replica runs, and where it finds its database and Redis.
type parts struct {
	binary, database, redis string
	set                     []string // variables of the replica's environment
}

// postgresSettings make a standby find its primary again immediately.
var postgresSettings = []string{"wal_retrieve_retry_interval=100ms"}

// serve starts the replicas, and the balancer in front of them.
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
	c.revive(t, 0) // the first replica creates the schema
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

// The method system returns the cluster as a system, with new API keys and the given faults.
func (c *cluster) system(t testing.TB, faults []fault) *system {
	t.Helper()
	s := &system{base: c.balancer.URL, keys: newKeys(t, c.database), faults: faults, awaitHealthy: c.awaitHealthy}
	for _, server := range c.servers {
		s.counting = append(s.counting, server.Admin)
	}
	return s
}

// revive starts a replica as a supervisor does: if the replica stops because it finds no database, revive starts it again.
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

// awaitHealthy waits until every part works.
func (c *cluster) awaitHealthy(t testing.TB) {
	t.Helper()
	if c.standby != nil {
		c.primary.AwaitStandby(t)
	}
	for _, server := range c.servers {
		awaitReady(t, server.URL)
	}
	awaitReady(t, c.balancer.URL)
}

// awaitReady waits until a server is ready for requests.
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

// newCluster returns a cluster that has the PostgreSQL server for itself.
func newCluster(t testing.TB, primary *testservice.PostgresServer) *cluster {
	t.Helper()
	return &cluster{primary: primary, database: primary.URL, redis: testservice.StartRedis(t), links: make(map[string][]*testservice.Link)}
}

// onSharedPostgres returns a cluster with a database on a shared PostgreSQL server, which no fault touches.
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

// startRolling starts a cluster whose replicas are restarted one by one. Nothing breaks, so no request may fail.
func startRolling(t testing.TB) *system {
	c := onSharedPostgres(t)
	c.serve(t, c.direct(t))
	s := c.system(t, []fault{{part: "replica", name: "all replicas are restarted one by one", do: c.rollingRestart}})
	s.steady = true
	return s
}

// The method direct connects every replica to the same PostgreSQL and the same Redis, without links.
func (c *cluster) direct(t testing.TB) func(int) parts {
	return func(int) parts { return parts{binary: testservice.Build(t), database: c.database, redis: c.redis.URL} }
}

// pick returns the index of a random replica.
func (c *cluster) pick(random *rand.Rand) int { return random.IntN(len(c.servers)) }
