package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"petstore/internal/testservice"
)

// scriptIn returns the shell commands on a page.
func scriptIn(t *testing.T, page string) string {
	t.Helper()
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readPages(t)[page], -1) {
		script.WriteString(block[1])
	}
	return "set -e\npetstore() { if [ \"$*\" = login ]; then set -- login --server \"$LIVE\"; fi; \"$PROGRAM\" \"$@\"; }\n" + script.String()
}

func TestTheCommandsInTheManualWork(t *testing.T) {
	t.Parallel()
	live, staging, folder := testservice.Serve(t), testservice.Serve(t, "--environment", "staging"), t.TempDir()
	noError(t, os.WriteFile(filepath.Join(folder, "staging.key"), []byte(staging.Key), 0o600))
	photo, err := os.ReadFile("../../internal/photo/testdata/lossy.webp") // the server goes by the bytes, not by the name
	noError(t, err)
	noError(t, os.WriteFile(filepath.Join(folder, "biscuit.jpg"), photo, 0o600))
	command := exec.Command("sh", "-c", scriptIn(t, "docs/command-line.md"))
	command.Dir, command.Stdin = folder, strings.NewReader(live.Key)
	command.Env = append(testservice.Command(t).Env, "PROGRAM="+testservice.Build(t), "LIVE="+live.URL, "STAGING="+staging.URL, "XDG_CONFIG_HOME="+folder)
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"name": "Biscuit the Great"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTheCommandsOnThePageOnKeysWork(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := testservice.Serve(t, "--database", "sqlite:"+filepath.Join(folder, "petstore.db"))
	noError(t, os.WriteFile(filepath.Join(folder, "admin.key"), []byte(s.Key), 0o600))
	command := exec.Command("sh", "-c", scriptIn(t, "docs/keys.md"))
	command.Dir, command.Env = folder, append(testservice.Command(t).Env, "PROGRAM="+testservice.Build(t), "SERVER="+s.URL, "XDG_CONFIG_HOME="+folder)
	out, err := command.CombinedOutput()
	for _, want := range []string{"https://pets.example.com/#key=pets_live_", "website, is revoked", "shop, was not banned"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, or %q is not in\n%s", err, want, out)
		}
	}
}

// declarations returns the names that each Go file declares at its top level, including methods. The keys of the map are the
// paths of the files.
var declarations = sync.OnceValues(func() (map[string][]string, error) {
	names := make(map[string][]string)
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		path = strings.TrimPrefix(filepath.ToSlash(path), "../../")
		for _, decl := range file.Decls {
			names[path] = append(names[path], namesIn(decl)...)
		}
		return nil
	})
	return names, err
})

func declared(t *testing.T) map[string][]string {
	t.Helper()
	names, err := declarations()
	noError(t, err)
	return names
}

func namesIn(decl ast.Decl) (names []string) {
	if function, ok := decl.(*ast.FuncDecl); ok {
		return []string{function.Name.Name}
	}
	for _, spec := range decl.(*ast.GenDecl).Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// The pages promise that the tests they name prove what they say.
func TestTheTestsThatThePagesNameExist(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	for path, names := range declared(t) {
		for _, name := range names {
			there[name] = there[name] || strings.HasSuffix(path, "_test.go")
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	for page, text := range readPages(t) {
		found := named.FindAllStringSubmatch(text, -1)
		if page == "docs/security.md" && len(found) < 40 {
			t.Errorf("%s names only %d tests", page, len(found))
		}
		for _, name := range found {
			if !there[name[1]] {
				t.Errorf("%s names %s, and there is no such test", page, name[1])
			}
		}
	}
}

func TestThePageOnFuzzingNamesEveryTargetAndItsPackage(t *testing.T) {
	inPackage := regexp.MustCompile("((?:`Fuzz\\w+`(?:, )?)+) in `([^`]+)`")
	named := make(map[string]string)
	for _, match := range inPackage.FindAllStringSubmatch(readPages(t)["docs/fuzzing.md"], -1) {
		for _, target := range regexp.MustCompile(`Fuzz\w+`).FindAllString(match[1], -1) {
			named[target] = match[2]
		}
	}
	for file, names := range declared(t) {
		for _, name := range names {
			if folder := filepath.ToSlash(filepath.Dir(file)); strings.HasPrefix(name, "Fuzz") && named[name] != folder {
				t.Errorf("%s is in %s; the page says %q", name, folder, named[name])
			}
			delete(named, name)
		}
	}
	for name, folder := range named {
		t.Errorf("the page names %s in %s, which does not exist", name, folder)
	}
}

func TestThePageOnModulesListsThoseOfTheBinary(t *testing.T) {
	t.Parallel()
	page := readPages(t)["docs/modules.md"]
	_, list, _ := strings.Cut(page, "```\n")
	list, _, _ = strings.Cut(list, "```")
	command := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".")
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := command.Output()
	noError(t, err)
	modules := func(text string) (lines []string) {
		for module := range slices.Chunk(strings.Fields(text), 2) {
			lines = append(lines, strings.Join(module, " "))
		}
		slices.Sort(lines)
		return slices.Compact(lines)
	}
	if listed, built := modules(list), modules(string(out)); !slices.Equal(listed, built) {
		t.Errorf("the page lists\n%s\nbut the binary has\n%s\nthe command on the page prints them", strings.Join(listed, "\n"), strings.Join(built, "\n"))
	}
}

// The page on architecture has a table. Each row names the file that decides a question. The names after the file must be
// declared in that file.
func TestWhatThePageOnArchitectureNamesIsWhereItSays(t *testing.T) {
	t.Parallel()
	page := readPages(t)["docs/architecture.md"]
	_, section, _ := strings.Cut(page, "\n## Where is … decided?\n")
	section, _, _ = strings.Cut(section, "\n## ")
	names, found := declared(t), 0
	for _, row := range strings.Split(section, "\n") {
		file := ""
		for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row, -1) {
			switch {
			case strings.HasSuffix(code[1], ".go"):
				if file = code[1]; names[file] == nil {
					t.Errorf("there is no file %s", file)
				}
			case file == "": // the word belongs to the question, which comes before the file
			case slices.Contains(names[file], code[1]):
				found++
			default:
				t.Errorf("%s declares no %s", file, code[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("the table names only %d places", found)
	}
}

// readPages returns the text of every page for readers. The keys of the map are the paths from the root of the repository.
func readPages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	noError(t, err)
	texts := map[string]string{}
	for _, path := range append(paths, "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md") {
		text, err := os.ReadFile(path)
		noError(t, err)
		texts[strings.TrimPrefix(filepath.ToSlash(path), "../../")] = string(text)
	}
	return texts
}

var (
	codeBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	pageLink  = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unlinked  = regexp.MustCompile("[^a-z0-9 -]")
)

// anchors returns the URL fragments that lead to the headings of a page.
func anchors(text string) (found []string) {
	for _, title := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		found = append(found, strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(title[1]), ""), " ", "-"))
	}
	return found
}

func TestEveryLinkOfThePagesLeadsSomewhere(t *testing.T) {
	t.Parallel()
	all := readPages(t)
	for name, text := range all {
		for _, link := range pageLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			target := name
			if link[1] != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), link[1]))
			}
			if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, link[1])
			}
			if link[2] != "" && !slices.Contains(anchors(all[target]), link[2]) {
				t.Errorf("%s links to %s#%s, but there is no such heading", name, link[1], link[2])
			}
		}
	}
}

func TestEveryPageIsLinkedFromTheReadme(t *testing.T) {
	t.Parallel()
	all := readPages(t)
	for name := range all {
		if strings.HasPrefix(name, "docs/") && !strings.Contains(all["README.md"]+all["CONTRIBUTING.md"], "]("+name+")") {
			t.Errorf("neither the README nor CONTRIBUTING links to %s", name)
		}
	}
}

// Readers are in a hurry, so the text of a page fits three screens. Tables and code do not count. The page on alerts may be
// longer, because readers only look up one alert in it.
func TestAPageFitsThreeScreens(t *testing.T) {
	t.Parallel()
	const most = 700
	row := regexp.MustCompile(`(?m)^ *\|.*$`)
	for name, text := range readPages(t) {
		words := len(strings.Fields(row.ReplaceAllString(codeBlock.ReplaceAllString(text, ""), "")))
		if words > most && name != "docs/alerts.md" {
			t.Errorf("%s has %d words; split it, or shorten it to %d", name, words, most)
		}
	}
}
