package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// Error messages end up in logs and tickets, so they must not repeat anything that may be part of a password.
func TestRefusalsOfSettingsRepeatNoPasswords(t *testing.T) {
	t.Parallel()
	const password = "hush-4711"
	cases := []struct {
		name, flag, value string
	}{
		{"a database that cannot be reached", "--database", "postgres://u:hush-4711@127.0.0.1:1/db"},
		{"a database password with a slash", "--database", "postgres://u:hush-4711/x@127.0.0.1:1/db"},
		{"a database password with a slash behind digits", "--database", "postgres://u:4711/hush-4711@127.0.0.1:1/db"},
		{"a database password with a question mark", "--database", "postgres://u:4711?hush-4711@127.0.0.1:1/db"},
		{"a database password with a number sign", "--database", "postgres://u:4711#hush-4711@127.0.0.1:1/db"},
		{"a database password with an at sign", "--database", "postgres://u:4711@hush-4711@127.0.0.1:1/db"},
		{"a database password with a percent sign", "--database", "postgres://u:hush-4711%zz@127.0.0.1:1/db"},
		{"a database of keyword/value pairs", "--database", "host=127.0.0.1 password=hush-4711"},
		{"a database without a scheme", "--database", "hush-4711@127.0.0.1:5432"},
		{"a database of another kind", "--database", "mysql://u:hush-4711@127.0.0.1/db"},
		{"a Redis that cannot be reached", "--redis", "redis://u:hush-4711@127.0.0.1:1"},
		{"a Redis password with a slash", "--redis", "redis://u:hush-4711/x@127.0.0.1:1"},
		{"a Redis password with a slash behind digits", "--redis", "redis://:4711/hush-4711@127.0.0.1:1"},
		{"a Redis password with two slashes", "--redis", "redis://:4711/hush-4711/x@127.0.0.1:1"},
		{"a Redis password with a question mark", "--redis", "redis://u:4711?hush-4711@127.0.0.1:1"},
		{"a Redis password with a number sign", "--redis", "redis://u:4711#hush-4711@127.0.0.1:1"},
		{"a Redis password with an at sign", "--redis", "redis://:4711@hush-4711@127.0.0.1:1"},
		{"a Redis password with a percent sign", "--redis", "redis://u:hush-4711%zz@127.0.0.1:1"},
		{"a Redis without a scheme", "--redis", "u:hush-4711@127.0.0.1:6379"},
		{"a base URL with a password", "--base-url", "https://u:hush-4711@api.example.com"},
		{"an invalid key", "--api-key", "hush-4711 and more"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"serve", "--check", "--database", "sqlite:" + t.TempDir() + "/pets.db"}
			if c.flag == "--database" {
				args = args[:2]
			}
			stdout, stderr, status := invoke(t, append(args, c.flag, c.value)...)
			if status == 0 || strings.Contains(stdout+stderr, password) || strings.Contains(stdout+stderr, ":4711") {
				t.Errorf("it ended with %d and said %s%s", status, stdout, stderr)
			}
		})
	}
	t.Run("a server with a password", func(t *testing.T) {
		t.Parallel()
		if _, stderr, status := invoke(t, "pets", "list", "--server", "https://u:hush-4711@api.example.com"); status != 2 || strings.Contains(stderr, password) {
			t.Errorf("it ended with %d and said %s", status, stderr)
		}
	})
	t.Run("the help, which shows defaults", func(t *testing.T) {
		t.Parallel()
		env := map[string]string{"PETSTORE_DATABASE": "postgres://u:hush-4711@127.0.0.1:1/db", "PETSTORE_REDIS": "redis://u:hush-4711@127.0.0.1:1", "PETSTORE_API_KEY": "hush-4711-hush-4711"}
		if stdout, stderr, status := invokeWith(t, env, "serve", "--help"); status != 0 || strings.Contains(stdout+stderr, password) {
			t.Errorf("it ended with %d and said %s%s", status, stdout, stderr)
		}
	})
}

// If a script passes a key in the wrong place, the error message ends up in a log, so the message must not contain the key.
func TestAKeyGivenAsAnArgumentIsNotRepeated(t *testing.T) {
	t.Parallel()
	key := petstore.NewSecret(petstore.Production)
	for _, args := range [][]string{{"login", key}, {"pets", key}, {"pets", "show", key}, {"keys", "revoke", key}, {"serve", "--" + key}, {"serve", "--listen", key}, {"login", "--profile", key + "/"}} {
		command := testservice.Command(t, args...)
		command.Dir = t.TempDir()
		if out, err := command.CombinedOutput(); err == nil || strings.Contains(string(out), key) {
			t.Errorf("petstore %s: %v\n%s", args[0], err, out)
		}
	}
}

// When the OpenTelemetry library cannot parse a setting, its error contains the value of the setting.
func TestErrorsAboutTraceSettingsDoNotShowTheirValues(t *testing.T) {
	t.Parallel()
	command := testservice.Command(t, testservice.ServeArgs(t)...)
	command.Env = append(command.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://u:hush-4711/x@127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS=Bearer hush-4711")
	s := testservice.Launch(t, command)
	s.Stop(t)
	log := s.Stderr.String()
	if strings.Contains(log, "hush-4711") || !strings.Contains(log, "OTEL_") {
		t.Errorf("the log has\n%s", log)
	}
}

func TestADatabaseAndItsBackupHoldNoKeys(t *testing.T) {
	t.Parallel()
	const named = "hush-of-the-operator"
	folder := t.TempDir()
	database := "sqlite:" + filepath.Join(folder, "pets.db")
	first := testservice.Serve(t, "--database", database)
	first.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
	first.Stop(t)
	second := testservice.Serve(t, "--database", database, "--api-key", named)
	second.Key = named
	second.Ask(t, "POST", "/v1/pets", `{"name":"Bello","categoryId":1}`)
	made, _, _ := invoke(t, "keys", "create", "--name", "shop", "--database", database)
	mustInvoke(t, "backup", filepath.Join(folder, "backup.db"), "--database", database)
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	noError(t, err)
	everything := []byte{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		noError(t, err)
		everything = append(everything, text...)
	}
	for _, key := range []string{first.Key, named, strings.TrimSpace(made)} {
		if key == "" || bytes.Contains(everything, []byte(key)) {
			t.Errorf("the key %q is stored", key)
		}
	}
	if !bytes.Contains(everything, []byte("Bello")) {
		t.Error("this test proves nothing: the animals were not found either")
	}
}
