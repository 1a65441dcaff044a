package ratelimit

import (
	"crypto/rand"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestARequestGivenBackOnOneReplicaStaysGivenBackOnAll(t *testing.T) {
	url, env := testservice.Redis(t), petstore.Environment(rand.Text())
	first, _ := openFallback(t, url, env)
	second, _ := openFallback(t, url, env)
	for i := range 20 {
		taken := take(t, first, address)
		take(t, second, address) // the second replica knows the count before it shrinks
		giveBack(t, first, address, taken)
		for _, replica := range []*Fallback{second, first} {
			ask := address
			ask.Peek = true
			if d := take(t, replica, ask); d.Remaining != int64(999-i) {
				t.Fatalf("after %d requests that stay, a peek gets %+v", i+1, d)
			}
		}
	}
}

func TestARequestIsGivenBackWhileRedisIsAwayAndAfterwards(t *testing.T) {
	server := testservice.StartRedis(t)
	f, _ := openFallback(t, server.URL, petstore.Production)
	left := func(want int64, alone bool) petstore.Decision {
		t.Helper()
		d := take(t, f, address)
		if d.Remaining != want || d.Alone != alone {
			t.Fatalf("a request gets %+v, want %d left, and decided alone: %v", d, want, alone)
		}
		return d
	}
	byRedis := left(999, false)
	left(998, false)
	server.Stop(t)
	giveBack(t, f, address, byRedis)
	waitForDegraded(t, f, true)
	byMemory := left(998, true)
	left(997, true)
	giveBack(t, f, address, byMemory)
	left(997, true)
	server.Start(t)
	waitForDegraded(t, f, false)
	left(996, false)
}

func TestARequestOfAPausedRedisIsGivenBackOnce(t *testing.T) {
	server := testservice.StartRedis(t)
	f, _ := openFallback(t, server.URL, petstore.Production)
	taken := take(t, f, address)
	for range 9 {
		take(t, f, address)
	}
	server.Pause(t)
	f.setTimeout(50 * time.Millisecond)
	giveBack(t, f, address, taken)
	server.Resume(t)
	f.setTimeout(time.Minute)
	if d := take(t, f, address); d.Alone || d.Remaining != 990 {
		t.Errorf("after 9 requests that stay the next one gets %+v", d)
	}
}
