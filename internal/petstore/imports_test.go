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

// listed is a package as the command go list describes it.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// listPackages returns every package of this module and every dependency, but not the dependencies of tests.
var listPackages = sync.OnceValues(func() (map[string]listed, error) {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "petstore/...").Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("go list: %s", failed.Stderr)
	} else if err != nil {
		return nil, err
	}
	parts := make(map[string]listed)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return parts, nil
		} else if err != nil {
			return nil, err
		}
		parts[p.ImportPath] = p
	}
})

func packages(t *testing.T) map[string]listed {
	t.Helper()
	all, err := listPackages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDomainImportsOnlyTheStandardLibraryAndUnicode(t *testing.T) {
	expectDeps(t, internal+"petstore", regexp.MustCompile(`^golang\.org/x/text/`))
}

func TestClientImportsOnlyTheStandardLibrary(t *testing.T) {
	expectDeps(t, "petstore/client", noModule)
	expectDeps(t, "petstore/client/webhook", noModule)
}

func TestEgressImportsOnlyTheStandardLibrary(t *testing.T) {
	expectDeps(t, internal+"egress", noModule)
}

func TestPhotoImportsOnlyTheImagePackages(t *testing.T) {
	expectDeps(t, internal+"photo", regexp.MustCompile(`^golang\.org/x/image/`))
}

func TestStrictJSONImportsOnlyItsTokenizer(t *testing.T) {
	expectDeps(t, internal+"strictjson", regexp.MustCompile(`^github\.com/go-json-experiment/json/(jsontext|internal)\b`))
}

var noModule = regexp.MustCompile(`$^`)

// expectDeps fails the test if a package depends on anything but the standard library and the allowed packages.
func expectDeps(t *testing.T, own string, allowed *regexp.Regexp) {
	t.Helper()
	all := packages(t)
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
var leaves = []string{"petstore/api", "petstore/client", "petstore/client/webhook", "petstore/docs", internal + "petstore", internal + "batch", internal + "egress", internal + "petcache", internal + "photo", internal + "strictjson", internal + "terminal", internal + "usage"}

// mayImport lists the packages of the program, layer by layer, and the packages that each may import besides leaves.
var mayImport = map[string][]string{
	// This package follows the feed, for streams and for webhooks.
	"feed": {},
	// Each of these packages deals with one technology.
	"httpapi": {"feed"}, "server": {}, "web": {"web/reference"}, "web/reference": {}, "sqlite": {}, "postgres": {}, "ratelimit": {},
	// These packages open what a command works on: a database, or a server and its key.
	"database": {"sqlite", "postgres"},
	"profile":  {},
	// These are the commands.
	"service":  {"database", "feed", "httpapi", "ratelimit", "server", "web"},
	"manage":   {"database", "sqlite"},
	"remote":   {"profile"},
	"transfer": {"database", "profile"},
	"keys":     {"database", "profile"},
}

// forbiddenImports returns the packages of this module that p imports although they are neither leaves nor allowed.
func forbiddenImports(p listed, allowed []string) (imports []string) {
	for _, path := range p.Imports {
		isAllowed := slices.ContainsFunc(allowed, func(name string) bool { return path == internal+name })
		if strings.HasPrefix(path, "petstore/") && !slices.Contains(leaves, path) && !isAllowed {
			imports = append(imports, path)
		}
	}
	return imports
}

func TestPackagesImportOnlyLowerLayers(t *testing.T) {
	all := packages(t)
	for name, allowed := range mayImport {
		if _, exists := all[internal+name]; !exists {
			t.Errorf("there is no package %s", name)
		}
		for _, path := range forbiddenImports(all[internal+name], allowed) {
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
	for _, path := range forbiddenImports(all["petstore/cmd/petstore"], []string{"service", "keys", "manage", "remote", "transfer"}) {
		t.Errorf("the command line imports %s", path)
	}
}

func TestEveryPackageIsInALayer(t *testing.T) {
	for path, p := range packages(t) {
		name, isInternal := strings.CutPrefix(path, internal)
		_, placed := mayImport[name]
		_, isForTests := testPackages[name]
		if isInternal && !placed && !slices.Contains(leaves, path) && !isForTests {
			t.Errorf("%s is in no layer: add it to mayImport, with its imports %q", path, forbiddenImports(p, nil))
		}
	}
}

// testPackages lists the packages that only tests may import, and the test packages that each may import.
var testPackages = map[string][]string{
	"browser": {}, "chaos": {}, "clienttest": {}, "conformance": {}, "contract": {}, "hostile": {}, "limitertest": {}, "testservice": {},
	"model":   {"contract"},
	"history": {"model"},
}

func TestOnlyTestsImportTestPackages(t *testing.T) {
	for path, p := range packages(t) {
		allowed := testPackages[strings.TrimPrefix(path, internal)]
		for _, imported := range p.Imports {
			name, isInternal := strings.CutPrefix(imported, internal)
			if _, isForTests := testPackages[name]; isInternal && isForTests && !slices.Contains(allowed, name) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
}
