package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// helpOf returns the help of a command, with its line breaks and indentation turned into single spaces.
func helpOf(t *testing.T, command string) string {
	t.Helper()
	help, stderr, status := invoke(t, append(strings.Fields(command), "--help")...)
	if status != 0 {
		t.Fatalf("petstore %s --help: %s", command, stderr)
	}
	return strings.Join(strings.Fields(help), " ")
}

func TestTheHelpOfImportAndExportNamesAServerAsTheDefault(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"import": "Add the animals straight to this database instead of through a server:",
		"export": "Read the animals straight from this database instead of through a server:",
	} {
		if help := helpOf(t, command); !strings.Contains(help, want) || strings.Contains(help, "sqlite:petstore.db") {
			t.Errorf("petstore %s --help says\n%s", command, help)
		}
	}
}

func TestOnlyTheHelpOfServeShowsRedis(t *testing.T) {
	t.Parallel()
	for _, command := range commandLine(t).Leaves(true) {
		name := aliases.ReplaceAllString(command.Path(), "")
		if shown := strings.Contains(helpOf(t, name), "--redis"); shown != (name == "serve") {
			t.Errorf("petstore %s --help shows --redis: %v", name, shown)
		}
	}
}

// Scripts pass the same flags, and containers the same variables, to every command that opens a database.
func TestCommandsOnADatabaseAcceptTheRedisOfTheServer(t *testing.T) {
	t.Parallel()
	var accepting []string
	for _, command := range commandLine(t).Leaves(true) {
		for _, flag := range command.Flags {
			if flag.Name == "redis" {
				accepting = append(accepting, aliases.ReplaceAllString(command.Path(), ""))
			}
		}
	}
	slices.Sort(accepting)
	want := "backup, copy, events reset, export, import, keys create, keys list, keys revoke, keys rotate, keys show, keys unban, keys update, keys usage, migrate, restore, serve"
	if got := strings.Join(accepting, ", "); got != want {
		t.Errorf("--redis is accepted by %s", got)
	}
	database := "sqlite:" + t.TempDir() + "/pets.db"
	for _, args := range [][]string{
		{"keys", "create", "--name", "shop", "--redis", "redis://cache", "--database", database},
		{"keys", "list", "--redis", "redis://cache", "--database", database},
		{"export", "--redis", "redis://cache", "--database", database},
	} {
		if _, stderr, status := invoke(t, args...); status != 0 {
			t.Errorf("petstore %q: %s", args, stderr)
		}
		if _, stderr, status := invokeWith(t, map[string]string{"PETSTORE_REDIS": "redis://cache"}, "keys", "list", "--database", database); status != 0 {
			t.Error(stderr)
		}
	}
}

func TestTheHelpGroupsTheCommandsByWhatTheyWorkOn(t *testing.T) {
	t.Parallel()
	help, _, _ := invoke(t, "help")
	section := regexp.MustCompile(`(?m)^([A-Z].*):\n((?:  .*\n)+)`)
	command := regexp.MustCompile(`(?m)^  ([a-z]+)(?: .*)?$`)
	got := map[string]string{}
	for _, found := range section.FindAllStringSubmatch(help, -1) {
		var names []string
		for _, name := range command.FindAllStringSubmatch(found[2], -1) {
			names = append(names, name[1])
		}
		got[found[1]] = strings.Join(names, " ")
	}
	for title, want := range map[string]string{
		"Run a server":          "serve demo healthcheck",
		"Administer a database": "keys backup restore copy migrate",
		"Call a server":         "login logout profiles pets orders categories inventory events listen webhooks api open import export",
		"Other commands":        "version completion help",
	} {
		if got[title] != want {
			t.Errorf("under %q the help lists %q, want %q\n%s", title, got[title], want, help)
		}
	}
	for _, group := range []string{"keys", "pets"} {
		if help, _, _ := invoke(t, group); !strings.Contains(help, "\nCommands:\n") || strings.Contains(help, "a database:\n") || strings.Contains(help, "a server:\n") {
			t.Errorf("petstore %s shows\n%s", group, help)
		}
	}
}
