package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestHelpAndVersionCanBeRequestedInSeveralWays(t *testing.T) {
	t.Parallel()
	for typed, says := range map[string]string{
		"":                         "Usage: petstore <command>",
		"help":                     "Usage: petstore <command>",
		"--help":                   "Usage: petstore <command>",
		"help keys":                "Usage: petstore keys <command>",
		"keys":                     "Usage: petstore keys <command>",
		"pets":                     "Usage: petstore pets <command>",
		"help keys create":         "Usage: petstore keys create",
		"help help":                "Usage: petstore help",
		"keys create --help":       "Usage: petstore keys create",
		"--version":                "petstore " + versionName(),
		"version":                  "petstore " + versionName(),
		"serve --listen x --help":  "Usage: petstore serve",
		"help serve --environment": "",
	} {
		stdout, stderr, status := invoke(t, strings.Fields(typed)...)
		switch {
		case says == "" && status != 2:
			t.Errorf("petstore %s ended with %d", typed, status)
		case says != "" && (status != 0 || !strings.HasPrefix(stdout, says) || stderr != ""):
			t.Errorf("petstore %s ended with %d, printed\n%s%s\nwant %q", typed, status, stdout, stderr, says)
		}
	}
}

func TestAWrongCommandLinePointsToTheHelpOfItsCommand(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"sirve":                                       `unexpected argument sirve, did you mean "serve"? (see petstore --help)`,
		"help nonsense":                               `unexpected argument nonsense (see petstore --help)`,
		"pets ad x":                                   `unexpected argument ad, did you mean "add"? (see petstore pets --help)`,
		"pets edit 7":                                 `there is nothing to change; give at least one of --name, --category, --status, --breed, --sex, --born, --arrived, --description, --tag and --notes (see petstore pets edit --help)`,
		"pets edit 7 --status x":                      `--status is "x"; it must be available, pending or sold (see petstore pets edit --help)`,
		"pets list --limit 0":                         `--limit: "0" is not a whole number of at least 1 (see petstore pets list --help)`,
		"pets list --server x":                        `--server is "x"; it must be an address such as https://api.example.com (see petstore pets list --help)`,
		"pets list --profile ../x":                    `--profile is "../x"; it must be a name of letters, digits, dots, dashes and underscores, such as staging (see petstore pets list --help)`,
		"orders place 7 --hold x":                     `--hold: "x" is not a duration such as 90d, 36h or 45m (see petstore orders place --help)`,
		"orders place 7 --hold 0":                     `--hold is 0s; it must be from 1m to 30d (see petstore orders place --help)`,
		"orders place 7 --hold 31d":                   `--hold is 744h0m0s; it must be from 1m to 30d (see petstore orders place --help)`,
		"orders edit 7":                               `there is nothing to change; give at least one of --reference and --hold (see petstore orders edit --help)`,
		"orders edit 7 --hold 59s":                    `--hold is 59s; it must be from 1m to 30d (see petstore orders edit --help)`,
		"orders place 7 --hold 59s":                   `--hold is 59s; it must be from 1m to 30d (see petstore orders place --help)`,
		"orders list --pet 0":                         `--pet is 0; it must be the id of an animal, which is at least 1 (see petstore orders list --help)`,
		"pets list --server http://h?":                `--server is "http://h?"; it must be an address such as https://api.example.com (see petstore pets list --help)`,
		"keys creat":                                  `unexpected argument creat, did you mean "create"? (see petstore keys --help)`,
		"keys create":                                 `--name is missing: What the key is for, or who uses it; for a person at the desk, give --staff instead (see petstore keys create --help)`,
		"keys create --name":                          `--name has no value; write one after it (see petstore keys create --help)`,
		"keys create --name= ":                        `--name must not be empty; say what the key is for (see petstore keys create --help)`,
		"keys create --name=M\xfc":                    `--name is not valid UTF-8; set the terminal to UTF-8 and write it again (see petstore keys create --help)`,
		"pets delete 011":                             `<id> is "011"; it must be a whole number (see petstore pets delete --help)`,
		"pets show 0x10":                              `<id> is "0x10"; it must be a whole number (see petstore pets show --help)`,
		"keys create --per-day 010":                   `--per-day is "010"; it must be a whole number (see petstore keys create --help)`,
		"keys create --expires":                       `--expires has no value; write one after it (see petstore keys create --help)`,
		"keys create --expires -5h":                   `--expires is followed by -5h, which looks like a flag; if that is its value, write --expires=-5h (see petstore keys create --help)`,
		"keys create --per-day x":                     `--per-day is "x"; it must be a whole number (see petstore keys create --help)`,
		"keys create --plan x":                        `--plan is "x"; it must be free, pro, business or enterprise (see petstore keys create --help)`,
		"keys create --staff Ann --name ci":           `--staff cannot be combined with --name; the key has the name of the person (see petstore keys create --help)`,
		"keys create --staff=":                        `--staff must not be empty; say what the key is for (see petstore keys create --help)`,
		"keys create --staff Ann --base-url x":        `--base-url is "x"; it must be an address such as https://api.example.com (see petstore keys create --help)`,
		"keys create --name x --access all":           `--access is "all"; it must be read, write or admin (see petstore keys create --help)`,
		"keys list --server x":                        `--server is "x"; it must be an address such as https://api.example.com (see petstore keys list --help)`,
		"keys list --server http://h --database x":    `--database cannot be combined with --server or --profile; give one of them (see petstore keys list --help)`,
		"keys list --profile p --database x":          `--database cannot be combined with --server or --profile; give one of them (see petstore keys list --help)`,
		"keys usage --hours 0":                        `--hours is 0; it must be from 1 to 744 (see petstore keys usage --help)`,
		"keys usage --hours 745":                      `--hours is 745; it must be from 1 to 744 (see petstore keys usage --help)`,
		"keys list --json=x":                          `--json is "x"; it must be true or false (see petstore keys list --help)`,
		"keys rotate":                                 `<key> is missing: The key's id, as keys list shows it, or its name if no other usable key has it (see petstore keys rotate --help)`,
		"copy":                                        `--from is missing: The database to copy from, which a server may be using: sqlite:FILE or postgres://user:password@host/name; --to is missing: The database to copy into, in the same form. No server may have served from it yet (see petstore copy --help)`,
		"copy --from x --to y":                        `--from begins with "x"; it must be sqlite:FILE, such as sqlite:petstore.db, or postgres://user:password@host/name (see petstore copy --help)`,
		"migrate --database postgres://u:secret%@h/n": `--database: the database URL cannot be read; write it as postgres://user:password@host:port/name?sslmode=require, with special characters in the password percent-encoded (see petstore migrate --help)`,
		"completion tcsh":                             `<shell> is "tcsh"; it must be bash, zsh or fish (see petstore completion --help)`,
		"backup":                                      `<file> is missing: The new file to write, or - for standard output (see petstore backup --help)`,
		"serve --lissten :1":                          `unknown flag --lissten, did you mean "--listen"? (see petstore serve --help)`,
		"serve extra":                                 `unexpected argument extra (see petstore serve --help)`,
		"serve --listen":                              `--listen has no value; write one after it (see petstore serve --help)`,
		"serve --log-level loud":                      `--log-level is "loud"; it must be debug, info, warn or error (see petstore serve --help)`,
		"serve --log-format x":                        `--log-format is "x"; it must be auto, text or json (see petstore serve --help)`,
		"serve --shutdown-timeout 5":                  `--shutdown-timeout is "5"; it must be a duration such as 30s or 5m (see petstore serve --help)`,
		"serve --drain-delay=-1s":                     `--drain-delay is "-1s"; it must be a duration such as 30s or 5m (see petstore serve --help)`,
		"serve --body-budget x":                       `--body-budget: "x" is not a size such as 64MiB, 512KiB or 65536 (see petstore serve --help)`,
		"serve --keep-deprecated=x":                   `--keep-deprecated is "x"; it must be true or false (see petstore serve --help)`,
		"serve --base-url x":                          `--base-url is "x"; it must be an address such as https://api.example.com/v1 (see petstore serve --help)`,
		"serve --admin-listen nobody":                 `--admin-listen is "nobody"; it must be a port such as :8080 or an address such as 127.0.0.1:8080 (see petstore serve --help)`,
	} {
		args := strings.Fields(typed)
		if args[0] == "serve" { // the database of serve must not be in the folder of this test
			args = append(args, "--database=sqlite:"+filepath.Join(t.TempDir(), "pets.db"))
			if !strings.Contains(typed, "listen") {
				args = append(args, "--listen=127.0.0.1:0")
			}
		}
		if typed == "serve --listen" {
			args = []string{"serve", "--listen"}
		}
		if stdout, stderr, status := invoke(t, args...); status != 2 || stderr != want || stdout != "" {
			t.Errorf("petstore %s ended with %d and said\n%s%s\nwant\n%s", typed, status, stdout, stderr, want)
		}
	}
}

func TestErrorsAboutTheEnvironmentNameTheVariable(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	for _, c := range []struct{ variable, value, command, want string }{
		{"PETSTORE_LOG_LEVEL", "loud", "serve", `PETSTORE_LOG_LEVEL is "loud"; it must be debug, info, warn or error (see petstore serve --help)`},
		{"PETSTORE_SHUTDOWN_TIMEOUT", "5", "serve", `PETSTORE_SHUTDOWN_TIMEOUT is "5"; it must be a duration such as 30s or 5m (see petstore serve --help)`},
		{"PETSTORE_ENVIRONMENT", "test", "serve", `PETSTORE_ENVIRONMENT is "test"; it must be production or staging (see petstore serve --help)`},
		{"PETSTORE_LISTEN", "8080", "serve", `PETSTORE_LISTEN is "8080"; it must be a port such as :8080 or an address such as 127.0.0.1:8080 (see petstore serve --help)`},
		{"PETSTORE_DATABASE", "pets.db", "migrate", `PETSTORE_DATABASE begins with "pets.db"; it must be sqlite:FILE, such as sqlite:petstore.db, or postgres://user:password@host/name (see petstore migrate --help)`},
		{"PETSTORE_DATABASE", "sqlite:/nowhere/pets.db", "keys list", `there is no database /nowhere/pets.db; choose another PETSTORE_DATABASE, or let petstore serve create it`},
	} {
		args := strings.Fields(c.command)
		if c.variable != "PETSTORE_DATABASE" {
			args = append(args, "--database", database)
		}
		if _, stderr, _ := invokeWith(t, map[string]string{c.variable: c.value}, args...); stderr != c.want {
			t.Errorf("%s=%s petstore %s said\n%s\nwant\n%s", c.variable, c.value, c.command, stderr, c.want)
		}
	}
	env := map[string]string{"PETSTORE_LOG_LEVEL": "loud"}
	if _, stderr, _ := invokeWith(t, env, "serve", "--log-level", "louder"); !strings.HasPrefix(stderr, `--log-level is "louder"`) {
		t.Errorf("the error about a flag that overrides a variable is %s", stderr)
	}
}

func TestAWrongSettingIsRefusedBeforeAnythingIsOpened(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"--admin-listen=8081", "--redis=nowhere", "--base-url=x", "--api-key=short"} {
		dir := t.TempDir()
		if _, stderr, status := invoke(t, "serve", "--listen=127.0.0.1:0", "--database=sqlite:"+filepath.Join(dir, "new.db"), wrong); status != 2 {
			t.Errorf("%s ended with %d: %s", wrong, status, stderr)
		}
		if left := leftIn(t, dir); left != nil {
			t.Errorf("%s: %v was created nevertheless", wrong, left)
		}
	}
}

func TestTheEnvironmentCannotSetFlagsForASingleRun(t *testing.T) {
	t.Parallel()
	for _, command := range commandLine(t).Leaves(false) {
		for _, flag := range command.Flags {
			if !flag.IsBool() || flag.Name == "keep-deprecated" {
				continue
			}
			if variable(flag) != "" {
				t.Errorf("petstore %s takes --%s from %s", command.Path(), flag.Name, variable(flag))
			}
			if help, _, _ := invoke(t, append(strings.Fields(command.Path()), "--help")...); strings.Contains(help, "$)") || strings.Contains(help, "($PETSTORE_"+strings.ToUpper(flag.Name)+")") {
				t.Errorf("the help shows a variable for --%s:\n%s", flag.Name, help)
			}
		}
	}
	for _, command := range commandLine(t).Leaves(false) {
		if noun, _, _ := strings.Cut(command.Path(), " "); noun != "pets" && noun != "orders" && noun != "categories" && noun != "webhooks" {
			continue
		}
		for _, flag := range command.Flags {
			if name := variable(flag); name != "" && name != "PETSTORE_SERVER" && name != "PETSTORE_PROFILE" {
				t.Errorf("petstore %s takes --%s from %s", command.Path(), flag.Name, name)
			}
		}
	}
	dir := t.TempDir()
	database := "sqlite:" + filepath.Join(dir, "pets.db")
	for _, args := range [][]string{
		{"keys", "create", "--name", "shop", "--database", database},
		{"backup", filepath.Join(dir, "backup.db"), "--database", database},
	} {
		mustInvoke(t, args...)
	}
	env := map[string]string{"PETSTORE_REPLACE": "1", "PETSTORE_JSON": "1"}
	if _, stderr, status := invokeWith(t, env, "restore", filepath.Join(dir, "backup.db"), "--database", database); status != 1 {
		t.Errorf("PETSTORE_REPLACE=1 replaced a database: %s", stderr)
	}
	if stdout, _, _ := invokeWith(t, env, "keys", "list", "--database", database); !strings.HasPrefix(stdout, "ID") {
		t.Errorf("PETSTORE_JSON=1 changed what keys list prints:\n%s", stdout)
	}
}

func TestTheEnvironmentCannotChangeAKey(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	mustInvoke(t, "keys", "create", "--name", "shop", "--database", database)
	list, _, _ := invoke(t, "keys", "list", "--json", "--database", database)
	var keys []struct{ ID string }
	if err := json.Unmarshal([]byte(list), &keys); err != nil {
		t.Fatalf("%v in %s", err, list)
	}
	env := map[string]string{"PETSTORE_PLAN": "pro", "PETSTORE_ACCESS": "read", "PETSTORE_EXPIRES": "1d"}
	if _, stderr, status := invokeWith(t, env, "keys", "update", keys[0].ID, "--name", "office", "--database", database); status != 0 {
		t.Fatal(stderr)
	}
	want := strings.Replace(list, `"shop"`, `"office"`, 1)
	if got, _, _ := invoke(t, "keys", "list", "--json", "--database", database); got != want {
		t.Errorf("%v changed more than the name of the key: it is\n%s\nand was\n%s", env, got, list)
	}
}

func TestAnUnknownVariableIsReportedWithASuggestion(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"PETSTORE_LISTN=:8080":       "petstore: the environment sets PETSTORE_LISTN, but there is no such setting; did you mean PETSTORE_LISTEN?\n",
		"PETSTORE_DATABASE_URL=x":    "petstore: the environment sets PETSTORE_DATABASE_URL, but there is no such setting; did you mean PETSTORE_DATABASE?\n",
		"PETSTORE_PORT=8080":         "petstore: the environment sets PETSTORE_PORT, but there is no such setting; see petstore serve --help for all settings\n",
		"PETSTORE_NOW=1":             "petstore: the environment sets PETSTORE_NOW, but there is no such setting; see petstore serve --help for all settings\n",
		"PETSTORE_LISTEN=:8080":      "",
		"PETSTORE_PLAN=pro":          "",
		"PETSTORE_API_KEY=x":         "",
		"PETSTORE_SERVER=x":          "",
		"PETSTORE_PROFILE=x":         "",
		"PETSTORE_TEST_POSTGRES=x":   "",
		"PETSTORE_PORT=tcp://10.1.2": "",
		"PETSTORE_SERVICE_HOST=10.1": "",
		"PETSTORE_PORT_80_TCP_ADDR=": "",
		"PETSTORES=1":                "",
	} {
		command := testservice.Command(t, "version")
		command.Env = append(command.Env, set)
		var said strings.Builder
		command.Stderr = &said
		if out, err := command.Output(); err != nil || !strings.HasPrefix(string(out), "petstore ") || said.String() != want {
			t.Errorf("with %s, petstore version printed\n%s%s%v\nwant\n%s", set, out, said.String(), err, want)
		}
	}
}

// leftIn returns the names of the files in a folder, except the files of the database pets.db.
func leftIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noError(t, err)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "pets.db") {
			names = append(names, entry.Name())
		}
	}
	return names
}
