package main

import (
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

// peer is a service that others have made.
type peer struct {
	result.Subject
	lines map[string][]load.Request
	// command makes ready what it needs in a folder, and returns how to start it there and its version and settings.
	command func(dir, address string) (cmd *exec.Cmd, detail string, err error)
}

// addPeers starts what can be had of them and says of the rest why not.
func (b *bench) addPeers() {
	rows := b.run.Settings.Rows
	for _, p := range []peer{b.ginPeer(rows), b.pocketBasePeer(rows), b.jsonServerPeer(rows), b.prismPeer()} {
		s, err := b.startPeer(p)
		if err != nil {
			b.leaveOut(p.Name, err)
			continue
		}
		b.add(s)
	}
}

func (b *bench) startPeer(p peer) (*server, error) {
	dir, err := folder(b.scratch, p.ID)
	if err != nil {
		return nil, err
	}
	s := &server{lines: p.lines}
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	s.Subject = p.Subject
	cmd, detail, err := p.command(dir, s.address)
	if err != nil {
		return nil, err
	}
	s.Peer, s.Detail = true, detail
	if s.process, err = start(cmd, dir); err != nil {
		return nil, err
	}
	if err := s.wait(s.listening); err != nil {
		s.stop()
		return nil, err
	}
	if err := checkPeer(s); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// ginPeer takes petstore's requests, with a plain number for a cursor.
func (b *bench) ginPeer(rows int64) peer {
	lines := petstoreLines(rows)
	lines[result.Distinct] = []load.Request{load.NewRequest(http.MethodGet, "/v1/pets?cursor={}&limit=20", apiKey, "", each(pageSize+1, rows, load.Decimal), http.StatusOK)}
	p := peer{Subject: result.Subject{ID: "gin", Name: "Gin + GORM + SQLite"}, lines: lines}
	p.command = func(dir, address string) (*exec.Cmd, string, error) {
		program, err := b.buildPeer("gin")
		detail := fmt.Sprintf("Gin %s, GORM %s with prepared statements, SQLite through mattn/go-sqlite3 (cgo) with WAL and synchronous=FULL: durable; Gin's access log, no keys, no limits",
			moduleIn(program, "github.com/gin-gonic/gin"), moduleIn(program, "gorm.io/gorm"))
		return exec.Command(program, address, filepath.Join(dir, "pets.db"), fmt.Sprint(rows)), detail, err
	}
	return p
}

func (b *bench) pocketBasePeer(rows int64) peer {
	const records = "/api/collections/pets/records"
	list := load.NewRequest(http.MethodGet, records+"?perPage=20&skipTotal=true&sort=-id", "", "", nil, http.StatusOK)
	create := load.NewRequest(http.MethodPost, records, "", newPet, nil, http.StatusOK)
	p := peer{Subject: result.Subject{ID: "pocketbase", Name: "PocketBase"}, lines: map[string][]load.Request{
		result.Hot: {list},
		result.Distinct: {load.NewRequest(http.MethodGet, records+"?perPage=20&skipTotal=true&sort=-id&filter=id%3C%27{}%27", "", "",
			each(pageSize+1, rows, load.Padded), http.StatusOK)},
		result.Get:    {load.NewRequest(http.MethodGet, records+"/{}", "", "", random(rows, load.Padded), http.StatusOK)},
		result.Create: {create},
		result.Mix:    mix(list, create),
	}}
	p.command = func(dir, address string) (*exec.Cmd, string, error) {
		program, err := b.buildPeer("pocketbase")
		detail := "PocketBase " + moduleIn(program, "github.com/pocketbase/pocketbase") +
			" as it comes, SQLite with WAL and synchronous=NORMAL: a create is not on the disk when it is acknowledged; a public collection, so no keys; pages by key, without a total"
		cmd := exec.Command(program, "serve", "--http", address, "--dir", filepath.Join(dir, "data"))
		cmd.Env = cleanEnvironment(fmt.Sprint("ANIMALS=", rows))
		return cmd, detail, err
	}
	return p
}

func (b *bench) jsonServerPeer(rows int64) peer {
	list := load.NewRequest(http.MethodGet, "/pets?_page=1&_limit=20", "", "", nil, http.StatusOK)
	create := load.NewRequest(http.MethodPost, "/pets", "", newPet, nil, http.StatusCreated)
	p := peer{Subject: result.Subject{ID: "json-server", Name: "json-server"}, lines: map[string][]load.Request{
		result.Hot:      {list},
		result.Distinct: {load.NewRequest(http.MethodGet, "/pets?_page={}&_limit=20", "", "", each(1, rows/pageSize, load.Decimal), http.StatusOK)},
		result.Get:      {load.NewRequest(http.MethodGet, "/pets/{}", "", "", random(rows, load.Decimal), http.StatusOK)},
		result.Create:   {create},
		result.Mix:      mix(list, create),
	}}
	p.command = func(dir, address string) (*exec.Cmd, string, error) {
		program, version, err := b.installPeer("json-server", "json-server")
		if err != nil {
			return nil, "", err
		}
		detail := fmt.Sprintf("json-server %s on Node.js %s, quiet; all in memory, and the whole file written anew, without a sync, at every create", version, nodeVersion())
		host, port, _ := net.SplitHostPort(address)
		return exec.Command(program, "--quiet", "--host", host, "--port", port, "db.json"), detail, writeAnimals(filepath.Join(dir, "db.json"), rows)
	}
	return p
}

// prismPeer answers from the interface's document alone: it keeps nothing, so it has no pages and no mix.
func (b *bench) prismPeer() peer {
	p := peer{Subject: result.Subject{ID: "prism", Name: "Prism"}, lines: map[string][]load.Request{
		result.Hot:    {load.NewRequest(http.MethodGet, "/pets", apiKey, "", nil, http.StatusOK)},
		result.Get:    {load.NewRequest(http.MethodGet, "/pets/7", apiKey, "", nil, http.StatusOK)},
		result.Create: {load.NewRequest(http.MethodPost, "/pets", apiKey, newPet, nil, http.StatusCreated)},
	}}
	p.command = func(dir, address string) (*exec.Cmd, string, error) {
		program, version, err := b.installPeer("@stoplight/prism-cli", "prism")
		detail := fmt.Sprintf("Prism %s on Node.js %s, silent; answers the examples of api/openapi.yaml and keeps nothing", version, nodeVersion())
		host, port, _ := net.SplitHostPort(address)
		return exec.Command(program, "mock", "--verboseLevel", "silent", "--host", host, "--port", port, filepath.Join(b.root, "api", "openapi.yaml")), detail, err
	}
	return p
}

func each(first, last int64, form load.Form) *load.Numbers {
	return &load.Numbers{First: first, Last: last, Each: true, Form: form}
}

func random(rows int64, form load.Form) *load.Numbers {
	return &load.Numbers{First: 1, Last: rows, Form: form}
}

// buildPeer builds one of the Go peers, which have a module of their own.
func (b *bench) buildPeer(name string) (string, error) {
	program := filepath.Join(b.scratch, "peer-"+name)
	cmd := exec.Command("go", "build", "-o", program, "./"+name)
	cmd.Dir = filepath.Join(b.root, "bench", "peers")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not build: %w %s", err, out)
	}
	return program, nil
}

// moduleIn is the version of a module that a program was built with.
func moduleIn(program, module string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return ""
}

// installPeer installs the npm peers, once, and returns the path of a program and the version of its package.
func (b *bench) installPeer(module, program string) (path, version string, err error) {
	dir := filepath.Join(b.root, "bench", "peers", "node")
	cmd := exec.Command("npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("npm does not install it: %w %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", module, "package.json"))
	if err != nil {
		return "", "", err
	}
	var about struct{ Version string }
	err = json.Unmarshal(text, &about)
	return filepath.Join(dir, "node_modules", ".bin", program), about.Version, err
}

func nodeVersion() string { return versionIn("node", "--version") }

// writeAnimals writes the animals as json-server keeps them.
func writeAnimals(path string, rows int64) error {
	type pet struct {
		ID         int64  `json:"id"`
		Name       string `json:"name"`
		CategoryID int64  `json:"categoryId"`
		Status     string `json:"status"`
	}
	statuses := []string{"available", "pending", "sold"}
	pets := make([]pet, rows)
	for i := range pets {
		n := int64(i + 1)
		pets[i] = pet{n, fmt.Sprint("Pet number ", n), n%40 + 1, statuses[n%3]}
	}
	text, err := json.Marshal(map[string]any{"pets": pets})
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
