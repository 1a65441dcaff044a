package ratelimit

import (
	"errors"
	"net"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// After a failover, open connections still lead to the old primary, which refuses to decide as a replica. Only new ones lead
// to the new primary. The replica must leave the old one even if it decides at the next probe.
func TestFallbackFindsTheNewPrimaryBehindTheSameAddress(t *testing.T) {
	for code, setting := range map[string]string{"READONLY": "yes", "MASTERDOWN": "no"} {
		t.Run(code, func(t *testing.T) {
			old, fresh := testservice.StartRedis(t, "--replica-serve-stale-data", setting), testservice.StartRedis(t)
			link := testservice.StartLink(t, old.Address)
			f, log := openFallback(t, "redis://"+link.Address, petstore.Production)
			take(t, f, owner)
			link.To(fresh.Address)
			operator := openRedis(t, old.URL, nil).client
			follow := func(host, port string) {
				t.Helper()
				noError(t, operator.Do(t.Context(), operator.B().Arbitrary("REPLICAOF", host, port).Build()).Error())
			}
			host, port, _ := net.SplitHostPort(testservice.FreeAddress(t))
			follow(host, port)
			eventually(t, "the old primary refuses a request", func() bool { return take(t, f, owner).Alone })
			follow("NO", "ONE")
			waitForDegraded(t, f, false)
			follow(host, port)
			for range 10 {
				if d := take(t, f, owner); d.Alone {
					t.Fatalf("on the new primary a request gets %+v", d)
				}
			}
			log.says(t, "level=WARN", code, "level=INFO", "is back")
		})
	}
}

func TestOnlyTheCodeOfAnErrorSaysThatARedisIsAReplica(t *testing.T) {
	client := openRedis(t, testservice.Redis(t), nil).client
	for text, want := range map[string]bool{
		"READONLY You can't write against a read only replica.":    true,
		"MASTERDOWN Link with MASTER is down":                      true,
		"READONLY":                                                 true,
		"LOADING Redis is loading the dataset in memory":           false,
		"ERR unknown command 'READONLY', with args beginning with": false,
		"READONLYISH is another code":                              false,
	} {
		err := client.Do(t.Context(), client.B().Eval().Script("return {err = ARGV[1]}").Numkeys(0).Arg(text).Build()).Error()
		if err == nil || isReplica(err) != want {
			t.Errorf("%v: isReplica is %v, want %v", err, !want, want)
		}
	}
	if isReplica(errors.New("READONLY.example.com cannot be found")) || isReplica(nil) {
		t.Error("an error that no Redis sent says that a Redis is a replica")
	}
}
