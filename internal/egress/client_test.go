package egress

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// receive starts a receiver on an address of this machine, and returns its port.
func receive(t *testing.T, addr string, port uint16, handler http.HandlerFunc) uint16 {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(addr, strconv.Itoa(int(port))))
	if err != nil {
		t.Fatalf("the receiver needs %s, which every Linux has: %v", addr, err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return netip.MustParseAddrPort(listener.Addr().String()).Port()
}

func guardOf(t *testing.T, resolver *net.Resolver, allow ...string) *Guard {
	t.Helper()
	guard, err := New(allow)
	if err != nil {
		t.Fatal(err)
	}
	guard.Resolver = resolver
	return guard
}

func post(guard *Guard, url string) (int, http.Header, error) {
	client := guard.Client()
	defer client.Close()
	return client.Post(context.Background(), url, http.Header{}, []byte("{}"))
}

// mustNot returns a handler that fails the test if it is called.
func mustNot(t *testing.T) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a request came to %s", r.Host) }
}

func ok(http.ResponseWriter, *http.Request) {}

func TestEveryFormOfAForbiddenAddressIsRefusedAtTheConnection(t *testing.T) {
	names := &nameServer{answers: map[string][][]string{
		"inside.test": {{"127.0.0.1"}}, "0x7f000001": {{"127.0.0.1"}}, "metadata.test": {{"169.254.169.254"}},
	}}
	guard := guardOf(t, names.resolver(t))
	for _, host := range []string{
		"127.0.0.1", "inside.test", "0x7f000001", "169.254.169.254", "metadata.test",
		"[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
		"[2001::1]", "[fe80::1%25lo]", "[fd00:ec2::254]", "[ff02::1]", "0.0.0.0", "[::]",
	} {
		_, _, err := post(guard, "https://"+host+"/")
		if !errors.Is(err, ErrRefused) || Reason(err) != "address_refused" {
			t.Errorf("%s: got %v, %s", host, err, Reason(err))
		}
	}
	for _, host := range []string{"2130706433", "127.1", "0177.0.0.1"} { // Go's resolver does not even look these up
		if _, _, err := post(guard, "https://"+host+"/"); err == nil || Reason(err) == "connect_failed" {
			t.Errorf("%s: got %v", host, err)
		}
	}
}

func TestPortsAndPlainHTTPAreCheckedAtTheConnection(t *testing.T) {
	names := &nameServer{answers: map[string][][]string{"public.test": {{"93.184.215.14"}}}}
	for _, test := range []struct{ allow, url string }{
		{"10.0.0.0/8", "https://public.test:22/"},
		{"http://10.0.0.0/8", "http://public.test/"},
		{"10.0.0.0/8", "http://10.0.0.1/"},
		{"10.0.0.0/8:22", "https://10.0.0.1/"},
	} {
		if _, _, err := post(guardOf(t, names.resolver(t), test.allow), test.url); !errors.Is(err, ErrRefused) {
			t.Errorf("%s with %s: %v", test.url, test.allow, err)
		}
	}
}

func TestOfTwoAddressesOnlyTheAllowedOneIsConnectedTo(t *testing.T) {
	for _, addresses := range [][]string{{"127.0.0.1", "127.0.0.2"}, {"127.0.0.2", "127.0.0.1"}} {
		var received atomic.Int32
		port := receive(t, "127.0.0.1", 0, mustNot(t))
		receive(t, "127.0.0.2", port, func(http.ResponseWriter, *http.Request) { received.Add(1) })
		names := &nameServer{answers: map[string][][]string{"two.test": {addresses}}}
		guard := guardOf(t, names.resolver(t), "http://127.0.0.2")
		status, _, err := post(guard, "http://two.test:"+strconv.Itoa(int(port)))
		if status != http.StatusOK || received.Load() != 1 {
			t.Errorf("%s: got %d, %v after %d requests", addresses, status, err, received.Load())
		}
	}
}

func TestANameThatChangesAfterALookUpIsRefused(t *testing.T) {
	port := receive(t, "127.0.0.1", 0, mustNot(t))
	names := &nameServer{answers: map[string][][]string{"moves.test": {{"127.0.0.2"}, {"127.0.0.1"}}}}
	resolver := names.resolver(t)
	guard := guardOf(t, resolver, "http://127.0.0.2")
	addrs, err := resolver.LookupHost(context.Background(), "moves.test")
	if err != nil || len(addrs) != 1 || addrs[0] != "127.0.0.2" {
		t.Fatalf("the first look-up gave %s, %v", addrs, err)
	}
	url := "http://moves.test:" + strconv.Itoa(int(port))
	if problem := guard.CheckURL(url); problem != "" {
		t.Fatal(problem)
	}
	if _, _, err := post(guard, url); !errors.Is(err, ErrRefused) {
		t.Errorf("got %v", err)
	}
}

func TestWhatTheOperatorAllowsIsConnectedTo(t *testing.T) {
	port := strconv.Itoa(int(receive(t, "127.0.0.1", 0, ok)))
	names := &nameServer{answers: map[string][][]string{"hooks.test": {{"127.0.0.1"}}}}
	for _, test := range []struct{ allow, host string }{
		{"http://127.0.0.0/8", "127.0.0.1"}, {"http://127.0.0.1:" + port, "127.0.0.1"}, {"http://hooks.test", "hooks.test"},
		{"http://hooks.test:" + port, "hooks.test"}, {"http://127.0.0.0/8", "hooks.test"},
	} {
		status, _, err := post(guardOf(t, names.resolver(t), test.allow), "http://"+test.host+":"+port)
		if status != http.StatusOK {
			t.Errorf("%s with %s: %d, %v", test.host, test.allow, status, err)
		}
	}
}

// local returns a client that may send to the receiver of the handler, and the receiver's URL.
func local(t *testing.T, handler http.HandlerFunc) (*Client, string) {
	t.Helper()
	port := receive(t, "127.0.0.1", 0, handler)
	client := guardOf(t, nil, "http://127.0.0.0/8").Client()
	t.Cleanup(client.Close)
	return client, "http://127.0.0.1:" + strconv.Itoa(int(port)) + "/hook"
}

func TestPostSendsTheBodyAndTheHeaders(t *testing.T) {
	client, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"id":1}` || r.Header.Get("Webhook-Id") != "evt_1" || r.Method != http.MethodPost || r.Header.Get("Accept-Encoding") != "" {
			t.Errorf("received %s %s with %v", r.Method, body, r.Header)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	status, header, err := client.Post(context.Background(), url, http.Header{"Webhook-Id": {"evt_1"}}, []byte(`{"id":1}`))
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") != "7" || err != nil {
		t.Errorf("got %d, %v, %v", status, header, err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	inside := receive(t, "127.0.0.1", 0, mustNot(t))
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{"http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:" + strconv.Itoa(int(inside))} {
			client, url := local(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) })
			if status, _, err := client.Post(context.Background(), url, http.Header{}, nil); status != code || err != nil {
				t.Errorf("%d to %s: got %d, %v", code, to, status, err)
			}
		}
	}
}

func TestNoProxyOfTheEnvironmentIsUsed(t *testing.T) {
	client := guardOf(t, nil).Client()
	if client.plain.Proxy != nil || client.secure.Proxy != nil {
		t.Error("a proxy may be used")
	}
}

func TestAnswersAreReadToALimitAndThrownAway(t *testing.T) {
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "x"); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Millisecond)
		}
	}
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for piece := make([]byte, 32<<10); ; {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzip.NewWriter(w)
		defer compressed.Close()
		for piece := make([]byte, 1<<20); ; {
			if _, err := compressed.Write(piece); err != nil {
				return
			}
		}
	}
	for name, handler := range map[string]http.HandlerFunc{"drips": drip, "never ends": endless, "is a gzip bomb": bomb} {
		t.Run(name, func(t *testing.T) {
			client, url := local(t, handler)
			client.discardTimeout = 10 * time.Millisecond
			if status, _, err := client.Post(context.Background(), url, http.Header{}, nil); status != http.StatusOK || err != nil {
				t.Errorf("got %d, %v", status, err)
			}
		})
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var conns atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 60<<10))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client := guardOf(t, nil, "http://127.0.0.0/8").Client()
	defer client.Close()
	client.discardTimeout = time.Minute
	for range 5 {
		if status, _, err := client.Post(context.Background(), server.URL, http.Header{}, nil); status != http.StatusOK {
			t.Fatal(status, err)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("5 requests took %d connections", n)
	}
}

// A receiver may end an unused connection at the moment when the next delivery arrives there.
func TestARequestThatMeetsTheEndOfAnIdleConnectionIsSentAgain(t *testing.T) {
	var requests atomic.Int32
	client, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		if _, sent := r.Header["Idempotency-Key"]; sent {
			t.Error("the receiver got an Idempotency-Key")
		}
		if body, _ := io.ReadAll(r.Body); string(body) != "{}" {
			t.Errorf("the receiver got %q", body)
		}
		if requests.Add(1) == 2 {
			conn, _, _ := http.NewResponseController(w).Hijack()
			conn.Close()
		}
	})
	for range 2 {
		if status, _, err := client.Post(context.Background(), url, http.Header{}, []byte("{}")); status != http.StatusOK || err != nil {
			t.Errorf("got %d, %v", status, err)
		}
	}
	if n := requests.Load(); n != 3 {
		t.Errorf("the receiver got %d requests, want 3", n)
	}
}

// A receiver may also take every request and answer none.
func TestARequestOnANewConnectionIsNotSentAgain(t *testing.T) {
	var requests atomic.Int32
	client, url := local(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		conn, _, _ := http.NewResponseController(w).Hijack()
		conn.Close()
	})
	if _, _, err := client.Post(context.Background(), url, http.Header{}, []byte("{}")); err == nil || Reason(err) != "no_answer" {
		t.Errorf("got %v", err)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("the receiver got %d requests, want 1", n)
	}
}

func TestReasonsOfFailures(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	headers := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Long", strings.Repeat("x", 100<<10)) }
	cut := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		conn.Close()
	}
	noHTTP := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		_, _ = conn.Write([]byte("220 mail.example ESMTP\r\n"))
		conn.Close()
	}
	for want, handlers := range map[string][]http.HandlerFunc{"timeout": {hang}, "no_answer": {headers, cut, noHTTP}} {
		for _, handler := range handlers {
			client, url := local(t, handler)
			if want == "timeout" {
				client.answerTimeout = 10 * time.Millisecond
			}
			_, _, err := client.Post(context.Background(), url, http.Header{}, nil)
			if err == nil || Reason(err) != want {
				t.Errorf("got %v, %s; want %s", err, Reason(err), want)
			}
		}
	}

	untrusted := httptest.NewUnstartedServer(mustNot(t))
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	plain := httptest.NewServer(mustNot(t))
	defer plain.Close()
	names := &nameServer{}
	guard := guardOf(t, names.resolver(t), "http://127.0.0.0/8", "unknown.test")
	for url, want := range map[string]string{
		untrusted.URL: "tls_failed", closed.URL: "connect_failed", "https://unknown.test/": "name_not_found",
		strings.Replace(plain.URL, "http:", "https:", 1): "tls_failed",
	} {
		if _, _, err := post(guard, url); err == nil || Reason(err) != want {
			t.Errorf("%s: got %v, %s; want %s", url, err, Reason(err), want)
		}
	}
}
