package main

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"petstore/client/webhook"
	"petstore/internal/testservice"
)

// hookReceiver is a receiver of webhooks on this machine. It verifies deliveries with the secret that the test sets.
type hookReceiver struct {
	*httptest.Server
	secret atomic.Pointer[string]
	status atomic.Int64 // of the answers
	bodies chan string
}

func newHookReceiver(t *testing.T) *hookReceiver {
	t.Helper()
	r := &hookReceiver{bodies: make(chan string, 100)}
	r.status.Store(http.StatusOK)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if secret := r.secret.Load(); secret != nil {
			body, err := webhook.Read(req, *secret)
			if err != nil {
				t.Errorf("the receiver got a delivery that it cannot verify: %v", err)
			}
			r.bodies <- string(body)
		}
		w.WriteHeader(int(r.status.Load()))
	}))
	t.Cleanup(r.Close)
	return r
}

// newHookUser is like newRemoteUser, but its server may deliver to this machine.
func newHookUser(t *testing.T) remoteUser {
	t.Helper()
	s := testservice.Serve(t, "--webhook-allow", "http://127.0.0.1")
	return remoteUser{s, map[string]string{"PETSTORE_SERVER": s.URL, "PETSTORE_API_KEY": s.Key, "XDG_CONFIG_HOME": t.TempDir()}}
}

var hookID = regexp.MustCompile(`wh_[0-9a-f]+`)

func TestWebhooksAreManagedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	user, receiver := newHookUser(t), newHookReceiver(t)
	secret, said, status := invokeWith(t, user.env, "webhooks", "create", receiver.URL, "--types", "order.*,pet.created", "--description", "the shop")
	id := hookID.FindString(said)
	if secret = strings.TrimSuffix(secret, "\n"); status != 0 || webhook.CheckSecret(secret) != nil || id == "" || strings.Contains(said, secret) {
		t.Fatalf("webhooks create ended with %d, printed %q and said %q", status, secret, said)
	}
	receiver.secret.Store(&secret)
	if row := strings.Split(user.does(t, "webhooks", "ping", id), "\t"); len(row) != 6 || !strings.HasPrefix(row[1], "ping_") || row[2] != "200" || !strings.HasSuffix(row[3], " ms") || row[4] != "" {
		t.Errorf("webhooks ping shows %q", row)
	}
	want := id + "\t" + receiver.URL + "\torder.*,pet.created\tactive\t\t0\tthe shop\n"
	if shown, listed := user.does(t, "webhooks", "show", id), user.does(t, "webhooks", "list"); shown != want || listed != want {
		t.Errorf("webhooks show prints %q and webhooks list %q, want %q", shown, listed, want)
	}
	if shown, sent := user.does(t, "webhooks", "show", id, "--json"), user.Ask(t, "GET", "/v1/webhooks/"+id, "").Body; !sameObject(t, shown, sent) {
		t.Errorf("webhooks show --json prints\n%s\nthe API sends\n%s", shown, sent)
	}
	user.does(t, "pets", "add", "Rex", "--category", "1")
	for {
		if body := <-receiver.bodies; strings.Contains(body, `"type":"pet.created"`) {
			break // pings came first
		}
	}
	testservice.Eventually(t, "the delivery is listed", time.Minute, func() bool { return strings.Contains(user.does(t, "webhooks", "deliveries", id), "\tevt_") })
	if listed, sent := user.does(t, "webhooks", "deliveries", id, "--json"), user.Ask(t, "GET", "/v1/webhooks/"+id+"/deliveries", "").Body; !sameObject(t, `{"all":`+listed+`}`, `{"all":`+sent+`}`) {
		t.Errorf("webhooks deliveries --json prints\n%s\nthe API sends\n%s", listed, sent)
	}

	rotated := strings.TrimSuffix(user.does(t, "webhooks", "rotate", id), "\n")
	if webhook.CheckSecret(rotated) != nil || rotated == secret {
		t.Errorf("webhooks rotate printed %q", rotated)
	}
	for _, step := range []struct{ flags, want string }{
		{"--types pet.*,category.*", "pet.*,category.*\tactive\t"},
		{"--disable", "pet.*,category.*\tdisabled\t"},
		{"--enable --position now", "pet.*,category.*\tactive\t\t0\tthe shop"},
		{"--description=", "pet.*,category.*\tactive\t\t0\t\n"},
	} {
		if got := user.does(t, append([]string{"webhooks", "edit", id}, strings.Fields(step.flags)...)...); !strings.Contains(got, "\t"+step.want) {
			t.Errorf("webhooks edit %s shows %q, want %q", step.flags, got, step.want)
		}
	}
	user.does(t, "webhooks", "delete", id, "--yes")
	if left := user.does(t, "webhooks", "list", "--json"); left != "[]\n" {
		t.Errorf("after the deletion there is %s", left)
	}
}

// sameObject reports whether two JSON objects are equal.
func sameObject(t *testing.T, a, b string) bool {
	t.Helper()
	return reflect.DeepEqual(testservice.Decode[map[string]any](t, a), testservice.Decode[map[string]any](t, b))
}

func TestAPingThatFailsEndsWithTheReason(t *testing.T) {
	t.Parallel()
	user, receiver := newHookUser(t), newHookReceiver(t)
	receiver.status.Store(http.StatusTeapot)
	_, said, _ := invokeWith(t, user.env, "webhooks", "create", receiver.URL)
	id := hookID.FindString(said)
	shown, said, status := invokeWith(t, user.env, "webhooks", "ping", id)
	if status != 1 || !strings.Contains(shown, "\t418\t") || !strings.Contains(said, "the receiver did not answer the ping with 2xx") {
		t.Errorf("a ping that is answered 418 ended with %d, %q and %q", status, shown, said)
	}
	receiver.Close()
	shown, said, status = invokeWith(t, user.env, "webhooks", "ping", id, "--json")
	if status != 1 || strings.Contains(shown, `"status"`) || !strings.Contains(said, "the receiver did not answer the ping with 2xx") {
		t.Errorf("a ping that is not answered ended with %d, %q and %q", status, shown, said)
	}
}

func TestCommandsOnWebhooksRefuseWhatTheyCannotDo(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	for want, typed := range map[string]string{
		"there is nothing to change": "webhooks edit wh_1",
		"--yes is missing":           "webhooks delete wh_1",
		"--enable and --disable":     "webhooks edit wh_1 --enable --disable",
		"404 not_found":              "webhooks show wh_1",
		"400 invalid_field":          "webhooks create ftp://shop.example",
	} {
		if _, stderr, status := invokeWith(t, user.env, strings.Fields(typed)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("petstore %s ended with %d: %s", typed, status, stderr)
		}
	}
}
