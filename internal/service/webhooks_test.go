package service

import (
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"petstore/client/webhook"
	"petstore/internal/testservice"
)

// delivered is a delivery that a receiver got.
type delivered struct {
	id, body string
	header   http.Header
	seconds  int64 // when the attempt began, by the server's clock
}

// receivers is a server over TLS with one receiver for each path. It accepts every delivery, unless answer says otherwise.
type receivers struct {
	*httptest.Server
	certFile string
	answer   func(w http.ResponseWriter, r *http.Request, id string)

	mu  sync.Mutex
	got map[string][]delivered
}

func startReceivers(t *testing.T) *receivers {
	t.Helper()
	dir := t.TempDir()
	r := &receivers{certFile: filepath.Join(dir, "cert.pem"), got: make(map[string][]delivered)}
	testservice.WriteCertificate(t, r.certFile, filepath.Join(dir, "key.pem"), 1)
	cert, err := tls.LoadX509KeyPair(r.certFile, filepath.Join(dir, "key.pem"))
	noError(t, err)
	r.Server = httptest.NewUnstartedServer(r)
	r.Server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	r.Server.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func (r *receivers) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	seconds, _ := strconv.ParseInt(q.Header.Get("webhook-timestamp"), 10, 64)
	d := delivered{q.Header.Get("webhook-id"), string(body), q.Header, seconds}
	r.mu.Lock()
	r.got[q.URL.Path] = append(r.got[q.URL.Path], d)
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, q, d.id)
	}
}

// to returns what came to a path.
func (r *receivers) to(path string) []delivered {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got[path])
}

// eventsTo returns the deliveries of events that came to a path, without repetitions.
func (r *receivers) eventsTo(path string) (events []delivered) {
	seen := make(map[string]bool)
	for _, d := range r.to(path) {
		if !strings.HasPrefix(d.id, "ping_") && !seen[d.id] {
			seen[d.id] = true
			events = append(events, d)
		}
	}
	return events
}

// serve starts a server that may deliver to the receivers.
func (r *receivers) serve(t *testing.T, args ...string) *testservice.Instance {
	t.Helper()
	command := testservice.CommandRaced(t, testservice.ServeArgs(t, append(args, "--admin-listen", "127.0.0.1:0", "--webhook-allow", "127.0.0.0/8")...)...)
	command.Env = append(command.Env, "SSL_CERT_FILE="+r.certFile)
	return testservice.Launch(t, command)
}

// hook is a webhook as a client reads it.
type hook struct {
	ID, Status, Reason, Secret, Position string
	Enabled                              bool
	Behind                               int64
}

// attempted is a Delivery as a client reads it.
type attempted struct {
	ID, EventID, Error string
	Status             int
	Skipped            bool
}

func (r *receivers) addHook(t *testing.T, s *testservice.Instance, path string) hook {
	t.Helper()
	got := s.Ask(t, "POST", "/v1/webhooks", fmt.Sprintf(`{"url":%q}`, r.URL+path))
	if got.Status != http.StatusCreated {
		t.Fatalf("createWebhook: %d %s", got.Status, got.Body)
	}
	return testservice.Decode[hook](t, got.Body)
}

func getHook(t *testing.T, s *testservice.Instance, id string) hook {
	t.Helper()
	return testservice.Decode[hook](t, s.Ask(t, "GET", "/v1/webhooks/"+id, "").Body)
}

func deliveriesOf(t *testing.T, s *testservice.Instance, id string) []attempted {
	t.Helper()
	return testservice.Decode[[]attempted](t, s.Ask(t, "GET", "/v1/webhooks/"+id+"/deliveries", "").Body)
}

// feedOf returns the events of the feed as the API shows them.
func feedOf(t *testing.T, s *testservice.Instance) (events []string) {
	t.Helper()
	for path := "/v1/events?limit=1000"; ; {
		got := s.Ask(t, "GET", path, "")
		for _, e := range testservice.Decode[[]json.RawMessage](t, got.Body) {
			events = append(events, string(e))
		}
		path = testservice.NextLink.FindStringSubmatch(got.Header.Get("Link"))[1]
		if got.Header.Get("Petstore-Feed-End") == "true" {
			return events
		}
	}
}

func bodiesOf(events []delivered) (bodies []string) {
	for _, d := range events {
		bodies = append(bodies, d.body)
	}
	return bodies
}

var bothDatabases = map[string]func(*testing.T) string{"sqlite": testservice.NewDatabase, "postgres": func(t *testing.T) string { return testservice.Postgres(t) }}

func TestWebhooksGetTheExactEventsSignedAndInOrder(t *testing.T) {
	t.Parallel()
	for name, database := range bothDatabases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startReceivers(t)
			s := r.serve(t, "--database", database(t))
			made := r.addHook(t, s, "/a")
			if made.Status != "pending" {
				t.Errorf("a new webhook is %s", made.Status)
			}
			testservice.Eventually(t, "the ping is answered", time.Minute, func() bool { return getHook(t, s, made.ID).Status == "active" })
			changeEverything(t, s)
			rotated := testservice.Decode[hook](t, s.Ask(t, "POST", "/v1/webhooks/"+made.ID+"/rotate", "").Body)
			feed := feedOf(t, s)
			testservice.Eventually(t, "all events are delivered", time.Minute, func() bool { return len(r.eventsTo("/a")) >= len(feed) })
			create(t, s, "after the rotation")
			testservice.Eventually(t, "an event is signed twice", time.Minute, func() bool {
				all := r.eventsTo("/a")
				return len(strings.Fields(all[len(all)-1].header.Get("webhook-signature"))) == 2 || create(t, s, "another").ID == 0
			})
			testservice.Eventually(t, "nothing is behind", time.Minute, func() bool { return getHook(t, s, made.ID).Behind == 0 })

			if got, want := bodiesOf(r.eventsTo("/a")), feedOf(t, s); !slices.Equal(got, want) {
				t.Errorf("delivered %s\nwant %s", got, want)
			}
			all := r.to("/a")
			for _, d := range all {
				expectSigned(t, d, made.Secret)
			}
			expectSigned(t, all[len(all)-1], rotated.Secret)

			metrics := s.Scrape(t)
			if n := sampleOf(t, metrics, "petstore_events_total"); int(n) != len(feedOf(t, s)) {
				t.Errorf("the metrics count %v events", n)
			}
			if n := sampleOf(t, metrics, `petstore_webhook_deliveries_total{outcome="delivered"}`); int(n) < len(all) {
				t.Errorf("the metrics count %v deliveries of %d", n, len(all))
			}
			if sampleOf(t, metrics, `petstore_webhook_behind{webhook="`+made.ID+`"}`) != 0 || sampleOf(t, metrics, `petstore_webhooks{reason="",status="active"}`) != 1 ||
				sampleOf(t, metrics, "petstore_feed_bytes") <= 0 || sampleOf(t, metrics, "petstore_feed_unnumbered_seconds") > 30 {
				t.Error("the metrics of the feed are wrong")
			}
			if status := s.Stop(t); status != 0 {
				t.Errorf("the server ended with %d", status)
			}
		})
	}
}

// changeEverything makes changes of every kind.
func changeEverything(t *testing.T, s *testservice.Instance) {
	t.Helper()
	for i := range 20 {
		id := create(t, s, fmt.Sprint("Zoë <", i, ">")).ID
		for _, change := range [][3]string{
			{"PATCH", fmt.Sprint("/v1/pets/", id), `{"name":"Rex"}`},
			{"PATCH", fmt.Sprint("/v1/pets/", id, "/profile"), `{"breed":"Whippet","notes":"shy"}`},
			{"POST", "/v1/orders", fmt.Sprintf(`{"petId":%d,"reference":"Ann"}`, id)},
			{"PUT", fmt.Sprint("/v1/categories/", id), fmt.Sprintf(`{"name":"category %d"}`, id)},
		} {
			if got := s.Ask(t, change[0], change[1], change[2]); got.Status >= 300 {
				t.Fatalf("%s %s: %d %s", change[0], change[1], got.Status, got.Body)
			}
		}
	}
}

// expectSigned fails the test unless a delivery is signed with the secret, by our own check and by that of Standard Webhooks.
func expectSigned(t *testing.T, d delivered, secret string) {
	t.Helper()
	if err := webhook.Verify(d.header, []byte(d.body), secret); err != nil {
		t.Errorf("%s: %v", d.id, err)
	}
	standard, err := standardwebhooks.NewWebhook(secret)
	noError(t, err)
	if err := standard.Verify([]byte(d.body), d.header); err != nil {
		t.Errorf("%s: %v", d.id, err)
	}
}

func TestHostileReceiversHurtOnlyThemselves(t *testing.T) {
	t.Parallel()
	r := startReceivers(t)
	write := func(w io.Writer, piece []byte, pause time.Duration, flush func()) {
		for {
			if _, err := w.Write(piece); err != nil {
				return
			}
			flush()
			time.Sleep(pause)
		}
	}
	r.answer = func(w http.ResponseWriter, q *http.Request, _ string) {
		flush := func() { _ = http.NewResponseController(w).Flush() }
		switch q.URL.Path {
		case "/hangs":
			<-q.Context().Done()
		case "/drips":
			write(w, []byte("x"), 10*time.Millisecond, flush)
		case "/never-ends":
			write(w, make([]byte, 64<<10), 0, flush)
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			compressed := gzip.NewWriter(w)
			write(compressed, make([]byte, 1<<20), 0, flush)
		case "/redirects":
			http.Redirect(w, q, "http://169.254.169.254/latest/meta-data/", http.StatusTemporaryRedirect)
		case "/redirects-here":
			http.Redirect(w, q, "/redirected", http.StatusPermanentRedirect)
		case "/refuses":
			w.WriteHeader(http.StatusGone)
		}
	}
	s := r.serve(t)
	hooks := make(map[string]hook)
	for _, path := range []string{"/hangs", "/drips", "/never-ends", "/bomb", "/redirects", "/redirects-here", "/refuses", "/good"} {
		hooks[path] = r.addHook(t, s, path)
	}
	for i := range 100 {
		create(t, s, fmt.Sprint("animal ", i))
	}
	feed := feedOf(t, s)
	testservice.Eventually(t, "the good receiver has everything", time.Minute, func() bool { return len(r.eventsTo("/good")) == len(feed) })
	if !slices.Equal(bodiesOf(r.eventsTo("/good")), feed) {
		t.Error("the good receiver got something else than the feed")
	}
	for path, want := range map[string]string{"/redirects": "redirect_refused", "/redirects-here": "redirect_refused", "/refuses": "not_2xx"} {
		testservice.Eventually(t, path+" has a failed delivery", time.Minute, func() bool {
			all := deliveriesOf(t, s, hooks[path].ID)
			return len(all) > 0 && all[0].Error == want
		})
	}
	for _, path := range []string{"/drips", "/never-ends", "/bomb"} { // their status was 200
		testservice.Eventually(t, path+" gets events", time.Minute, func() bool { return len(r.eventsTo(path)) > 1 })
	}
	testservice.Eventually(t, "the gone receiver is disabled", time.Minute, func() bool {
		h := getHook(t, s, hooks["/refuses"].ID)
		return h.Status == "disabled" && h.Reason == "gone" && !h.Enabled
	})
	if sampleOf(t, s.Scrape(t), `petstore_webhooks{reason="gone",status="disabled"}`) != 1 {
		t.Error("the metrics do not show the disabled webhook")
	}
	if n := len(r.to("/redirected")); n != 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
	if n := len(r.to("/hangs")); n != 1 {
		t.Errorf("%d requests are under way to a receiver that hangs", n)
	}
	if used := sampleOf(t, s.Scrape(t), "process_resident_memory_bytes"); used > 1<<30 {
		t.Errorf("the server uses %v bytes", used)
	}
}

func TestAddressesOfWebhooksAreChecked(t *testing.T) {
	t.Parallel()
	r := startReceivers(t)
	s := r.serve(t)
	guarded := testservice.Serve(t) // without --webhook-allow
	for _, url := range []string{
		"http://example.com/", "https://127.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/", "https://example.com:22/", "https://0x7f000001/",
	} {
		if got := guarded.Ask(t, "POST", "/v1/webhooks", fmt.Sprintf(`{"url":%q}`, url)); got.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", url, got.Status, got.Body)
		}
	}
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	for _, test := range []struct {
		s         *testservice.Instance
		url, want string
	}{
		{guarded, "https://localhost/", "address_refused"}, // what only the look-up tells
		{s, untrusted.URL, "tls_failed"},
	} {
		made := test.s.Ask(t, "POST", "/v1/webhooks", fmt.Sprintf(`{"url":%q}`, test.url))
		h := testservice.Decode[hook](t, made.Body)
		if made.Status != http.StatusCreated {
			t.Errorf("%s: %d %s", test.url, made.Status, made.Body)
			continue
		}
		ping := testservice.Decode[attempted](t, test.s.Ask(t, "POST", "/v1/webhooks/"+h.ID+"/ping", "").Body)
		if ping.Error != test.want || ping.Status != 0 {
			t.Errorf("%s: the ping says %+v", test.url, ping)
		}
	}
}

func TestAReceiverThatIsAwayLosesNothing(t *testing.T) {
	t.Parallel()
	r := startReceivers(t)
	isBack := make(chan struct{})
	r.answer = func(w http.ResponseWriter, _ *http.Request, id string) {
		select {
		case <-isBack:
		default:
			if !strings.HasPrefix(id, "ping_") {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}
	}
	s := r.serve(t)
	made := r.addHook(t, s, "/a")
	for i := range 300 {
		create(t, s, fmt.Sprint("animal ", i))
	}
	testservice.Eventually(t, "the webhook fails", time.Minute, func() bool { return getHook(t, s, made.ID).Status == "failing" })
	if h := getHook(t, s, made.ID); h.Behind != 300 {
		t.Errorf("the webhook is %d events behind", h.Behind)
	}
	close(isBack)
	testservice.Eventually(t, "the webhook has caught up", time.Minute, func() bool { return getHook(t, s, made.ID).Behind == 0 })
	if !slices.Equal(bodiesOf(r.eventsTo("/a")), feedOf(t, s)) {
		t.Error("the receiver got something else than the feed")
	}
}

func TestKilledServersSkipNothingAndRepeatASecondAtMost(t *testing.T) {
	t.Parallel()
	for name, replicas := range map[string]int{"sqlite": 1, "postgres": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := bothDatabases[name](t)
			r := startReceivers(t)
			key := newKey(t, database, "--access", "admin", "--plan", "enterprise", "--per-minute", "1000000000", "--per-day", "1000000000")
			start := func() *testservice.Instance {
				s := r.serve(t, "--database", database, "--api-key", "")
				s.Key = key
				return s
			}
			servers := []*testservice.Instance{start()}
			paths := []string{"/a", "/b", "/c", "/d"}
			for _, path := range paths {
				r.addHook(t, servers[0], path)
				testservice.Eventually(t, "the first server pings", time.Minute, func() bool { return len(r.to(path)) > 0 })
			}
			for len(servers) < replicas {
				servers = append(servers, start())
			}
			last := servers[replicas-1]
			for i := range 600 {
				create(t, servers[i%len(servers)], fmt.Sprint("animal ", i))
				if i == 300 { // in the middle of deliveries
					testservice.Eventually(t, "deliveries are under way", time.Minute, func() bool { return len(r.eventsTo("/a")) > 50 })
					for _, s := range servers[:max(1, replicas-1)] {
						s.Kill()
					}
					if replicas == 1 {
						last = start()
					}
					servers = []*testservice.Instance{last}
				}
			}
			feed := feedOf(t, last)
			for _, path := range paths {
				testservice.Eventually(t, path+" has everything", 3*time.Minute, func() bool { return len(r.eventsTo(path)) >= len(feed) })
				if !slices.Equal(bodiesOf(r.eventsTo(path)), feed) {
					t.Errorf("%s got other events than the feed has, or in another order", path)
				}
				expectShortRepeat(t, path, r.to(path))
			}
		})
	}
}

// expectShortRepeat fails the test if the attempts whose events came twice began over more than a second. The clock of the
// attempts has whole seconds, and an attempt takes time.
func expectShortRepeat(t *testing.T, path string, all []delivered) {
	t.Helper()
	first := make(map[string]int64)
	var repeated []int64
	for _, d := range all {
		if at, seen := first[d.id]; seen {
			repeated = append(repeated, at)
		} else {
			first[d.id] = d.seconds
		}
	}
	if len(repeated) == 0 {
		return
	}
	if span := slices.Max(repeated) - slices.Min(repeated); span > 3 {
		t.Errorf("%s: events of %d seconds were repeated", path, span)
	}
	t.Logf("%s: %d of %d deliveries were repeated", path, len(repeated), len(all))
}
