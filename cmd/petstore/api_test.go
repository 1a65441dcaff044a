package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestARawCallPrintsTheAnswer(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	body := writeFile(t, "body.json", `{"name":"Rex","categoryId":1}`)
	const rex = `{"id":1,"name":"Rex","categoryId":1,"status":"available"}`
	for _, c := range []struct {
		args   []string
		status int
		stdout string // the beginning of the output
		stderr string
	}{
		{[]string{"POST", "/pets", "--input", body, "--header", "Idempotency-Key: one"}, 0, rex, ""},
		{[]string{"post", "pets", "--input", body, "-H", "Idempotency-Key: one"}, 0, rex, ""},
		{[]string{"GET", "/v1/pets?limit=5"}, 0, "[" + rex + "]", ""},
		{[]string{"PATCH", "/pets/1", "--input", writeFile(t, "patch.json", `{"name":"Tom"}`), "-H", "content-type: application/merge-patch+json"}, 0, strings.Replace(rex, "Rex", "Tom", 1), ""},
		{[]string{"-i", "HEAD", "/inventory"}, 0, "HTTP/1.1 200 OK\n", ""},
		{[]string{"GET", "/pets/7"}, 1, `{"code":"not_found"`, "the server answered 404 Not Found"},
		{[]string{"POST", "/pets", "--input", body, "-H", "Content-Type: text/plain"}, 1, `{"code":"unsupported_media_type"`, "415"},
		{[]string{"GET", user.URL + "/v1/pets"}, 2, "", "must be a path"},
		{[]string{"GE T", "/pets"}, 2, "", "no request can be made"},
		{[]string{"GET", "/pets", "-H", "nonsense"}, 2, "", "--header is \"nonsense\"; it must be"},
		{[]string{"POST", "/pets", "--input", filepath.Join(t.TempDir(), "none")}, 1, "", "no such file"},
	} {
		stdout, stderr, status := invokeWith(t, user.env, append([]string{"api"}, c.args...)...)
		if status != c.status || !strings.HasPrefix(stdout, c.stdout) || (c.stdout == "") != (stdout == "") || !strings.Contains(stderr, c.stderr) || (c.stderr == "") != (stderr == "") {
			t.Errorf("petstore api %q ended with %d and printed %s\n%s", c.args, status, stdout, stderr)
		}
	}
	if n := len(user.EveryPet(t)); n != 1 {
		t.Errorf("there are %d animals", n)
	}
	user.env["PETSTORE_API_KEY"] = secretKey
	if stdout, stderr, status := invokeWith(t, user.env, "api", "GET", "/pets"); status != 4 || !strings.HasPrefix(stdout, `{"code":"unauthorized"`) {
		t.Errorf("with a wrong key, petstore api ended with %d and printed %s\n%s", status, stdout, stderr)
	}
}

func TestARawCallReadsTheBodyFromStandardInput(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	command := testservice.Command(t, "api", "POST", "/pets", "--input", "-")
	command.Env = append(command.Env, "PETSTORE_SERVER="+s.URL, "PETSTORE_API_KEY="+s.Key)
	command.Stdin = strings.NewReader(`{"name":"Rex","categoryId":1}`)
	if out, err := command.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), `{"id":1,"name":"Rex"`) {
		t.Errorf("petstore api: %v, %s", err, out)
	}
}

// A server may send redirects or any characters. The key of a profile belongs only to the server of that profile.
func TestARawCallSendsTheKeyOnlyToItsServer(t *testing.T) {
	t.Parallel()
	var strangers []string
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		strangers = append(strangers, r.URL.String())
	}))
	defer stranger.Close()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.RequestURI+" "+r.Header.Get("Authorization"))
		http.Redirect(w, r, stranger.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	config := t.TempDir()
	folder := filepath.Join(config, "petstore", "profiles")
	noError(t, os.MkdirAll(folder, 0o700))
	noError(t, os.WriteFile(filepath.Join(folder, "shop.json"), []byte(`{"server":"`+server.URL+`/shop","key":"`+secretKey+`"}`), 0o600))
	host := strings.TrimPrefix(stranger.URL, "http://")
	for _, path := range []string{"/pets", "//" + host, "@" + host, "..@" + host} {
		_, stderr, status := invokeWith(t, map[string]string{"XDG_CONFIG_HOME": config}, "api", "--profile", "shop", "-H", "Authorization: Bearer other", "GET", path)
		if status != 1 || !strings.Contains(stderr, "the server answered 307") {
			t.Errorf("petstore api GET %s ended with %d: %s", path, status, stderr)
		}
	}
	if len(strangers) > 0 {
		t.Errorf("another server got %q", strangers)
	}
	if len(asked) != 4 || asked[0] != "/shop/v1/pets Bearer "+secretKey {
		t.Errorf("the server of the profile got %q", asked)
	}
}
