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

// variablePrefix begins the name of every variable that is a setting.
const variablePrefix = "PETSTORE_"

// forOneRun are flags that a person gives for one run. The environment cannot set them.
var forOneRun = []string{
	"all", "bad-lines", "category", "check", "dry-run", "format", "help", "hold", "json", "label", "limit", "name", "now", "output", "pet",
	"reference", "replace", "status", "strict", "yes",
}

// variable is the name of the environment variable that sets a flag, or empty if none does. A flag that may be left out
// is part of a change, which is what was asked for and no more.
func variable(flag *kong.Flag) string {
	if slices.Contains(forOneRun, flag.Name) || flag.Target.Kind() == reflect.Pointer {
		return ""
	}
	return variableName(flag.Name)
}

func variableName(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// withVariable is the help of a flag, with the name of its environment variable.
func withVariable(value *kong.Value) string {
	switch {
	case value.Name == "help":
		return "Show this help."
	case value.Flag == nil || variable(value.Flag) == "":
		return value.Help
	}
	return value.Help + " ($" + variable(value.Flag) + ")"
}

// variables sets flags that are not given from the environment.
type variables struct {
	getenv func(string) string
	used   map[string]bool // the flags that a variable has set, such as --listen
}

// resolve looks up the variable of a flag. An empty variable counts as not set.
func (v variables) resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	name := variable(flag)
	if name == "" || v.getenv(name) == "" {
		return nil, nil
	}
	v.used["--"+flag.Name] = true
	return v.getenv(name), nil
}

// blame makes an error name the variable instead of the flag, if the value came from the environment.
func (v variables) blame(err error) error {
	return terminal.RenameFlags(err, func(flag string) string {
		if v.used[flag] {
			return variableName(strings.TrimPrefix(flag, "--"))
		}
		return flag
	})
}

var (
	// clientVariables are settings of the program as a client, and of its tests.
	clientVariables = regexp.MustCompile(`^PETSTORE_(API_KEY|SERVER|PROFILE|TEST_\w*)=`)
	// serviceVariables are variables that Kubernetes sets for services whose names begin with petstore.
	serviceVariables = regexp.MustCompile(`^PETSTORE_(\w+_)?(SERVICE_(HOST|PORT\w*)=|PORT_\d+_|PORT=\w+://)`)
)

// strangers warns of each variable that looks like a setting but is not one, and names the most similar setting.
func strangers(app *kong.Application, environ []string) (warnings []string) {
	known := map[string]bool{}
	for _, command := range app.Leaves(false) {
		for _, flag := range command.Flags {
			known[variable(flag)] = true
		}
	}
	for _, set := range environ {
		name, value, _ := strings.Cut(set, "=")
		if !strings.HasPrefix(name, variablePrefix) || value == "" || known[name] || clientVariables.MatchString(set) || serviceVariables.MatchString(set) {
			continue
		}
		advice := "petstore serve --help shows all settings"
		if meant := nearest(name, known); meant != "" {
			advice = "did you mean " + meant + "?"
		}
		warnings = append(warnings, fmt.Sprintf("%s is set and no setting has that name; %s", name, advice))
	}
	return warnings
}

// nearest is the known name that a mistyped name probably stands for, if there is one: they differ in few letters, or one
// has an extra word at its end.
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

// distance is how many letters must be added, removed or changed to turn one name into the other.
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
