package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigureAdaptsTheShippedBalancerToTheReplicas(t *testing.T) {
	shipped, err := os.ReadFile(filepath.Join(root, "deploy", "haproxy.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	text := configure(string(shipped), "127.0.0.1:1", []string{"127.0.0.1:2", "127.0.0.1:3"})
	for part, wanted := range map[string]bool{
		"bind 127.0.0.1:1\n": true, "server petstore-1 127.0.0.1:2\n": true, "server petstore-2 127.0.0.1:3\n": true,
		"option httpchk GET /readyz\n": true, "petstore-3": false, ":8080": false, ":8081": false,
	} {
		if strings.Contains(text, part) != wanted {
			t.Errorf("whether %q is in the configuration: want %v in\n%s", part, wanted, text)
		}
	}
}
