package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"petstore/bench/load"
	"petstore/bench/result"
)

// startPeer starts a service that others would make. Its command says how, and its version and settings.
func (b *bench) startPeer(id, name string, requests lines, command func(s *service) (*exec.Cmd, error)) (*service, error) {
	s := b.newService(result.Subject{ID: id, Name: name, Peer: true}, requests)
	cmd, err := command(s)
	if err == nil {
		err = s.launch(cmd)
	}
	if err != nil {
		return nil, err
	}
	return s.checked(s.checkAnswers())
}

func (b *bench) plainSQLite() (*service, error) {
	return b.startPeer(result.PlainSQLite, "plain Go, SQLite", simpleLines(b.run.Settings.Rows), func(s *service) (*exec.Cmd, error) {
		s.Detail = "net/http by hand with petstore's driver, table and durability; one query a request, every create commits by itself; keys in a map, no limits, log or metrics"
		url, err := b.seed(s, "", b.run.Settings.Rows)
		return again(context.Background(), "plain", s.address, url, apiKey), err
	})
}

// postgresPool is the number of connections of the plain service. It is more than petstore's own pool has, because without
// shared commits it is the connections that let commits overlap.
const postgresPool = 32

func (b *bench) plainPostgres() (*service, error) {
	return b.startPeer(result.PlainPostgres, "plain Go, PostgreSQL", simpleLines(b.run.Settings.Rows), func(s *service) (*exec.Cmd, error) {
		s.Detail = fmt.Sprintf("the same with pgx on %d connections, with nothing of Redis", postgresPool)
		s.stores = []int{b.postgres.Pid}
		url, err := b.seed(s, "plain", b.run.Settings.Rows)
		return again(context.Background(), "plain", s.address, fmt.Sprintf("%s&pool_max_conns=%d", url, postgresPool), apiKey), err
	})
}

func (b *bench) gin() (*service, error) {
	rows := b.run.Settings.Rows
	return b.startPeer("gin", "Gin + GORM + SQLite", simpleLines(rows), func(s *service) (*exec.Cmd, error) {
		program, err := b.buildPeer("gin")
		s.Detail = fmt.Sprintf("Gin %s, GORM %s with prepared statements, SQLite through mattn/go-sqlite3 (cgo) with WAL and synchronous=FULL: durable; Gin's access log, no keys, no limits",
			moduleIn(program, "github.com/gin-gonic/gin"), moduleIn(program, "gorm.io/gorm"))
		return exec.Command(program, s.address, filepath.Join(s.dir, "pets.db"), fmt.Sprint(rows)), err
	})
}

func (b *bench) pocketBase() (*service, error) {
	const records, pages, padded = "/api/collections/pets/records", "?perPage=20&skipTotal=true&sort=-id", "%015d" // identifiers have 15 characters
	rows := b.run.Settings.Rows
	return b.startPeer("pocketbase", "PocketBase", newLines(
		load.NewRequest(http.MethodGet, records+pages, "", "", nil, http.StatusOK),
		load.NewRequest(http.MethodGet, records+pages+"&filter=id%3C%27{}%27", "", "", each(pageSize+1, rows, padded), http.StatusOK),
		load.NewRequest(http.MethodGet, records+"/{}", "", "", random(rows, padded), http.StatusOK),
		load.NewRequest(http.MethodPost, records, "", newPet, nil, http.StatusOK),
	), func(s *service) (*exec.Cmd, error) {
		program, err := b.buildPeer("pocketbase")
		s.Detail = "PocketBase " + moduleIn(program, "github.com/pocketbase/pocketbase") +
			" as it comes, SQLite with WAL and synchronous=NORMAL: a create is not on the disk when it is acknowledged; a public collection, so no keys; pages by key, without a total"
		cmd := exec.Command(program, "serve", "--http", s.address, "--dir", filepath.Join(s.dir, "data"))
		cmd.Env = cleanEnvironment(fmt.Sprint("ANIMALS=", rows))
		return cmd, err
	})
}

func (b *bench) jsonServer() (*service, error) {
	rows := b.run.Settings.Rows
	return b.startPeer("json-server", "json-server", newLines(
		load.NewRequest(http.MethodGet, "/pets?_page=1&_limit=20", "", "", nil, http.StatusOK),
		load.NewRequest(http.MethodGet, "/pets?_page={}&_limit=20", "", "", each(1, rows/pageSize, load.Decimal), http.StatusOK),
		load.NewRequest(http.MethodGet, "/pets/{}", "", "", random(rows, load.Decimal), http.StatusOK),
		load.NewRequest(http.MethodPost, "/pets", "", newPet, nil, http.StatusCreated),
	), func(s *service) (*exec.Cmd, error) {
		program, version, err := installPeer("json-server", "json-server")
		if err != nil {
			return nil, err
		}
		s.Detail = fmt.Sprintf("json-server %s on Node.js %s, quiet; all in memory, and the whole file written anew, without a sync, at every create", version, versionIn("node", "--version"))
		host, port, _ := net.SplitHostPort(s.address)
		return exec.Command(program, "--quiet", "--host", host, "--port", port, "db.json"), writeAnimals(filepath.Join(s.dir, "db.json"), rows)
	})
}

// prism answers from the interface's document alone: it keeps nothing, so it has no pages and no mix.
func (b *bench) prism() (*service, error) {
	return b.startPeer("prism", "Prism", lines{
		result.Hot:    {get("/pets", nil)},
		result.Get:    {get("/pets/7", nil)},
		result.Create: {post("/pets", newPet, nil, http.StatusCreated)},
	}, func(s *service) (*exec.Cmd, error) {
		program, version, err := installPeer("@stoplight/prism-cli", "prism")
		if err != nil {
			return nil, err
		}
		s.Detail = fmt.Sprintf("Prism %s on Node.js %s, silent; answers the examples of api/openapi.yaml and keeps nothing", version, versionIn("node", "--version"))
		document, err := filepath.Abs(filepath.Join(root, "api", "openapi.yaml"))
		host, port, _ := net.SplitHostPort(s.address)
		return exec.Command(program, "mock", "--verboseLevel", "silent", "--host", host, "--port", port, document), err
	})
}

// buildPeer builds one of the Go peers, which have a module of their own.
func (b *bench) buildPeer(name string) (string, error) {
	program := filepath.Join(b.scratch, "peer-"+name)
	return program, b.build("peers", "./"+name, program)
}

// moduleIn is the version of a module that a program was built with.
func moduleIn(program, module string) string {
	if info, err := buildinfo.ReadFile(program); err == nil {
		for _, dep := range info.Deps {
			if dep.Path == module {
				return dep.Version
			}
		}
	}
	return ""
}

// installPeer installs the npm peers, once, and returns the path of a program and the version of its package.
func installPeer(module, program string) (path, version string, err error) {
	modules := must(filepath.Abs("peers/node/node_modules"))
	cmd := exec.Command("npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = filepath.Dir(modules)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("npm does not install it: %w %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(modules, module, "package.json"))
	if err != nil {
		return "", "", err
	}
	var about struct{ Version string }
	err = json.Unmarshal(text, &about)
	return filepath.Join(modules, ".bin", program), about.Version, err
}

// writeAnimals writes the animals as json-server keeps them.
func writeAnimals(path string, rows int64) error {
	pets := make([]map[string]any, rows)
	for i := range pets {
		n := i + 1
		pets[i] = map[string]any{"id": n, "name": fmt.Sprint("Pet number ", n), "categoryId": n%40 + 1, "status": []string{"available", "pending", "sold"}[n%3]}
	}
	return os.WriteFile(path, must(json.Marshal(map[string]any{"pets": pets})), 0o644)
}
