package service

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func TestTheFirstStartPrintsACommandThatWorks(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	out := s.Stdout.String()
	if s.Key == "" || !strings.Contains(out, s.URL) {
		t.Fatalf("no address and key in\n%s", out)
	}
	if strings.Count(out+s.Stderr.String(), "curl") != 1 {
		t.Errorf("the word curl does not appear exactly once in\n%s", out)
	}
	_, line, _ := strings.Cut(out, "curl ")
	line, _, _ = strings.Cut(line, "\n")
	if want := fmt.Sprintf("-H 'Authorization: Bearer %s' %s/v1/pets", s.Key, s.URL); line != want {
		t.Errorf("the command is curl %q, want %q", line, want)
	}
	if curl, err := exec.LookPath("curl"); err == nil {
		pasted, err := exec.Command("sh", "-c", curl+" -s "+line).Output()
		if err != nil || string(pasted) != "[]" {
			t.Errorf("the command prints %q, %v", pasted, err)
		}
	}
	if got := s.Ask(t, "GET", "/v1/pets", ""); got.Body != "[]" {
		t.Errorf("a new store lists %s", got.Body)
	}
}

func TestTheFirstStartSaysWhatAnAdministratorsKeyCanDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	testservice.WriteCertificate(t, certFile, keyFile, 1)
	for name, s := range map[string]*testservice.Instance{
		"HTTP":  testservice.Serve(t),
		"HTTPS": testservice.Serve(t, "--tls-cert", certFile, "--tls-key", keyFile),
	} {
		t.Run(name, func(t *testing.T) {
			out := s.Stdout.String()
			for _, part := range []string{"It is an administrator's key", "manage keys and webhooks", "Keep it safe."} {
				if !strings.Contains(out, part) {
					t.Errorf("%q is not in\n%s", part, out)
				}
			}
			line := regexp.MustCompile(`(?m)^  (.*petstore keys create .*)$`).FindStringSubmatch(out)
			if line == nil {
				t.Fatalf("no command that creates a key is in\n%s", out)
			}
			pasted := exec.Command("sh", "-c", line[1])
			pasted.Env = append(testservice.Command(t).Env, "PATH="+filepath.Dir(testservice.Build(t))+":"+os.Getenv("PATH"))
			created, err := pasted.Output()
			secret := strings.TrimSpace(string(created))
			if err != nil || testservice.PrintedKey.FindString(secret) != secret || secret == s.Key {
				t.Errorf("%s printed %q, %v", line[1], created, err)
			}
		})
	}
}

func TestAGracefulStopFinishesAcceptedRequests(t *testing.T) {
	t.Parallel()
	s := testservice.ServeRaced(t)
	body, send := io.Pipe()
	r, _ := http.NewRequest("POST", s.URL+"/v1/pets", body)
	r.Header.Set("Authorization", "Bearer "+s.Key)
	answered := make(chan testservice.Answer, 1)
	go func() {
		response, err := testservice.Client.Do(r)
		if err != nil {
			answered <- testservice.Answer{Body: err.Error()}
			return
		}
		defer response.Body.Close()
		answered <- testservice.Answer{Status: response.StatusCode}
	}()
	io.WriteString(send, `{"name":"Slow",`)
	testservice.Eventually(t, "the request is in flight", 10*time.Second, func() bool { return s.Ask(t, "GET", "/v1/pets", "").Status == 200 })
	s.Signal(syscall.SIGTERM)
	testservice.Eventually(t, "the port is closed", 10*time.Second, func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	io.WriteString(send, `"categoryId":1}`)
	send.Close()
	if got := <-answered; got.Status != http.StatusCreated {
		t.Errorf("the accepted request got %d %s", got.Status, got.Body)
	}
	<-s.Ended
	if status := s.Command.ProcessState.ExitCode(); status != 0 {
		t.Errorf("the server ended with %d:\n%s", status, s.Stderr)
	}
	if log := s.Stderr.String(); !strings.Contains(log, `"status":201`) || !strings.Contains(log, `"stopped"`) {
		t.Errorf("the log lost lines on a graceful stop:\n%s", log)
	}
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	running := testservice.Serve(t, "--database", "sqlite:"+filepath.Join(t.TempDir(), "taken.db"))
	address := strings.TrimPrefix(running.URL, "http://")
	taken := running.Command.Args[len(running.Command.Args)-1]
	notADatabase := filepath.Join(t.TempDir(), "notes.txt")
	noError(t, os.WriteFile(notADatabase, []byte(strings.Repeat("These are my notes. ", 100)), 0o644))
	staging := filepath.Join(t.TempDir(), "staging.db")
	if _, stderr, status := testservice.Run(t, "keys", "create", "--name", "x", "--environment", "staging", "--database", "sqlite:"+staging); status != 0 {
		t.Fatal(stderr)
	}
	fresh := "sqlite:" + filepath.Join(t.TempDir(), "fresh.db")

	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"a second server on one file", []string{"--database", taken}, 1, "another"},
		{"a port in use", []string{"--listen", address, "--database", fresh}, 1, "--listen"},
		{"a file that is not a database", []string{"--database", "sqlite:" + notADatabase}, 1, notADatabase},
		{"a database of the other environment", []string{"--database", "sqlite:" + staging}, 1, "staging"},
		{"an invalid proxy", []string{"--trusted-proxies", "10.0.0.0/8,home"}, 2, "home"},
		{"a key that is too short", []string{"--api-key", "short"}, 2, "16 to 128"},
		{"an invalid size", []string{"--body-budget", "64MB"}, 2, "--body-budget: \"64MB\" is not a size such as 64MiB"},
		{"a size of 0", []string{"--body-budget", "0"}, 2, "--body-budget"},
		{"a size whose eighth is smaller than a body", []string{"--body-budget", "8191KiB"}, 2, "--body-budget is too small; it must be at least 8MiB"},
		{"a size that is too large", []string{"--body-budget", "9000000000000GiB"}, 2, "--body-budget"},
		{"an invalid place for webhooks", []string{"--webhook-allow", "10.0.0.0/8, https://hooks.local"}, 2, `--webhook-allow: "https://hooks.local" must not begin with https://`},
		{"events that are kept too short", []string{"--events-keep", "59m"}, 2, "--events-keep is 59m0s; it must be a duration of at least 1h"},
		{"events that have too little room", []string{"--events-most", "1000KiB"}, 2, "--events-most is too small; it must be at least 1MiB"},
		{"a certificate without its key", []string{"--tls-cert", "cert.pem"}, 2, "--tls-key"},
		{"a missing certificate", []string{"--tls-cert", "no.pem", "--tls-key", "no.key"}, 1, "no.pem"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stderr, status := testservice.Run(t, testservice.ServeArgs(t, c.args...)...)
			if status != c.status || !strings.Contains(stderr, c.says) {
				t.Errorf("ended with %d and said %q; want %d and something about %q", status, stderr, c.status, c.says)
			}
		})
	}
	if _, err := os.Stat(strings.TrimPrefix(fresh, "sqlite:")); err == nil {
		t.Error("a server that could not listen made a database")
	}
	if text, _ := os.ReadFile(notADatabase); !strings.HasPrefix(string(text), "These are my notes.") {
		t.Error("a file that is not a database was changed")
	}
}

func TestAKeyChosenByTheOperatorWorksAndIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const secret = "a-key-of-my-own-choice"
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	for start := range 2 {
		command := testservice.Command(t, testservice.ServeArgs(t, "--database", database)...)
		command.Env = append(command.Env, "PETSTORE_API_KEY="+secret)
		s := testservice.Launch(t, command)
		s.Key = secret
		if got := s.Ask(t, "GET", "/v1/pets", ""); got.Status != http.StatusOK || got.Header.Get("X-RateLimit-Limit") != "100000000" {
			t.Errorf("start %d: the chosen key gets %d, limit %s", start, got.Status, got.Header.Get("X-RateLimit-Limit"))
		}
		if out := s.Stdout.String() + s.Stderr.String(); strings.Contains(out, secret) {
			t.Errorf("start %d printed the key:\n%s", start, out)
		} else if (start == 0) != strings.Contains(out, "$PETSTORE_API_KEY") {
			t.Errorf("start %d: only the first start prints how to use the key:\n%s", start, out)
		}
		s.Stop(t)
	}
	if listed, _, _ := testservice.Run(t, "keys", "list", "--json", "--database", database); len(testservice.Decode[[]testservice.Key](t, listed)) != 1 {
		t.Errorf("two starts made these keys: %s", listed)
	}
}

func TestLinksUnderABaseURLAreAbsolute(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"https://api.example.com/v1", "https://api.example.com/", "https://api.example.com"} {
		s := testservice.Serve(t, "--base-url", base)
		made := s.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":7}`)
		if got, want := made.Header.Get("Location"), "https://api.example.com/v1/pets/1"; got != want {
			t.Errorf("--base-url %s: Location is %q, want %q", base, got, want)
		}
		for _, path := range []string{"/openapi.yaml", "/openapi.json"} {
			if got := s.Ask(t, "GET", path, "").Body; !strings.Contains(got, `"https://api.example.com/v1"`) || strings.Contains(got, "base_url") {
				t.Errorf("--base-url %s: %s does not name this address alone", base, path)
			}
		}
	}
}

func TestTheVersionIsRemovedOnlyFromThePathOfABaseURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://v1":                     "https://v1",
		"https://v1/":                    "https://v1",
		"https://v1/v1":                  "https://v1",
		"https://api.example.com:8443/":  "https://api.example.com:8443",
		"https://api.example.com/v1/":    "https://api.example.com",
		"https://example.com/shop/v1":    "https://example.com/shop",
		"https://example.com/a%2Fb/v1":   "https://example.com/a%2Fb",
		"https://example.com/v1/pets":    "https://example.com/v1/pets",
		"https://example.com/not-the-v1": "https://example.com/not-the-v1",
		"http://[::1]:8080/v1?":          "http://[::1]:8080",
	} {
		if got, err := parseBaseURL(given); got != want || err != nil {
			t.Errorf("--base-url %s becomes %q, %v; want %q", given, got, err, want)
		}
	}
}
