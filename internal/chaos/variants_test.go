//go:build linux

package chaos

import (
	"math/rand/v2"
	"testing"

	"petstore/internal/testservice"
)

// The variable bounced has the settings that PostgreSQL gives to sessions. The constant ignoredByBouncer names the settings
// that PgBouncer must ignore. docs/pgbouncer.md describes both.
var bounced = []string{
	"statement_timeout=2500ms", "idle_in_transaction_session_timeout=10s", "default_transaction_isolation=read committed",
	"plan_cache_mode=force_generic_plan", "enable_seqscan=off", "enable_sort=off", "jit=off",
}

const ignoredByBouncer = "statement_timeout,idle_in_transaction_session_timeout,default_transaction_isolation,plan_cache_mode,enable_seqscan,enable_sort,jit"

func startBouncer(t testing.TB) *system {
	c := newCluster(t, testservice.StartPostgres(t, bounced...))
	bouncer := testservice.StartPgBouncer(t, c.primary.Address, ignoredByBouncer)
	c.serve(t, func(int) parts {
		return parts{binary: testservice.Build(t), database: bouncer.URL + "&default_query_exec_mode=exec", redis: c.redis.URL}
	})
	return c.system(t, []fault{
		{part: "replica", name: "a replica is killed and started", do: c.killReplica},
		{part: "PostgreSQL", name: "PostgreSQL crashes and is started", do: c.crashPostgres},
		{part: "PostgreSQL", name: "PostgreSQL is restarted", do: c.restartPostgres},
		{part: "PostgreSQL", name: "PostgreSQL hangs", do: c.pausePostgres},
		{part: "PgBouncer", name: "PgBouncer is killed and started", do: func(t testing.TB, random *rand.Rand) { crash(t, random, bouncer) }},
	})
}

func startSentinel(t testing.TB) *system {
	c := onSharedPostgres(t)
	replica := c.redis.Replica(t)
	url := c.redis.Sentinel(t)
	c.serve(t, func(int) parts { return parts{binary: testservice.Build(t), database: c.database, redis: url} })
	takeOver := func(t testing.TB, _ *rand.Rand) {
		c.redis.Stop(t)
		replica.AwaitPrimary(t, url)
		c.redis.Follow(replica)
		c.redis.Start(t)
		replica.AwaitReplica(t)
		c.redis, replica = replica, c.redis
	}
	s := c.system(t, []fault{{part: "Redis", name: "Redis crashes and its replica takes over", do: takeOver, uncounted: true}})
	s.steady = true
	return s
}

// startSmallDisk starts a cluster whose PostgreSQL crashes when its disk is full.
func startSmallDisk(t testing.TB) *system {
	disk := testservice.SmallDisk(t, 128<<20)
	c := newCluster(t, testservice.StartPostgresIn(t, disk.Folder))
	c.serve(t, c.direct(t))
	s := c.system(t, nil)
	s.faults = []fault{{part: "PostgreSQL", name: "the disk of PostgreSQL is full", do: func(t testing.TB, random *rand.Rand) {
		disk.Fill(t)
		c.primary.Exhaust(t)
		s.awaitRefusal(t)
		hold(random)
		disk.Free(t)
		c.primary.Revive(t)
	}}}
	return s
}
