package service

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// sendSecrets sends every key in every place where a client may put a key, rightly or wrongly.
func (m *canaryServer) sendSecrets(t *testing.T) {
	t.Helper()
	for _, key := range m.keys {
		coded := base64.StdEncoding.EncodeToString([]byte("canary:" + key))
		m.secrets = append(m.secrets, coded)
		for _, headers := range [][]string{
			{"Authorization", "Bearer " + key},
			{"Authorization", "bearer  " + key},
			{"Authorization", key},
			{"Authorization", "Token " + key},
			{"Authorization", "Basic " + coded},
			{"Cookie", "key=" + key},
			{"X-Api-Key", key},
			{"Idempotency-Key", key},
			{"Referer", "http://127.0.0.1/#key=" + key},
			{"User-Agent", key},
			{"Content-Type", "application/" + key},
			{"X-Forwarded-For", key},
			{"Origin", "http://" + key},
			{"X-Request-Id", key},
			{"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Tracestate", "petstore=" + key},
		} {
			m.send(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`, headers...)
		}
		m.send(t, "GET", "/v1/pets?api_key="+key, "")
		m.send(t, "GET", "/v1/pets?limit="+key+"&cursor="+key+"&status="+key+"&id="+key, "", "Authorization", "Bearer "+m.valid)
		m.send(t, "GET", "/v1/pets/"+key, "")
		m.send(t, "GET", "/v1/pets/"+key, "", "Authorization", "Bearer "+m.valid)
		m.send(t, "GET", "/%23key="+key, "")
		m.send(t, "GET", fmt.Sprintf("/%%23key=%%%02x%s", key[0], key[1:]), "")
		m.send(t, key, "/v1/pets", "")
		m.send(t, key, "/v1/pets", "", "Authorization", "Bearer "+m.valid)
		if random, generated := strings.CutPrefix(key, "pets_"); generated {
			m.secrets = append(m.secrets, random)
		}
	}
}

// sendBodies sends valid and invalid animals, categories and orders.
func (m *canaryServer) sendBodies(t *testing.T) {
	t.Helper()
	m.bodies = []string{"canary-name", "canary-text", "canary-once", "canary-panic", "canary-field", "canary-query"}
	long := strings.Repeat("canary-text", 1001)
	key := []string{"Authorization", "Bearer " + m.valid}
	for _, body := range []string{
		`{"name":"canary-name","categoryId":1}`,
		`{"name":"canary-name","categoryId":"canary-text"}`,
		`{"name":"canary-name","categoryId":1,"status":"canary-text"}`,
		`{"name":"canary-name","categoryId":1,"canary-field":"canary-text"}`,
		`{"name":"canary-name","name":"canary-text","categoryId":1}`,
		`{"canary-field":1,"canary-field":2}`,
		`{"name":"canary-name`,
		`{"name":"canary-text" canary-text}`,
		`canary-text`,
		`"canary-text"`,
		`{"name":"canary-text\u0000","categoryId":1}`,
		`{"name":"` + long + `","categoryId":1}`,
		`{"name":"` + strings.Repeat(long, 200) + `","categoryId":1}`,
		`{"reference":"canary-text","petId":1}`,
		`{"reference":"canary-text","petId":"canary-text","holdMinutes":"canary-text"}`,
	} {
		for _, at := range []string{"POST /v1/pets", "PATCH /v1/pets/1", "POST /v1/categories", "PUT /v1/categories/7", "POST /v1/orders", "POST /v1/orders/1/complete", "POST /nowhere", "PUT /v1/pets"} {
			method, path, _ := strings.Cut(at, " ")
			m.send(t, method, path, body, key...)
		}
		m.send(t, "POST", "/v1/pets", body)
	}
	m.send(t, "POST", "/v1/pets", `{"name":"canary-text","categoryId":1}`, append(key, "Idempotency-Key", "canary-once")...)
	m.send(t, "POST", "/v1/pets", `{"name":"canary-name","categoryId":1}`, append(key, "Idempotency-Key", "canary-once")...)
	m.send(t, "POST", "/v1/pets", `{"name":"canary-name","categoryId":1}`, append(key, "Idempotency-Key", "canary-once\x7f")...)
	m.send(t, "POST", "/v1/pets", `{"name":"canary-panic","categoryId":1}`, append(key, "X-Panic", "1")...)
	m.send(t, "GET", "/v1/pets?canary-query=canary-query&limit=canary-query", "", key...)
	m.send(t, "GET", "/v1/pets?cursor=canary-query", "", key...)
	m.send(t, "GET", "/v1/pets?%zz=canary-query", "", key...)
	m.send(t, "GET", "/v1/pets?limit=5;status=canary-query", "", key...)
}

// makeKeys makes keys over the API. Only the answer that makes a key has its secret, so the test does not record that answer.
// The secrets that it collects are canaries from then on.
func (m *canaryServer) makeKeys(t *testing.T) {
	t.Helper()
	authorized := []string{"Authorization", "Bearer " + m.admin}
	makeKey := func(path, body string, headers ...string) string {
		got, err := testservice.Request(m.URL, m.admin, "POST", path, body, headers...)
		var made struct{ ID, Secret string }
		if err == nil {
			err = json.Unmarshal([]byte(got.Body), &made)
		}
		if err != nil || got.Status != http.StatusCreated || made.Secret == "" || got.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("no key is made at %s: %v, %d %v\n%s", path, err, got.Status, got.Header, got.Body)
		}
		m.keys, m.secrets = append(m.keys, made.Secret), append(m.secrets, made.Secret)
		return made.ID
	}
	id := makeKey("/v1/keys", `{"name":"new"}`, "Idempotency-Key", "new")
	m.send(t, "POST", "/v1/keys", `{"name":"new"}`, append(authorized, "Idempotency-Key", "new")...)
	next := makeKey("/v1/keys/"+id+"/rotate", "", "Idempotency-Key", "next")
	m.send(t, "POST", "/v1/keys/"+id+"/rotate", "", append(authorized, "Idempotency-Key", "next")...)
	m.send(t, "PATCH", "/v1/keys/"+next, `{"name":"newer","plan":"`+m.valid+`"}`, authorized...)
	m.send(t, "PATCH", "/v1/keys/"+next, `{"name":"newer"}`, authorized...)
	for _, path := range []string{"/v1/key", "/v1/key/usage", "/v1/keys", "/v1/keys/" + next, "/v1/keys/" + m.admin, "/v1/keys?cursor=" + m.admin, "/v1/store"} {
		m.send(t, "GET", path, "", authorized...)
	}
	m.send(t, "POST", "/v1/keys/"+next+"/unban", "", authorized...)
	m.send(t, "POST", "/v1/keys/"+next+"/revoke", "", authorized...)
	m.sendSecrets(t)
}

// send sends a request and records the answer. It fails the test if a refusal repeats a canary from a body.
func (m *canaryServer) send(t *testing.T, method, path, body string, headers ...string) {
	t.Helper()
	got, err := testservice.Request(m.URL, "", method, path, body, headers...)
	if err != nil {
		return // Go's client refuses to send some of these requests
	}
	text := fmt.Sprintf("%d %v %s\n", got.Status, got.Header, got.Body)
	io.WriteString(m.answers, text)
	if got.Status >= 400 {
		m.expectNone(t, "the refusals", text, m.bodies)
	}
}

// sendRaw sends requests that the HTTP server refuses before the API sees them.
func (m *canaryServer) sendRaw(t *testing.T) {
	t.Helper()
	for _, text := range []string{
		"GET /v1/pets/%zz" + m.valid + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + m.valid + "\r\n\r\n",
		"GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization : Bearer " + m.valid + "\r\n\r\n",
		"GET /v1/pets HTTP/1.1\r\nHost: " + m.valid + " \r\n" + m.valid + "\r\n\r\n",
		"Bearer " + m.valid + "\r\n\r\n",
		"POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + m.valid + "\r\n\r\n",
		"POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: " + m.valid + "\r\n\r\n",
		"POST /v1/pets HTTP/1.1\r\nHost: a\r\nExpect: " + m.valid + "\r\n\r\n",
		"POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + m.valid + "\r\nTransfer-Encoding: chunked\r\n\r\n" + m.valid + "\r\n",
		"GET /v1/pets " + m.valid + "\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(m.URL, "http://"))
		noError(t, err)
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		io.WriteString(conn, text)
		conn.(*net.TCPConn).CloseWrite()
		io.Copy(m.answers, bufio.NewReader(conn))
		conn.Close()
	}
}

// checkProfiles looks for canaries in the profiles of the program while the program handles requests.
func (m *canaryServer) checkProfiles(t *testing.T) {
	t.Helper()
	for _, profile := range []string{
		"", "cmdline", "symbol", "heap", "heap?debug=1", "heap?gc=1", "allocs", "allocs?debug=1", "goroutine", "goroutine?debug=1", "goroutine?debug=2",
		"threadcreate?debug=1", "block?debug=1", "mutex?debug=1", "profile?seconds=1", "trace?seconds=1",
	} {
		busy := make(chan struct{})
		go func() {
			defer close(busy)
			for range 5 {
				testservice.Request(m.URL, m.valid, "POST", "/v1/pets", `{"name":"canary-name","categoryId":1}`)
			}
		}()
		text := m.fetch(t, "/debug/pprof/"+profile)
		<-busy
		if zipped, err := gzip.NewReader(strings.NewReader(text)); err == nil {
			var plain bytes.Buffer
			if _, err := io.Copy(&plain, zipped); err != nil {
				t.Fatalf("%s cannot be unpacked: %v", profile, err)
			}
			text = plain.String()
		}
		m.expectNone(t, "the profile "+profile, text, m.secrets, m.bodies)
	}
}
