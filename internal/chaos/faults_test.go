//go:build linux

package chaos

import (
	"math/rand/v2"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// killable and pausable are the parts of a system that most faults affect.
type (
	killable interface {
		Kill(testing.TB)
		Start(testing.TB)
	}
	pausable interface {
		Pause(testing.TB)
		Resume(testing.TB)
	}
)

// crash kills a part, and starts it again after a while.
func crash(t testing.TB, random *rand.Rand, part killable) {
	part.Kill(t)
	hold(random)
	part.Start(t)
}

// hang makes a part hang for a while.
func hang(t testing.TB, random *rand.Rand, part pausable) {
	part.Pause(t)
	hold(random)
	part.Resume(t)
}

func (c *cluster) replicaFaults() []fault {
	return []fault{
		{part: "replica", name: "a replica is killed and started", do: c.killReplica},
		{part: "replica", name: "a replica hangs", do: c.pauseReplica},
		{part: "replica", name: "a replica is restarted", do: c.restartReplica},
		{part: "replica", name: "all replicas are restarted one by one", do: c.rollingRestart},
		{part: "replica", name: "all replicas are killed and started", do: c.killReplicas},
	}
}

func (c *cluster) killReplica(t testing.TB, random *rand.Rand) {
	i := c.pick(random)
	c.servers[i].Kill(t)
	hold(random)
	c.revive(t, i)
}

func (c *cluster) pauseReplica(t testing.TB, random *rand.Rand) {
	hang(t, random, c.servers[c.pick(random)])
}

func (c *cluster) restartReplica(t testing.TB, random *rand.Rand) {
	i := c.pick(random)
	c.servers[i].Stop(t)
	c.revive(t, i)
}

func (c *cluster) rollingRestart(t testing.TB, random *rand.Rand) {
	for i, server := range c.servers {
		server.Stop(t)
		c.revive(t, i)
	}
}

func (c *cluster) killReplicas(t testing.TB, random *rand.Rand) {
	for _, server := range c.servers {
		server.Kill(t)
	}
	for i := range c.servers {
		c.revive(t, i)
	}
}

func (c *cluster) postgresFaults() []fault {
	return []fault{
		{part: "PostgreSQL", name: "PostgreSQL crashes and is started", do: c.crashPostgres},
		{part: "PostgreSQL", name: "PostgreSQL is restarted", do: c.restartPostgres},
		{part: "PostgreSQL", name: "PostgreSQL hangs", do: c.pausePostgres},
		{part: "PostgreSQL", name: "PostgreSQL fails over to its standby", do: c.failOver},
		{part: "PostgreSQL", name: "the standby crashes and is started", do: c.crashStandby},
	}
}

func (c *cluster) crashPostgres(t testing.TB, random *rand.Rand) { crash(t, random, c.primary) }

func (c *cluster) restartPostgres(t testing.TB, _ *rand.Rand) {
	c.primary.Stop(t)
	c.primary.Start(t)
}

func (c *cluster) pausePostgres(t testing.TB, random *rand.Rand) { hang(t, random, c.primary) }

// failOver kills the primary. The standby takes over and gets a standby of its own.
func (c *cluster) failOver(t testing.TB, random *rand.Rand) {
	lost := c.primary
	lost.Kill(t)
	c.standby.Promote(t)
	c.primary, c.standby = c.standby, c.standby.Standby(t)
	for _, link := range c.links["PostgreSQL"] {
		if link.Server() == lost.Address {
			link.To(c.standby.Address)
		}
	}
}

func (c *cluster) crashStandby(t testing.TB, random *rand.Rand) { crash(t, random, c.standby) }

func (c *cluster) redisFaults() []fault {
	return []fault{
		{part: "Redis", name: "Redis is stopped and started", do: c.stopRedis, uncounted: true},
		{part: "Redis", name: "Redis hangs", do: c.pauseRedis, uncounted: true},
	}
}

func (c *cluster) stopRedis(t testing.TB, random *rand.Rand) {
	c.redis.Stop(t)
	hold(random)
	c.redis.Start(t)
}

func (c *cluster) pauseRedis(t testing.TB, random *rand.Rand) { hang(t, random, c.redis) }

func (c *cluster) killBalancer(t testing.TB, random *rand.Rand) { crash(t, random, c.balancer) }

// networkFaults returns the faults of the network to each part. A fault affects one or all of the links to that part.
func (c *cluster) networkFaults() []fault {
	ways := []struct {
		name string
		do   func(*testservice.Link)
	}{
		{"is slow", func(l *testservice.Link) { l.Delay(150 * time.Millisecond) }},
		{"is cut", (*testservice.Link).Cut},
		{"halves messages", (*testservice.Link).Halve},
		{"lets nothing through", (*testservice.Link).Silence},
	}
	var all []fault
	for _, to := range []string{"a replica", "PostgreSQL", "Redis"} {
		for _, way := range ways {
			disturb := func(_ testing.TB, random *rand.Rand) {
				links := c.links[to]
				if random.IntN(3) > 0 {
					links = links[random.IntN(len(links)):][:1]
				}
				for _, link := range links {
					way.do(link)
				}
				hold(random)
				for _, link := range links {
					link.Mend()
				}
			}
			all = append(all, fault{part: "network", name: "the network to " + to + " " + way.name, do: disturb, uncounted: to == "Redis"})
		}
	}
	return all
}
