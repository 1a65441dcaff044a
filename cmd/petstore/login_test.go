package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// piped runs the program as a script does, with text as its standard input and env as its environment.
func piped(t *testing.T, text string, env map[string]string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	command := testservice.Command(t, args...)
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	var out, errs strings.Builder
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(text), &out, &errs
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), command.ProcessState.ExitCode()
}

func TestLoginStoresAWorkingKeyThatOnlyItsOwnerCanRead(t *testing.T) {
	t.Parallel()
	s, home := testservice.Serve(t), t.TempDir()
	env := map[string]string{"XDG_CONFIG_HOME": home}
	if _, stderr, status := piped(t, "wrong\n", env, "login", "--server", s.URL); status != 4 || !strings.Contains(stderr, "unauthorized") {
		t.Errorf("login with a wrong key ended with %d: %s", status, stderr)
	}
	if _, stderr, status := piped(t, "", env, "login", "--server", s.URL); status != 4 || !strings.Contains(stderr, "no key was given") {
		t.Errorf("login without a key ended with %d: %s", status, stderr)
	}
	if left := leftIn(t, home); left != nil {
		t.Errorf("a login that failed left %v", left)
	}
	stdout, stderr, status := piped(t, "  "+s.Key+"\n", env, "login", "--server", s.URL+"/v1/")
	if status != 0 || stdout != "" || stderr != "Logged in to "+s.URL+" with the profile default.\n" {
		t.Fatalf("login ended with %d: %s%s", status, stdout, stderr)
	}
	dir := filepath.Join(home, "petstore", "profiles")
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "default.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %o", path, info, err, want)
		}
	}
	if files := leftIn(t, dir); len(files) != 1 {
		t.Errorf("beside the profile there is %v", files)
	}
	if _, stderr, status := invokeWith(t, env, "pets", "list"); status != 0 {
		t.Errorf("with the profile pets list ended with %d: %s", status, stderr)
	}
	if stdout, _, _ := invokeWith(t, env, "profiles", "--json"); strings.Contains(stdout, s.Key) || !strings.Contains(stdout, s.URL) {
		t.Errorf("profiles --json printed %s", stdout)
	}
	if _, stderr, status := invokeWith(t, env, "logout"); status != 0 {
		t.Errorf("logout ended with %d: %s", status, stderr)
	}
	if _, stderr, status := invokeWith(t, env, "pets", "list"); status != 4 {
		t.Errorf("after logout pets list ended with %d: %s", status, stderr)
	}
	if _, stderr, status := invokeWith(t, env, "logout"); status != 1 || !strings.Contains(stderr, "there is no profile default") {
		t.Errorf("a second logout ended with %d: %s", status, stderr)
	}
}

func TestTheKeyOfAProfileIsSentOnlyToItsServer(t *testing.T) {
	t.Parallel()
	live, staging := testservice.Serve(t), testservice.Serve(t, "--environment", "staging")
	env := map[string]string{"XDG_CONFIG_HOME": t.TempDir()}
	for name, s := range map[string]*testservice.Instance{"default": live, "staging": staging} {
		if _, stderr, status := piped(t, s.Key, env, "login", "--profile", name, "--server", s.URL); status != 0 {
			t.Fatal(stderr)
		}
	}
	staging.Ask(t, "POST", "/v1/pets", `{"name":"Test","categoryId":1}`)
	if stdout, _, _ := invokeWith(t, env, "profiles"); stdout != "default\t"+live.URL+"\tproduction\nstaging\t"+staging.URL+"\tstaging\n" {
		t.Errorf("profiles printed %q", stdout)
	}
	broken := filepath.Join(env["XDG_CONFIG_HOME"], "petstore", "profiles", "broken.json")
	noError(t, os.WriteFile(broken, []byte("{bad"), 0o600))
	if stdout, stderr, status := invokeWith(t, env, "profiles"); status != 1 || strings.Count(stdout, "\n") != 2 || !strings.Contains(stderr, "broken") {
		t.Errorf("with a broken profile, profiles ended with %d and printed %q and %q", status, stdout, stderr)
	}
	for _, c := range []struct {
		name, typed string
		env         map[string]string
		animals     int // the number of animals that the command prints, or -1 if the command fails
		says        string
	}{
		{"the profile default is used by default", "", nil, 0, ""},
		{"a flag chooses another profile", "--profile staging", nil, 1, ""},
		{"a variable chooses another profile", "", map[string]string{"PETSTORE_PROFILE": "staging"}, 1, ""},
		{"a key in the environment overrides the profile default", "", map[string]string{"PETSTORE_API_KEY": staging.Key, "PETSTORE_SERVER": staging.URL}, 1, ""},
		{"a chosen profile overrides a key in the environment", "--profile staging", map[string]string{"PETSTORE_API_KEY": live.Key}, 1, ""},
		{"a stored key is not sent to another server", "--server " + staging.URL, nil, -1, "there is no key for " + staging.URL},
		{"a chosen profile and another server contradict each other", "--profile staging --server " + live.URL, nil, -1, "give only one of the two flags"},
	} {
		t.Run(c.name, func(t *testing.T) {
			with := map[string]string{"XDG_CONFIG_HOME": env["XDG_CONFIG_HOME"]}
			for name, value := range c.env {
				with[name] = value
			}
			stdout, stderr, status := invokeWith(t, with, append([]string{"pets", "list"}, strings.Fields(c.typed)...)...)
			if (status == 0) != (c.animals >= 0) || strings.Count(stdout, "\n") != max(0, c.animals) || !strings.Contains(stderr, c.says) {
				t.Errorf("pets list %s ended with %d: %s%s", c.typed, status, stdout, stderr)
			}
		})
	}
}
