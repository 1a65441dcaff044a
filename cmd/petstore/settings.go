package main

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"petstore/internal/terminal"

	"github.com/alecthomas/kong"
)

// variablePrefix is how the name of every environment variable of the program begins.
const variablePrefix = "PETSTORE_"

// commandLineOnly are the flags that no environment variable sets, because they are meant for a single run.
var commandLineOnly = []string{
	"active", "after", "all", "bad-lines", "category", "check", "create-categories", "description", "disable", "dry-run", "enable",
	"follow", "format", "forward-to", "header", "help", "hold", "hours", "include", "input", "json", "label", "limit", "name", "now",
	"output", "pet", "position", "reference", "replace", "search", "status", "strict", "tag", "types", "url", "yes",
}

// variable returns the name of the environment variable that sets a flag, or "" if no variable does. No variable sets an
// optional flag, whose field is a pointer. Such a flag says what a command changes, and the environment must not add to
// these changes.
func variable(flag *kong.Flag) string {
	if slices.Contains(commandLineOnly, flag.Name) || flag.Target.Kind() == reflect.Pointer {
		return ""
	}
	return variableName(flag.Name)
}

func variableName(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// withVariable returns the help of a flag, including the name of the flag's environment variable.
func withVariable(value *kong.Value) string {
	switch {
	case value.Name == "help":
		return "Show this help."
	case value.Flag == nil || variable(value.Flag) == "":
		return value.Help
	}
	return value.Help + " ($" + variable(value.Flag) + ")"
}

// variables sets flags from the environment, except flags that the command line sets.
type variables struct {
	getenv func(string) string
	used   map[string]bool // the flags that an environment variable has set, such as --listen
}

// elsewhere has the flags that choose the database or the server that a command works on, and for each the flags that choose
// another place. If the command line has such a flag, the variables of the others do not count.
var elsewhere = map[string][]string{"database": {"server", "profile"}, "server": {"database"}, "profile": {"database"}}

// resolve returns the value of a flag's variable. An empty variable counts as not set.
func (v variables) resolve(command *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	name := variable(flag)
	if name == "" || v.getenv(name) == "" {
		return nil, nil
	}
	for _, typed := range command.Path {
		if typed.Flag != nil && slices.Contains(elsewhere[flag.Name], typed.Flag.Name) {
			return nil, nil
		}
	}
	v.used["--"+flag.Name] = true
	return v.getenv(name), nil
}

// nameVariables makes an error name the environment variable instead of the flag if the value came from the variable.
func (v variables) nameVariables(err error) error {
	return terminal.RenameFlags(err, func(flag string) string {
		if v.used[flag] {
			return variableName(strings.TrimPrefix(flag, "--"))
		}
		return flag
	})
}

var (
	// clientVariables match the environment variables for commands that call a server, and the variables for tests.
	clientVariables = regexp.MustCompile(`^PETSTORE_(API_KEY|SERVER|PROFILE|TEST_\w*)=`)
	// kubernetesVariables match the environment variables that Kubernetes sets for services whose names begin with petstore.
	kubernetesVariables = regexp.MustCompile(`^PETSTORE_(\w+_)?(SERVICE_(HOST|PORT\w*)=|PORT_\d+_|PORT=\w+://)`)
)

// unknownVariables returns a warning for each environment variable that looks like a setting but is none. The warning
// suggests the setting with the most similar name.
func unknownVariables(app *kong.Application, environ []string) (warnings []string) {
	known := map[string]bool{}
	for _, command := range app.Leaves(false) {
		for _, flag := range command.Flags {
			known[variable(flag)] = true
		}
	}
	for _, set := range environ {
		name, value, _ := strings.Cut(set, "=")
		if !strings.HasPrefix(name, variablePrefix) || value == "" || known[name] || clientVariables.MatchString(set) || kubernetesVariables.MatchString(set) {
			continue
		}
		advice := "see petstore serve --help for all settings"
		if similar := nearest(name, known); similar != "" {
			advice = "did you mean " + similar + "?"
		}
		warnings = append(warnings, fmt.Sprintf("the environment sets %s, but there is no such setting; %s", name, advice))
	}
	return warnings
}

// nearest returns the known name that a mistyped name probably stands for, or "" if there is none. The two names differ in a
// few letters, or one name has an extra word at its end.
func nearest(name string, known map[string]bool) (found string) {
	least := (len(name) - len(variablePrefix)) / 3
	for _, candidate := range slices.Sorted(maps.Keys(known)) {
		if strings.HasPrefix(name, candidate+"_") || strings.HasPrefix(candidate, name+"_") {
			return candidate
		}
		if d := distance(name, candidate); d <= least && (found == "" || d < least) {
			found, least = candidate, d
		}
	}
	return found
}

// distance returns the Levenshtein distance: the number of letters that must be added, removed or changed to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
