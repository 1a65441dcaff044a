package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"petstore/bench/baseline"
	"petstore/bench/load"
	"petstore/bench/report"
)

// apiKey is a key that the operator chooses. It has the limits of the key that the first start creates. No load reaches
// these limits.
const apiKey = "pets_bench_0123456789abcdef0123456789"

// startSubjects starts all subjects of the comparison. It leaves out subjects that cannot be started, except petstore on
// SQLite and the bare handler.
func (b *bench) startSubjects(peers bool) error {
	sqlite, err := b.petstore(report.SQLite, "", rows)
	if err != nil {
		return err
	}
	bare, err := b.bare(sqlite, report.Subject{ID: report.Bare, Name: "bare net/http", Detail: "writes the same bytes and does nothing else"}, sqlite.lines)
	if err != nil {
		return err
	}
	b.add(bare)
	b.addOrLeaveOut("bare with headers", func() (*service, error) {
		return b.bare(sqlite, report.Subject{ID: report.Dressed, Name: "bare, with petstore's headers",
			Detail: "bare that also sends the headers of petstore's hot page, always the same: what headers cost"}, lines{report.Hot: sqlite.lines[report.Hot]})
	})
	b.add(sqlite)
	var postgres *service
	b.addOrLeaveOut("petstore on PostgreSQL and Redis", func() (_ *service, err error) {
		if err := b.startStores(); err != nil {
			return nil, err
		}
		postgres, err = b.petstore(report.Postgres, "lines", rows)
		return postgres, err
	})
	b.addOrLeaveOut("the ceiling on SQLite", func() (*service, error) { return b.ceiling(sqlite) })
	if postgres != nil {
		b.addOrLeaveOut("the ceiling on PostgreSQL", func() (*service, error) { return b.ceiling(postgres) })
	}
	b.addOrLeaveOut("plain Go on SQLite", b.plainSQLite)
	if b.redis != nil {
		b.addOrLeaveOut("plain Go on PostgreSQL", b.plainPostgres)
	}
	if peers {
		b.addOrLeaveOut("Gin", b.gin)
		b.addOrLeaveOut("PocketBase", b.pocketBase)
		b.addOrLeaveOut("json-server", b.jsonServer)
		b.addOrLeaveOut("Prism", b.prism)
	}
	return nil
}

// add adds a service to the run.
func (b *bench) add(s *service) {
	b.services = append(b.services, s)
	b.run.Subjects = append(b.run.Subjects, s.Subject)
}

// addOrLeaveOut adds a service to the run, or records why the service is left out.
func (b *bench) addOrLeaveOut(name string, open func() (*service, error)) {
	if s, err := open(); err == nil {
		b.add(s)
	} else {
		b.leaveOut(name, err)
	}
}

// petstore starts the program as users get it, on a new database with that many animals. All features are on, and only
// addresses are set.
func (b *bench) petstore(store, database string, rows int64) (*service, error) {
	s := b.newService(b.subject(store), petstoreLines(rows))
	url, err := b.seed(s, database, rows)
	return s.startAndCheck(b.serve(s, url), err)
}

// subject describes petstore on the given store as a subject.
func (b *bench) subject(store string) report.Subject {
	if store == report.SQLite {
		return report.Subject{ID: store, Name: "petstore, SQLite", Detail: "as shipped; WAL, synchronous=FULL: a create is on the disk when it is acknowledged"}
	}
	return report.Subject{ID: store, Name: "petstore, PostgreSQL + Redis", Detail: fmt.Sprintf(
		"as shipped; PostgreSQL %s with its own settings (fsync and synchronous_commit on) and Redis %s on the same machine", b.postgres.Detail, b.redis.Detail)}
}

// serve returns the command that runs petstore on a database. With PostgreSQL, petstore also uses Redis.
func (b *bench) serve(s *service, url string) *exec.Cmd {
	s.admin = b.freeAddress()
	cmd := exec.Command(b.binary, "serve", "--listen", s.address, "--admin-listen", s.admin, "--database", url)
	if s.ID == report.Postgres {
		cmd.Args = append(cmd.Args, "--redis", "redis://"+b.redis.address)
		s.stores = []int{b.postgres.Pid, b.redis.Pid}
	}
	cmd.Env = cleanEnvironment("PETSTORE_API_KEY=" + apiKey)
	return cmd
}

// cleanEnvironment returns an environment without the variables that could change petstore's settings.
func cleanEnvironment(more ...string) (env []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

// startBalanced starts the given number of replicas and HAProxy in front of them. It returns HAProxy as the service to
// measure. HAProxy itself counts as the last of the stores.
func (b *bench) startBalanced(database string, replicas int) (*service, error) {
	front := b.newService(b.subject(report.Postgres), petstoreLines(rows))
	var addresses []string
	var pids []int
	for range replicas {
		s := b.newService(front.Subject, front.lines)
		if _, err := s.launch(b.serve(s, b.postgres.url(database))); err != nil {
			return nil, err
		}
		b.services, front.stores = append(b.services, s), s.stores
		addresses, pids = append(addresses, s.address), append(pids, s.Pid)
	}
	shipped, file := must(os.ReadFile(filepath.Join(root, "deploy", "haproxy.cfg"))), filepath.Join(front.dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(configure(string(shipped), front.address, addresses)), 0o644); err != nil {
		return nil, err
	}
	if _, err := front.launch(exec.Command("haproxy", "-db", "-f", file)); err != nil {
		return nil, err
	}
	front.pids, front.replicas, front.stores = pids, replicas, append(front.stores, front.Pid)
	b.services = append([]*service{front}, b.services...) // makes the bench stop HAProxy first
	return front, nil
}

// deployedOnly matches the lines about listeners and replicas that only a deployment has.
var deployedOnly = regexp.MustCompile(`(?m)^ *(bind :\d+|server \S+ [a-z]\S*:\d+)\n`)

// configure replaces the addresses in the HAProxy configuration of the folder deploy, and removes the replicas that are not
// running.
func configure(shipped, address string, replicas []string) string {
	shipped = strings.Replace(shipped, "bind :8080", "bind "+address, 1)
	for i, replica := range replicas {
		shipped = strings.Replace(shipped, fmt.Sprintf("petstore-%d:8080", i+1), replica, 1)
	}
	return deployedOnly.ReplaceAllString(shipped, "")
}

// selfCommand returns a command that runs this program again with the given arguments.
func selfCommand(args ...string) *exec.Cmd { return exec.Command(must(os.Executable()), args...) }

// newPeer makes a service for the program of another project, or for a program that another team might write.
func (b *bench) newPeer(id, name string, requests lines) *service {
	return b.newService(report.Subject{ID: id, Name: name, Peer: true}, requests)
}

// ceiling starts the minimal program that has the store of a petstore. It gives the same answers.
func (b *bench) ceiling(petstore *service) (*service, error) {
	s := b.newService(report.Subject{ID: report.Ceiling + petstore.ID, Name: "ceiling, SQLite",
		Detail: "a minimal program: net/http, petstore's driver, tables and durability, shared commits, the newest animals in memory; no keys, limits, log, metrics, events or search"},
		petstoreLines(rows))
	delete(s.lines, report.CreateKeyed)
	delete(s.lines, report.UpdateKeyed)
	if petstore.ID == report.Postgres {
		s.Name, s.stores = "ceiling, PostgreSQL", []int{b.postgres.Pid}
		s.Detail = "the same with pgx: calls that arrive together share a round trip; nothing in memory, no triggers, no Redis"
	}
	url, err := b.seed(s, "ceiling", rows)
	if err == nil && petstore.ID == report.Postgres {
		err = b.postgres.sql("ceiling", baseline.PrepareCeiling)
		url += "&plan_cache_mode=force_generic_plan&enable_seqscan=off&enable_sort=off&jit=off"
	}
	if _, err = s.startAndCheck(selfCommand("ceiling", s.address, url), err); err != nil {
		return nil, err
	}
	if err := s.checkAgainst(petstore); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s gives other answers than petstore: %w", s.Name, err)
	}
	return s, nil
}

func (b *bench) plainSQLite() (*service, error) {
	s := b.newPeer(report.Plain+report.SQLite, "plain Go, SQLite", simpleLines(rows))
	s.Detail = "net/http by hand with petstore's driver, table and durability; one query a request, every create commits by itself; keys in a map, no limits, log or metrics"
	url, err := b.seed(s, "", rows)
	return s.startAndCheck(selfCommand("plain", s.address, url, apiKey), err)
}

// postgresPool is how many connections the plain service has. It has more connections than petstore, because without shared
// commits only more connections let commits overlap.
const postgresPool = 32

func (b *bench) plainPostgres() (*service, error) {
	s := b.newPeer(report.Plain+report.Postgres, "plain Go, PostgreSQL", simpleLines(rows))
	s.Detail, s.stores = fmt.Sprintf("the same with pgx on %d connections, with nothing of Redis", postgresPool), []int{b.postgres.Pid}
	url, err := b.seed(s, "plain", rows)
	return s.startAndCheck(selfCommand("plain", s.address, fmt.Sprintf("%s&pool_max_conns=%d", url, postgresPool), apiKey), err)
}

// runPlain runs the plain service. The arguments are the address, the database and the key.
func runPlain(args []string) error {
	handler, err := baseline.Plain(args[1], args[2])
	if err != nil {
		return err
	}
	return http.ListenAndServe(args[0], handler)
}

// runCeiling runs the minimal program. The arguments are the address and the database.
func runCeiling(args []string) error {
	handler, err := baseline.Ceiling(args[1])
	if err != nil {
		return err
	}
	return http.ListenAndServe(args[0], handler)
}

func (b *bench) gin() (*service, error) {
	s := b.newPeer("gin", "Gin + GORM + SQLite", simpleLines(rows))
	s.Detail = fmt.Sprintf("Gin %s, GORM %s with prepared statements, SQLite through mattn/go-sqlite3 (cgo) with WAL and synchronous=FULL: durable; Gin's access log, no keys, no limits",
		moduleVersion("github.com/gin-gonic/gin"), moduleVersion("gorm.io/gorm"))
	program, err := b.buildPeer("gin")
	return s.startAndCheck(exec.Command(program, s.address, filepath.Join(s.dir, "pets.db"), fmt.Sprint(rows)), err)
}

func (b *bench) pocketBase() (*service, error) {
	const records, pages, padded = "/api/collections/pets/records", "?perPage=20&skipTotal=true&sort=-id", "{%015d}" // PocketBase ids have 15 characters
	s := b.newPeer("pocketbase", "PocketBase", newLines(
		load.NewRequest(http.MethodGet, records+pages, "", "", http.StatusOK),
		load.NewRequest(http.MethodGet, records+pages+"&filter=id%3C%27"+padded+"%27", "", "", http.StatusOK).Each(pageSize+1, rows),
		load.NewRequest(http.MethodGet, records+"/"+padded, "", "", http.StatusOK).Random(rows),
		load.NewRequest(http.MethodPost, records, "", newPet, http.StatusOK),
	))
	s.Detail = "PocketBase " + moduleVersion("github.com/pocketbase/pocketbase") +
		" as it comes, SQLite with WAL and synchronous=NORMAL: a create is not on the disk when it is acknowledged; a public collection, so no keys; pages by key, without a total"
	program, err := b.buildPeer("pocketbase")
	cmd := exec.Command(program, "serve", "--http", s.address, "--dir", filepath.Join(s.dir, "data"))
	cmd.Env = cleanEnvironment(fmt.Sprint("ANIMALS=", rows))
	return s.startAndCheck(cmd, err)
}

func (b *bench) jsonServer() (*service, error) {
	s := b.newPeer("json-server", "json-server", newLines(
		load.NewRequest(http.MethodGet, "/pets?_page=1&_limit=20", "", "", http.StatusOK),
		load.NewRequest(http.MethodGet, "/pets?_page={}&_limit=20", "", "", http.StatusOK).Each(1, rows/pageSize),
		load.NewRequest(http.MethodGet, "/pets/{}", "", "", http.StatusOK).Random(rows),
		load.NewRequest(http.MethodPost, "/pets", "", newPet, http.StatusCreated),
	))
	pets := make([]map[string]any, rows)
	for i := range pets {
		n := i + 1
		pets[i] = map[string]any{"id": n, "name": fmt.Sprint("Pet number ", n), "categoryId": n%40 + 1, "status": []string{"available", "pending", "sold"}[n%3]}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "db.json"), must(json.Marshal(map[string]any{"pets": pets})), 0o644); err != nil {
		return nil, err
	}
	return s.startNode("json-server", "%s, quiet; all in memory, and the whole file written anew, without a sync, at every create",
		"--quiet", "--host", "127.0.0.1", "--port", s.port, "db.json")
}

// prism starts Prism, which takes all answers from api/openapi.yaml. Prism stores nothing, so it has no pages and no mixed
// line.
func (b *bench) prism() (*service, error) {
	s := b.newPeer("prism", "Prism", lines{
		report.Hot:    {get("/pets")},
		report.Get:    {get("/pets/7")},
		report.Create: {post("/pets", newPet, http.StatusCreated)},
	})
	return s.startNode("prism", "%s, silent; answers the examples of api/openapi.yaml and keeps nothing",
		"mock", "--verboseLevel", "silent", "--host", "127.0.0.1", "--port", s.port, must(filepath.Abs(filepath.Join(root, "api", "openapi.yaml"))))
}

// startNode installs the npm peers and starts one of them. In the text detail, %s stands for the versions.
func (s *service) startNode(program, detail string, args ...string) (*service, error) {
	folder := must(filepath.Abs("peers/node"))
	cmd := exec.Command("npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = folder
	if err := runCommand(cmd); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "node_modules", ".bin", program)
	s.Detail = fmt.Sprintf(detail, fmt.Sprintf("%s %s on Node.js %s", s.Name, versionOf(path), versionOf("node")))
	return s.startAndCheck(exec.Command(path, args...), nil)
}

// buildPeer builds one of the Go peers, which have their own module.
func (b *bench) buildPeer(name string) (string, error) {
	program := filepath.Join(b.scratch, "peer-"+name)
	return program, runCommand(exec.Command("go", "-C", "peers", "build", "-o", program, "./"+name))
}

// moduleVersion returns the version of a module that the Go peers require.
func moduleVersion(module string) string {
	return output("go", "-C", "peers", "list", "-m", "-f", "{{.Version}}", module)
}
