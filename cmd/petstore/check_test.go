package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func TestServeCheckOpensNoPortAndChangesNothing(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer taken.Close()
	dir := t.TempDir()
	check := func(database string, lines ...string) {
		t.Helper()
		stdout, stderr, status := invoke(t, "serve", "--check", "--listen", taken.Addr().String(), "--admin-listen", taken.Addr().String(), "--database", database, "--api-key", "0123456789abcdef")
		if status != 0 || stderr != "" {
			t.Errorf("ended with %d and said %s", status, stderr)
		}
		for _, line := range lines {
			if !strings.Contains("\n"+stdout, "\n"+line+"\n") {
				t.Errorf("printed\n%swant the line\n%s", stdout, line)
			}
		}
	}
	database := "sqlite:" + filepath.Join(dir, "pets.db")
	check(database, "settings: valid, for the production environment", "database: "+database+" is empty; serve creates its schema")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the check left %v behind, %v", entries, err)
	}
	testservice.Serve(t, "--database", database).Stop(t)
	check(database, "database: "+database+" has the schema of this version")
	if list, _, _ := invoke(t, "keys", "list", "--database", database); strings.Contains(list, "named by the operator") {
		t.Errorf("the check made a key:\n%s", list)
	}
	shared := testservice.Postgres(t)
	check(shared, "database: postgres is empty; serve creates its schema")
	check(shared, "database: postgres is empty; serve creates its schema")
}

func TestServeCheckTriesRedisAndTheCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	testservice.WriteCertificate(t, cert, key, 1)
	expired, expiredKey := filepath.Join(dir, "expired.pem"), filepath.Join(dir, "expired-key.pem")
	testservice.WriteCertificateUntil(t, expired, expiredKey, 2, time.Now().Add(-time.Minute))
	unused := testservice.FreeAddress(t)
	redis := testservice.Redis(t)
	replica := testservice.StartRedis(t, "--replicaof", "127.0.0.1 1")
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"--redis " + redis, 0, "redis: answers\n"},
		{"--tls-cert " + cert + " --tls-key " + key, 0, "certificate: " + cert + " is valid until "},
		{"--redis " + replica.URL, 1, "--redis answers but cannot count requests: READONLY"},
		{"--redis redis://" + unused, 1, "Redis at [" + unused + "] cannot be reached"},
		{"--redis " + unused, 2, "--redis: the Redis URL cannot be used"},
		{"--tls-cert " + cert + " --tls-key " + cert, 1, "--tls-cert"},
		{"--tls-cert " + expired + " --tls-key " + expiredKey, 1, "the certificate in --tls-cert " + expired + " expired on "},
		{"--listen 8080", 2, `--listen is "8080"`},
		{"--admin-listen 8080", 2, `--admin-listen is "8080"`},
		{"--admin-listen off", 0, "settings: valid"},
		{"--database sqlite:" + filepath.Join(dir, "none", "pets.db"), 1, "the folder"},
		{"--database postgres://" + unused + "/pets", 1, "cannot be reached"},
	} {
		args := append([]string{"serve", "--check"}, strings.Fields(c.args)...)
		if !strings.Contains(c.args, "--database") {
			args = append(args, "--database", "sqlite:"+filepath.Join(dir, "pets.db"))
		}
		if stdout, stderr, status := invoke(t, args...); status != c.status || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("serve --check %s ended with %d and said\n%s%s\nwant %d and %q", c.args, status, stdout, stderr, c.status, c.says)
		}
	}
}
