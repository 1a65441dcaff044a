package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTheCommandsOfTheManualWork(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(manual, -1) {
		script.Write(block[1])
	}
	live, staging, folder := startServer(t), startServer(t, "--environment", "staging"), t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "staging.key"), []byte(staging.Key), 0o600); err != nil {
		t.Fatal(err)
	}
	const before = "set -e\npetstore() { if [ \"$*\" = login ]; then set -- login --server \"$LIVE\"; fi; \"$PROGRAM\" \"$@\"; }\n"
	command := exec.Command("sh", "-c", before+script.String())
	command.Dir, command.Stdin = folder, strings.NewReader(live.Key)
	command.Env = append(program().Env, "PROGRAM="+os.Args[0], "LIVE="+live.URL, "STAGING="+staging.URL, "XDG_CONFIG_HOME="+folder)
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"name": "Biscuit the Great"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

// The page promises that tests prove what it says.
func TestTheTestsThatThePageOnSecurityNamesExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range declared.FindAllSubmatch(source, -1) {
			there[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllSubmatch(page, -1)
	if len(named) < 40 {
		t.Errorf("the page names only %d tests", len(named))
	}
	for _, name := range named {
		if !there[string(name[1])] {
			t.Errorf("there is no test %s", name[1])
		}
	}
}
