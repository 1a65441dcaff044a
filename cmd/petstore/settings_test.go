package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "rewrite what the documentation shows of the program")

// commandLine returns the model of the command line. The help and the completions come from the same model.
func commandLine(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := kong.New(&cli{}, kong.Name("petstore"))
	noError(t, err)
	return parser.Model
}

func TestTheDocumentedSettingsAreThoseOfServe(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../../docs/configuration.md", "<!-- settings, written by go test ./cmd/petstore -run Settings -update -->\n", "<!-- end of settings -->\n"
	text, err := os.ReadFile(file)
	noError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	documented, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no table between %s and %s", file, begin, end)
	}
	table := settingsTable(commandLine(t))
	switch {
	case documented == table:
	case *update:
		noError(t, os.WriteFile(file, []byte(before+begin+table+end+after), 0o644))
	default:
		t.Errorf("%s shows\n%s\nbut the flags are\n%s\ngo test ./cmd/petstore -run Settings -update mends it", file, documented, table)
	}
}

func settingsTable(app *kong.Application) string {
	var table strings.Builder
	table.WriteString("| Flag | Variable | Default | Meaning |\n|---|---|---|---|\n")
	for _, command := range app.Children {
		if command.Name != "serve" {
			continue
		}
		for _, f := range command.Flags {
			set, def := "", ""
			if name := variable(f); name != "" {
				set = "`" + name + "`"
			}
			if f.HasDefault {
				def = "`" + f.Default + "`"
			}
			fmt.Fprintf(&table, "| `--%s` | %s | %s | %s |\n", f.Name, set, def, strings.ReplaceAll(f.Help, "|", `\|`))
		}
	}
	return table.String()
}
