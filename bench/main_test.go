package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheBalancerIsConfiguredAsShippedForTheReplicasThatRun(t *testing.T) {
	shipped, err := os.ReadFile(filepath.Join(root, "deploy", "haproxy.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	text := configure(string(shipped), "127.0.0.1:1", []string{"127.0.0.1:2", "127.0.0.1:3"})
	for _, want := range []string{"bind 127.0.0.1:1\n", "server petstore-1 127.0.0.1:2\n", "server petstore-2 127.0.0.1:3\n", "option httpchk GET /readyz\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	for _, other := range []string{"petstore-3", ":8080", ":8081"} {
		if strings.Contains(text, other) {
			t.Errorf("%s is still in\n%s", other, text)
		}
	}
}

func TestAQuickRunMeasuresAsLongAndAsOftenAsItIsTold(t *testing.T) {
	for args, want := range map[string]options{
		"":                              {rounds: 5, seconds: 0.8},
		"-quick":                        {rounds: 2, seconds: 0.3},
		"-quick -seconds 1":             {rounds: 2, seconds: 1},
		"-rounds 5 -seconds=0.8 -quick": {rounds: 5, seconds: 0.8},
	} {
		var got options
		got.parse(strings.Fields(args))
		if got.rounds != want.rounds || got.seconds != want.seconds {
			t.Errorf("%s: %d rounds of %v s", args, got.rounds, got.seconds)
		}
	}
}
