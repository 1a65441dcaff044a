package testservice

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Patroni is three PostgreSQL servers, of which Patroni makes one the primary and the others its standbys, and the etcd that
// Patroni uses.
type Patroni struct {
	Nodes []*PatroniNode
	Etcd  []*EtcdMember
	// URL leads to an empty database, on whichever node is the primary. Its role may do everything in this database, and
	// nothing else.
	URL string
}

// PatroniNode is a machine with Patroni and a PostgreSQL server. A test may kill the machine, make it hang, or cut it off.
type PatroniNode struct {
	Name string
	// Address is where the other nodes and the clients find the PostgreSQL server.
	Address string

	postgres *PostgresServer
	patroni  *process
	program  string
	rest     *Link
	links    []*Link // all links that lead from other machines to this node, and from this node to etcd
}

// StartPatroni starts a Patroni from the files in deploy/patroni with other addresses, and with a shorter lease. It
// returns when the primary has a synchronous standby.
func StartPatroni(t testing.TB, folder string) *Patroni {
	t.Helper()
	program := Program(t, "patroni", "install the package patroni")
	p := &Patroni{Etcd: StartEtcd(t, filepath.Join(folder, "etcd.yml"))}
	text, err := os.ReadFile(filepath.Join(folder, "patroni.yml"))
	noError(t, err)
	config := strings.NewReplacer("ttl: 20", "ttl: 5", "loop_wait: 2", "loop_wait: 1", "retry_timeout: 3", "retry_timeout: 2").Replace(string(text))
	var addresses []string
	for i := range 3 {
		n := newPatroniNode(t, fmt.Sprintf("db-%d", i+1), program, config, p.Etcd)
		p.Nodes, addresses = append(p.Nodes, n), append(addresses, n.Address)
	}
	startAll(t, p.Nodes)
	p.AwaitHealthy(t)
	admin := p.Primary(t).admin()
	for _, sql := range []string{"CREATE ROLE petstore LOGIN PASSWORD 'pets'", "CREATE DATABASE petstore OWNER petstore"} {
		execute(t, admin, sql)
	}
	p.URL = "postgres://petstore:pets@" + strings.Join(addresses, ",") + "/petstore?sslmode=disable"
	return p
}

func newPatroniNode(t testing.TB, name, program, config string, etcd []*EtcdMember) *PatroniNode {
	t.Helper()
	n := &PatroniNode{Name: name, program: program, postgres: newPostgres(t, folder(t, "patroni"))}
	rest := FreeAddress(t)
	n.rest = StartLink(t, rest)
	server := StartLink(t, n.postgres.Address)
	n.Address = server.Address
	n.links = []*Link{n.rest, server}
	replace := []string{
		"name: db-1", "name: " + name, "0.0.0.0:8008", rest, "db-1:8008", n.rest.Address, "0.0.0.0:5432", n.postgres.Address, "db-1:5432", n.Address,
		"/var/lib/postgresql/15/petstore", n.postgres.data(), "/usr/lib/postgresql/15/bin", n.postgres.programs,
		"/var/lib/postgresql/patroni.pgpass", filepath.Join(n.postgres.dir, "pgpass"),
		"mode: required", "mode: off", // no test resets the machine
		"etcd3:", "etcd3:\n  use_proxies: true", // asks etcd through the links only
		"wal_log_hints: \"on\"", "wal_log_hints: \"on\"\n        unix_socket_directories: \"\"",
	}
	for i, member := range etcd {
		link := StartLink(t, member.Address)
		n.links = append(n.links, link)
		replace = append(replace, fmt.Sprintf("etcd-%d:2379", i+1), link.Address)
	}
	noError(t, os.WriteFile(n.config(), []byte(strings.NewReplacer(replace...).Replace(config)), 0o644))
	t.Cleanup(func() { n.discard(t) })
	return n
}

func (n *PatroniNode) config() string { return filepath.Join(n.postgres.dir, "patroni.yml") }

// admin returns the URL of the server for its administrator.
func (n *PatroniNode) admin() string {
	return "postgres://postgres:change-me@" + n.postgres.Address + "/postgres?sslmode=disable"
}

// Start starts Patroni, also after Kill. Patroni then starts its PostgreSQL.
func (n *PatroniNode) Start(t testing.TB) {
	t.Helper()
	command := exec.Command(n.program, n.config())
	command.SysProcAttr = n.postgres.attr
	p, err := start(command, n.postgres.dir)
	if err != nil {
		t.Fatalf("Patroni does not start: %v", err)
	}
	n.patroni = p
}

// patroniMember is what Patroni says about a node.
type patroniMember struct {
	Name, Role, State string
}

// healthy returns an error unless one node is the primary, another one its synchronous standby, and all follow.
func (p *Patroni) healthy() error {
	primary := p.findPrimary(nil)
	if primary == nil {
		return errors.New("no node is the primary")
	}
	answer, err := patroniClient.Get("http://" + primary.rest.Server() + "/cluster")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var state struct{ Members []patroniMember }
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
		return err
	}
	var roles []string
	for _, m := range state.Members {
		if m.State == "running" || m.State == "streaming" {
			roles = append(roles, m.Role)
		}
	}
	slices.Sort(roles)
	if !slices.Equal(roles, []string{"leader", "replica", "sync_standby"}) {
		return fmt.Errorf("%v", state.Members)
	}
	return nil
}

var patroniClient = &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// Primary returns the node that has the lease and is the primary. It waits until there is one.
func (p *Patroni) Primary(t testing.TB) *PatroniNode {
	t.Helper()
	return p.AwaitFailover(t, nil)
}

// Standby returns a node that is not the primary.
func (p *Patroni) Standby(t testing.TB) *PatroniNode {
	t.Helper()
	primary := p.Primary(t)
	return p.Nodes[(slices.Index(p.Nodes, primary)+1)%len(p.Nodes)]
}

// AwaitFailover waits until another node than the given one is the primary, and returns that node.
func (p *Patroni) AwaitFailover(t testing.TB, from *PatroniNode) (primary *PatroniNode) {
	t.Helper()
	p.await(t, func() error {
		if primary = p.findPrimary(from); primary == nil {
			return errors.New("no node is the primary")
		}
		return nil
	})
	return primary
}

func (p *Patroni) findPrimary(except *PatroniNode) *PatroniNode {
	for _, n := range p.Nodes {
		if n == except {
			continue
		}
		answer, err := patroniClient.Get("http://" + n.rest.Server() + "/primary")
		if err != nil {
			continue
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return n
		}
	}
	return nil
}

// AwaitHealthy waits until one node is the primary, another one its synchronous standby, and all follow. What Patroni says
// may be as old as its loop, so AwaitHealthy believes it only after it has stayed the same for longer.
func (p *Patroni) AwaitHealthy(t testing.TB) {
	t.Helper()
	var since time.Time
	p.await(t, func() error {
		err := p.healthy()
		switch {
		case err != nil:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		}
		if err == nil && time.Since(since) < 2*time.Second {
			err = errors.New("not for long enough")
		}
		return err
	})
}

// await waits longer than for a single service: a node that comes back may have to copy its data.
func (p *Patroni) await(t testing.TB, ready func() error) {
	t.Helper()
	for deadline := time.Now().Add(4 * serviceTimeout); ; time.Sleep(50 * time.Millisecond) {
		err := ready()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			for _, n := range p.Nodes {
				t.Logf("%s: %s", n.Name, n.patroni.logTail())
			}
			t.Fatalf("Patroni does not recover: %v", err)
		}
	}
}

// SwitchOver makes the synchronous standby the primary, as an administrator does.
func (p *Patroni) SwitchOver(t testing.TB) {
	t.Helper()
	primary := p.Primary(t)
	patronictl := Program(t, "patronictl", "install the package patroni")
	deadline := time.Now().Add(serviceTimeout)
	for {
		command := exec.Command(patronictl, "-c", primary.config(), "switchover", "petstore", "--leader", primary.Name, "--force")
		command.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANG=C.UTF-8")
		out, err := command.CombinedOutput()
		if err == nil && strings.Contains(string(out), "Successfully switched over") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("patronictl: %v\n%s", err, out)
		}
	}
}

// Kill ends every process of the node without warning, as a machine failure does.
func (n *PatroniNode) Kill(t testing.TB) {
	t.Helper()
	n.Pause(t) // so that no process sees another one end
	n.killAll(t)
	<-n.patroni.exited
}

func (n *PatroniNode) killAll(t testing.TB) {
	for pids := n.processes(); len(pids) > 0; pids = n.processes() {
		n.postgres.signal(t, syscall.SIGKILL, pids...)
		time.Sleep(10 * time.Millisecond)
	}
}

// KillPostgres ends the PostgreSQL of the node. Patroni goes on.
func (n *PatroniNode) KillPostgres(t testing.TB) {
	t.Helper()
	n.postgres.signal(t, syscall.SIGKILL, processesIn(n.postgres.data())...)
}

// Pause makes every process of the node hang.
func (n *PatroniNode) Pause(t testing.TB) {
	t.Helper()
	stopped := make(map[int]bool)
	for begun := true; begun; {
		begun = false
		for _, pid := range n.processes() {
			if !stopped[pid] {
				n.postgres.signal(t, suspend, pid)
				stopped[pid], begun = true, true
			}
		}
	}
}

// PausePatroni makes Patroni hang. Its PostgreSQL goes on.
func (n *PatroniNode) PausePatroni(t testing.TB) {
	t.Helper()
	n.postgres.signal(t, suspend, n.patroni.Pid)
}

// Resume ends the effect of Pause and PausePatroni.
func (n *PatroniNode) Resume(t testing.TB) {
	t.Helper()
	n.postgres.signal(t, resume, n.processes()...)
}

// CutOff lets nothing through between the node and the other machines. Mend ends that.
func (n *PatroniNode) CutOff() {
	for _, link := range n.links {
		link.Silence()
	}
}

// Mend ends the effect of CutOff.
func (n *PatroniNode) Mend() {
	for _, link := range n.links {
		link.Mend()
	}
}

// processes returns Patroni and PostgreSQL, and whatever they have started.
func (n *PatroniNode) processes() []int { return processesIn(n.postgres.dir) }

// processesIn returns the processes that work in a folder, or in a folder inside it.
func processesIn(folder string) (pids []int) {
	found, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range found {
		in, err := os.Readlink(link)
		if err == nil && (in == folder || strings.HasPrefix(in, folder+"/")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func (n *PatroniNode) discard(t testing.TB) {
	n.killAll(t)
	os.RemoveAll(n.postgres.dir)
}
