package clienttest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/client"
	"petstore/client/webhook"
	"petstore/internal/testservice"
)

// The test runs the receivers in docs/webhooks.md exactly as the page shows them, on the deliveries of a real server.
func TestTheReceiversInDocsWebhooksVerifyDeliveries(t *testing.T) {
	const key = "an-administrator-for-the-receivers"
	server := testservice.NewServer(t, testservice.Build(t), "--database", testservice.NewDatabase(t), "--webhook-allow", "http://127.0.0.1")
	server.Set("PETSTORE_API_KEY=" + key)
	server.Start(t)
	admin := newClient(t, server.URL, key)
	shown := blocksOf(t, "../../docs/webhooks.md")
	commands := blocksOf(t, page)["sh"]
	how := "scripts/test-services.sh installs what the tests need"
	for language, receiver := range map[string]struct {
		file    string
		command func(t *testing.T) *exec.Cmd
	}{
		"go": {"main.go", func(t *testing.T) *exec.Cmd {
			return inNewModule(t, strings.Replace(commands, "go run .", "go build -o main . && exec ./main", 1))
		}},
		"python": {"main.py", func(t *testing.T) *exec.Cmd { return exec.Command(testservice.Program(t, "python3", how), "main.py") }},
		"js":     {"main.mjs", func(t *testing.T) *exec.Cmd { return exec.Command(testservice.Program(t, "node", how), "main.mjs") }},
	} {
		t.Run(language, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "shop")
			noError(t, errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, receiver.file), []byte(shown[language]), 0o600)))
			command := receiver.command(t)
			command.Dir = folder
			receiveDeliveries(t, admin, command)
		})
	}
}

// blocksOf returns the blocks of code on a page, by their language.
func blocksOf(t *testing.T, page string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(page)
	noError(t, err)
	shown := map[string]string{}
	for _, b := range block.FindAllStringSubmatch(string(text), -1) {
		shown[b[1]] += b[2]
	}
	return shown
}

// receiveDeliveries starts a receiver, and checks which deliveries it accepts.
func receiveDeliveries(t *testing.T, admin *client.Client, receiver *exec.Cmd) {
	address := testservice.FreeAddress(t)
	url := "http://" + address + "/hook"
	hook := must(admin.CreateWebhook(t.Context(), client.NewWebhook{URL: url, Types: []client.EventType{"pet.*"}}))(t)
	t.Cleanup(func() { noError(t, admin.DeleteWebhook(t.Context(), hook.ID)) })
	lines := startReceiver(t, receiver, address, hook.Secret)

	ping := must(admin.PingWebhook(t.Context(), hook.ID))(t)
	if ping.Status < 200 || ping.Status > 299 {
		t.Fatalf("the ping got %+v", ping)
	}
	wantLine(t, lines, ping.EventID+" webhook.ping")
	forge(t, url, hook.Secret)
	pet := must(admin.CreatePet(t.Context(), client.NewPet{Name: "Zoë & <co>", CategoryID: 1}))(t)
	must(admin.UpdatePet(t.Context(), pet.ID, client.PetPatch{Status: new(client.Sold)}))(t)
	events := eventsOf(t, admin, client.EventQuery{PetID: &pet.ID})
	wantLine(t, lines, events[0].ID+" pet.created")
	wantLine(t, lines, events[1].ID+" pet.updated")

	rotated := must(admin.RotateWebhook(t.Context(), hook.ID))(t)
	if rotated.Secret == hook.Secret {
		t.Error("the rotation kept the secret")
	}
	must(admin.UpdatePet(t.Context(), pet.ID, client.PetPatch{Status: new(client.Available)}))(t)
	wantLine(t, lines, eventsOf(t, admin, client.EventQuery{PetID: &pet.ID})[2].ID+" pet.updated") // two signatures
}

// startReceiver starts a receiver and returns the lines that it prints.
func startReceiver(t *testing.T, receiver *exec.Cmd, address, secret string) <-chan string {
	t.Helper()
	_, port, _ := net.SplitHostPort(address)
	receiver.Env = append(receiver.Environ(), "PORT="+port, "WEBHOOK_SECRET="+secret)
	said := &testservice.Transcript{}
	receiver.Stderr = said
	stdout, err := receiver.StdoutPipe()
	noError(t, err)
	noError(t, receiver.Start())
	lines := make(chan string, 100)
	go func() {
		for text := bufio.NewScanner(stdout); text.Scan(); {
			lines <- text.Text()
		}
		close(lines)
	}()
	t.Cleanup(func() {
		receiver.Process.Kill()
		receiver.Wait()
		if t.Failed() {
			t.Logf("the receiver said\n%s", said)
		}
	})
	testservice.Eventually(t, "the receiver listens", time.Minute, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return lines
}

// wantLine fails the test unless the next line is want. A delivery may be repeated.
func wantLine(t *testing.T, lines <-chan string, want string) {
	t.Helper()
	select {
	case line, ok := <-lines:
		if !ok || line != want {
			t.Fatalf("the receiver printed %q, want %q", line, want)
		}
	case <-time.After(time.Minute):
		t.Fatalf("the receiver does not print %q", want)
	}
}

// forge sends deliveries that no receiver may accept.
func forge(t *testing.T, url, secret string) {
	t.Helper()
	const id, body = "evt_4f7k_1", `{"id":"evt_4f7k_1","type":"pet.created"}`
	now := time.Now()
	old, ahead := now.Add(-6*time.Minute), now.Add(6*time.Minute)
	other := "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	for name, d := range map[string]struct {
		id        string
		at        time.Time
		signature string
		body      string
	}{
		"another secret":  {id, now, webhook.Sign(other, id, now, []byte(body)), body},
		"another body":    {id, now, webhook.Sign(secret, id, now, []byte(body)), strings.Replace(body, "created", "deleted", 1)},
		"another id":      {"evt_4f7k_2", now, webhook.Sign(secret, id, now, []byte(body)), body},
		"an old one":      {id, old, webhook.Sign(secret, id, old, []byte(body)), body},
		"one of tomorrow": {id, ahead, webhook.Sign(secret, id, ahead, []byte(body)), body},
		"no signature":    {id, now, "", body},
		"an odd one":      {id, now, "v1,é v1, v2," + strings.TrimPrefix(webhook.Sign(secret, id, now, []byte(body)), "v1,"), body},
		"a long body":     {id, now, webhook.Sign(secret, id, now, []byte(body)), strings.Repeat("x", 2<<20)},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(d.body))
		noError(t, err)
		request.Header.Set(webhook.IDHeader, d.id)
		request.Header.Set(webhook.TimestampHeader, strconv.FormatInt(d.at.Unix(), 10))
		if d.signature != "" {
			request.Header.Set(webhook.SignatureHeader, d.signature)
		}
		request.Close = true // a receiver may hang up on a body that is too long
		answer, err := testservice.Client.Do(request)
		if err != nil {
			if name == "a long body" {
				continue
			}
			t.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s got %d", name, answer.StatusCode)
		}
	}
}
