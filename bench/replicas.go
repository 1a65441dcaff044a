package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"petstore/bench/result"
)

// measureReplicas measures petstore on ever more replicas behind HAProxy, which share PostgreSQL and Redis.
func (b *bench) measureReplicas() error {
	program, err := exec.LookPath("haproxy")
	if err != nil || b.redis == nil {
		b.leaveOut("Replicas", fmt.Errorf("they need PostgreSQL, Redis and HAProxy (Debian: apt-get install haproxy)"))
		return nil
	}
	const database = "replicas"
	if err := b.seedPostgres(database, b.run.Settings.Rows); err != nil {
		return err
	}
	for _, n := range b.run.Settings.Replicas {
		balanced, err := b.balance(program, database, n)
		if err != nil {
			return err
		}
		if err := b.inTurn([]*service{balanced}, result.Replicated, result.Busy); err != nil {
			return err
		}
		b.stopServices()
	}
	return nil
}

// balance starts so many replicas and HAProxy before them, which stands for them all. HAProxy counts as the last of the
// stores.
func (b *bench) balance(program, database string, replicas int) (*service, error) {
	front := b.newService(b.subject(result.Postgres), petstoreLines(b.run.Settings.Rows))
	shipped := must(os.ReadFile(filepath.Join(root, "deploy", "haproxy.cfg")))
	var addresses []string
	for range replicas {
		s := b.newService(front.Subject, front.lines)
		if err := b.serve(s, b.postgres.url(database)); err != nil {
			return nil, err
		}
		b.services = append(b.services, s)
		front.replicas, front.stores = append(front.replicas, s.Pid), s.stores
		addresses = append(addresses, s.address)
	}
	file := filepath.Join(front.dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(configure(string(shipped), front.address, addresses)), 0o644); err != nil {
		return nil, err
	}
	if err := front.launch(exec.Command(program, "-db", "-f", file)); err != nil {
		return nil, err
	}
	front.stores = append(front.stores, front.Pid)
	b.services = append([]*service{front}, b.services...) // stopped first
	return front, nil
}

// elsewhere are the listeners and replicas that only a deployment has.
var elsewhere = regexp.MustCompile(`(?m)^ *(bind :\d+|server \S+ [a-z]\S*:\d+)\n`)

// configure gives the shipped configuration other addresses, and no more replicas than there are.
func configure(shipped, address string, replicas []string) string {
	shipped = strings.Replace(shipped, "bind :8080", "bind "+address, 1)
	for i, replica := range replicas {
		shipped = strings.Replace(shipped, fmt.Sprintf("petstore-%d:8080", i+1), replica, 1)
	}
	return elsewhere.ReplaceAllString(shipped, "")
}
