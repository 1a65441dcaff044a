package main

import (
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
