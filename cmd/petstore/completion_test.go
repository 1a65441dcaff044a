package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func completionScript(t *testing.T, shell string) string {
	t.Helper()
	script, stderr, status := invoke(t, "completion", shell)
	if status != 0 {
		t.Fatalf("completion %s: %s", shell, stderr)
	}
	file := filepath.Join(t.TempDir(), "petstore."+shell)
	noError(t, os.WriteFile(file, []byte(script), 0o600))
	return file
}

func TestCompletionScriptsAreWellFormed(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			file := completionScript(t, shell)
			path := testservice.Program(t, shell, "install the package "+shell)
			if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestFishCompletesCommandsAndFiles(t *testing.T) {
	t.Parallel()
	fish := testservice.Program(t, "fish", "install the package fish")
	file := completionScript(t, "fish")
	for typed, want := range map[string]string{
		"petstore keys rot":             "rotate",
		"petstore import ":              "petstore.fish",
		"petstore restore petst":        "petstore.fish",
		"petstore export --output pets": "petstore.fish",
		"petstore keys create --plan f": "free",
	} {
		command := exec.Command(fish, "-N", "-c", "source petstore.fish; complete -C "+strconv.Quote(typed))
		command.Dir = filepath.Dir(file)
		out, err := command.CombinedOutput()
		if first, _, _ := strings.Cut(string(out), "\t"); err != nil || strings.TrimSpace(first) != want {
			t.Errorf("%q completes to %q, want %q (%v)", typed, out, want, err)
		}
	}
}

func TestBashCompletesCommandsFlagsAndValues(t *testing.T) {
	t.Parallel()
	bash := testservice.Program(t, "bash", "install the package bash")
	file := completionScript(t, "bash")
	for typed, want := range map[string]string{
		"petstore s":                              "serve",
		"petstore he":                             "healthcheck help",
		"petstore help r":                         "restore",
		"petstore healthcheck --t":                "--timeout",
		"petstore serve --ch":                     "--check",
		"petstore keys r":                         "revoke rotate",
		"petstore keys u":                         "unban update usage",
		"petstore keys create --access ":          "admin read write",
		"petstore keys usage --":                  "--database --environment --help --hours --json --profile --server",
		"petstore keys create --pl":               "--plan",
		"petstore keys create --name serve --per": "--per-day --per-minute",
		"petstore serve --environment ":           "production staging",
		"petstore serve --environment = st":       "staging",
		"petstore serve --listen :8080 --tls":     "--tls-cert --tls-key",
		"petstore completion z":                   "zsh",
		"petstore pets ":                          "--help add delete edit list photo show",
		"petstore pets photo ":                    "--help add cover delete list",
		"petstore pets list --status ":            "available pending sold",
		"petstore orders list --status c":         "cancelled completed",
		"petstore orders place 7 --h":             "--help --hold",
		"petstore events ":                        "--after --all --follow --help --json --limit --pet --profile --server --types list reset",
		"petstore events reset --d":               "--database",
		"petstore listen --fo":                    "--forward-to",
		"petstore webhooks d":                     "delete deliveries",
		"petstore serve nothing":                  "",
		"petstore export --output ":               "", // the shell itself completes files
	} {
		const ask = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _petstore; echo "${COMPREPLY[@]}"`
		args := append([]string{"-c", ask, "bash", file}, strings.Split(typed, " ")...)
		out, err := exec.Command(bash, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", typed, err, out)
		}
		got := strings.Fields(string(out))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q completes to %q, want %q", typed, got, want)
		}
	}
}

func TestShellsCompleteTheNamesOfProfiles(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	profiles := filepath.Join(config, "petstore", "profiles")
	noError(t, os.MkdirAll(profiles, 0o700))
	for _, name := range []string{"default", "shop", "staging"} {
		rewrite(t, filepath.Join(profiles, name+".json"), `{"server":"https://`+name+`.example.com","key":"pets_test_x"}`)
	}
	const (
		inBash = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _petstore; echo "${COMPREPLY[@]}"`
		inZsh  = `compdef() {}; _describe() { print -- ${(P)2} }; source "$0"; words=("$@"); CURRENT=$#; _petstore`
		inFish = `source $argv[1]; complete -C "$argv[2..-1]" | string replace -r '\t.*' ''`
	)
	for shell, ask := range map[string][]string{"bash": {"-c", inBash}, "zsh": {"-f", "-c", inZsh}, "fish": {"-N", "-c", inFish}} {
		path := testservice.Program(t, shell, "install the package "+shell)
		file := completionScript(t, shell)
		for typed, want := range map[string]string{
			"petstore pets list --profile s":    "shop staging",
			"petstore logout --profile st":      "staging",
			"petstore keys list --profile st":   "staging",
			"petstore import x.csv --profile d": "default",
		} {
			command := exec.Command(path, append(append(ask, file), strings.Split(typed, " ")...)...)
			command.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config, "PATH="+filepath.Dir(testservice.Build(t))+":"+os.Getenv("PATH"))
			out, err := command.CombinedOutput()
			got := strings.Fields(string(out))
			if shell == "zsh" { // zsh itself drops the names that do not begin with the last word
				words := strings.Split(typed, " ")
				got = slices.DeleteFunc(got, func(name string) bool { return !strings.HasPrefix(name, words[len(words)-1]) })
			}
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("in %s, %q completes to %q, want %q (%v)", shell, typed, out, want, err)
			}
		}
	}
}
