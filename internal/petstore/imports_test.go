package petstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
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
	all := parts(t)
	for _, own := range []string{internal + "petstore", "petstore/client"} {
		if len(all[own].Deps) == 0 {
			t.Errorf("there is no package %s", own)
		}
		for _, path := range all[own].Deps {
			if !all[path].Standard {
				t.Errorf("%s depends on %s", own, path)
			}
		}
	}
}

func TestSiblingsImportLeavesOnly(t *testing.T) {
	leaves := []string{internal + "petstore", internal + "batch", "petstore/api"}
	for path, p := range parts(t) {
		if !strings.HasPrefix(path, internal) && path != "petstore/api" {
			continue
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "petstore/") && !slices.Contains(leaves, imported) {
				t.Errorf("%s imports its sibling %s", path, imported)
			}
		}
	}
}

func TestOnlyTheProgramImportsEverySibling(t *testing.T) {
	for _, sibling := range []string{"bulk", "httpapi", "sqlite", "postgres", "ratelimit", "server", "web"} {
		var importers []string
		for path, p := range parts(t) {
			if slices.Contains(p.Imports, internal+sibling) {
				importers = append(importers, path)
			}
		}
		if want := []string{"petstore/cmd/petstore"}; !slices.Equal(importers, want) {
			t.Errorf("%s is imported by %q, want %q", sibling, importers, want)
		}
	}
}

func TestWhatIsForTestsIsImportedByTestsOnly(t *testing.T) {
	forTests := []string{internal + "conformance", internal + "contract", internal + "history", internal + "testservice"}
	for path, p := range parts(t) {
		for _, imported := range p.Imports {
			if slices.Contains(forTests, imported) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
}
