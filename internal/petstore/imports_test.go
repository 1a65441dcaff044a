package petstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const internal = "petstore/internal/"

// part is a package as go list describes it.
type part struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// house lists every package of this module with its dependencies, except those of tests.
var house = sync.OnceValues(func() (map[string]part, error) {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "petstore/...").Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("go list: %s", failed.Stderr)
	} else if err != nil {
		return nil, err
	}
	parts := make(map[string]part)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p part
		if err := dec.Decode(&p); err == io.EOF {
			return parts, nil
		} else if err != nil {
			return nil, err
		}
		parts[p.ImportPath] = p
	}
})

func parts(t *testing.T) map[string]part {
	t.Helper()
	all, err := house()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDomainAndClientStandOnTheStandardLibraryOnly(t *testing.T) {
	expectDeps(t, internal+"petstore", nothing)
	expectDeps(t, "petstore/client", nothing)
}

func TestStrictJSONStandsOnItsTokenizerOnly(t *testing.T) {
	expectDeps(t, internal+"strictjson", regexp.MustCompile(`^github\.com/go-json-experiment/json/(jsontext|internal)\b`))
}

var nothing = regexp.MustCompile(`$^`)

// expectDeps fails the test if a package depends on anything but the standard library and what is allowed.
func expectDeps(t *testing.T, own string, allowed *regexp.Regexp) {
	t.Helper()
	all := parts(t)
	if len(all[own].Deps) == 0 {
		t.Errorf("there is no package %s", own)
	}
	for _, path := range all[own].Deps {
		if !all[path].Standard && !allowed.MatchString(path) {
			t.Errorf("%s depends on %s", own, path)
		}
	}
}

// leaves may be imported by every package. They import no package of this module but the domain.
var leaves = []string{"petstore/api", "petstore/client", "petstore/docs", internal + "petstore", internal + "batch", internal + "strictjson", internal + "terminal"}

// mayImport lists, floor by floor, the packages of the program and what each may import besides leaves.
var mayImport = map[string][]string{
	// One technology each.
	"httpapi": {}, "server": {}, "web": {"web/reference"}, "web/reference": {}, "sqlite": {}, "postgres": {}, "ratelimit": {},
	// What a command works on: a database, or a server and its key.
	"database": {"sqlite", "postgres"},
	"profile":  {},
	// The commands.
	"service":  {"database", "httpapi", "ratelimit", "server", "web"},
	"manage":   {"database", "sqlite"},
	"remote":   {"profile"},
	"transfer": {"database", "profile"},
}

// mayNot returns what a package imports of this module, except leaves and what is allowed.
func mayNot(p part, allowed []string) (imports []string) {
	for _, path := range p.Imports {
		isAllowed := slices.ContainsFunc(allowed, func(name string) bool { return path == internal+name })
		if strings.HasPrefix(path, "petstore/") && !slices.Contains(leaves, path) && !isAllowed {
			imports = append(imports, path)
		}
	}
	return imports
}

func TestNoImportRunsUpOrSideways(t *testing.T) {
	all := parts(t)
	for name, allowed := range mayImport {
		if _, exists := all[internal+name]; !exists {
			t.Errorf("there is no package %s", name)
		}
		for _, path := range mayNot(all[internal+name], allowed) {
			t.Errorf("%s imports %s", name, path)
		}
	}
	for _, leaf := range leaves {
		for _, path := range all[leaf].Imports {
			if strings.HasPrefix(path, "petstore/") && path != internal+"petstore" {
				t.Errorf("the leaf %s imports %s", leaf, path)
			}
		}
	}
	for _, path := range mayNot(all["petstore/cmd/petstore"], []string{"service", "manage", "remote", "transfer"}) {
		t.Errorf("the command line imports %s", path)
	}
}

func TestEveryPackageHasItsFloor(t *testing.T) {
	for path, p := range parts(t) {
		name, isInternal := strings.CutPrefix(path, internal)
		_, placed := mayImport[name]
		if isInternal && !placed && !slices.Contains(leaves, path) && !slices.Contains(forTests, name) {
			t.Errorf("%s stands on no floor: add it to mayImport, and its imports %q", path, mayNot(p, nil))
		}
	}
}

// forTests are the packages that only tests import.
var forTests = []string{"browser", "chaos", "conformance", "contract", "history", "hostile", "model", "testservice"}

func TestWhatIsForTestsIsImportedByTestsOnly(t *testing.T) {
	for path, p := range parts(t) {
		for _, imported := range p.Imports {
			if name, isInternal := strings.CutPrefix(imported, internal); isInternal && slices.Contains(forTests, name) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
}
