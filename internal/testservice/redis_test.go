package testservice

import (
	"strings"
	"testing"
)

func TestARedisReplicaTakesOverAndTheOldPrimaryFollowsIt(t *testing.T) {
	t.Parallel()
	first := StartRedis(t)
	second := first.Replica(t)
	sentinel := first.Sentinel(t)
	if answer, err := second.ask("SET key 1"); !strings.HasPrefix(answer, "-READONLY") {
		t.Fatalf("a replica answers %q: %v", answer, err)
	}
	for range 2 {
		first.Stop(t)
		second.AwaitPrimary(t, sentinel)
		first.Follow(second)
		first.Start(t)
		second.AwaitReplica(t)
		first, second = second, first
	}
}
