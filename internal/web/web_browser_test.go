package web

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// These tests put the desk into situations that are rare with a healthy server. The tests in cmd/petstore use the pages with
// the real server.

// call is a request that the page sent.
type call struct {
	at                                         time.Time
	method, address, key, idempotencyKey, body string
}

// script is an API that gives prepared answers to some calls, one after the other, and then repeats the last answer. To all
// other calls, it answers like a store that has one animal, Olive, and neither categories nor orders. Every key may write.
type script struct {
	URL string

	mu         sync.Mutex
	answers    []http.HandlerFunc
	calls      []call
	unscripted map[string]string
}

// serveScript starts an API with prepared answers to every call of /v1/pets.
func serveScript(t *testing.T, answers ...http.HandlerFunc) *script {
	return serveScriptOn(t, func(r *http.Request) bool { return r.URL.Path == "/v1/pets" }, answers...)
}

// serveScriptOn starts an API with prepared answers to the calls for which scripted returns true.
func serveScriptOn(t *testing.T, scripted func(*http.Request) bool, answers ...http.HandlerFunc) *script {
	s := &script{answers: answers, unscripted: maps.Clone(unscripted)}
	pages := Pages(someSettings)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if scripted(r) {
			s.next(r)(w, r)
		} else if answer := s.unscripted[r.Method+" "+r.URL.Path]; answer != "" {
			says(200, answer)(w, r)
		} else if page := pages[r.URL.Path]; page != nil {
			page.ServeHTTP(w, r)
		} else {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

var unscripted = map[string]string{
	"GET /v1/pets":       "[" + olive + "]",
	"GET /v1/orders":     `[]`,
	"GET /v1/inventory":  `{"available":0,"pending":1,"sold":0}`,
	"GET /v1/categories": `[]`,
	"GET /v1/events":     `[]`,
	"GET /v1/key":        `{"id":"key_1","access":"write"}`,
}

// with changes the answers to calls that are not scripted. It must be called before the first call.
func (s *script) with(answers map[string]string) *script {
	maps.Copy(s.unscripted, answers)
	return s
}

func (s *script) next(r *http.Request) http.HandlerFunc {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call{time.Now(), r.Method, r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"), string(body)})
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return answer
}

// received returns all scripted calls so far.
func (s *script) received() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call(nil), s.calls...)
}

func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-RateLimit-Limit", "60")
		w.Header().Set("X-RateLimit-Remaining", "41")
		w.Header().Set("X-RateLimit-Reset", "1924948800")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func refuses(status int, code string, headers ...string) http.HandlerFunc {
	return says(status, fmt.Sprintf(`{"code":%q,"message":"So it is.","status":%d}`, code, status), headers...)
}

// hangsUp breaks off its answer in the middle.
func hangsUp(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

const olive = `{"id":7,"name":"Olive","categoryId":2,"status":"pending"}`

// visit opens the desk with a key.
func visit(t *testing.T, s *script) *testservice.Page {
	t.Helper()
	page := testservice.Browser(t)
	page.Open(s.URL + "/")
	unlock(page)
	return page
}

func unlock(page *testservice.Page) {
	page.Fill("#key", "a-key")
	page.Press("\r")
}

func TestAWaitIsCountedDownAndThenRetried(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		code, says string
	}{
		{429, "rate_limited", "A short pause"},
		{429, "key_banned", "This key is banned for now"},
		{503, "unavailable", "One moment"},
	} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			s := serveScript(t, refuses(c.status, c.code, "Retry-After", "1"), says(200, "["+olive+"]"))
			page := testservice.Browser(t)
			page.Open(s.URL + "/")
			testservice.Eval[bool](page, `(new MutationObserver(() => window.shown ||= notice.textContent).observe(notice, {subtree: true, childList: true}), true)`)
			unlock(page)
			page.Wait(`document.querySelector(".card .name")?.textContent === "Olive" && notice.textContent === ""`)
			if shown := testservice.Eval[string](page, `window.shown`); !strings.HasPrefix(shown, c.says) || !strings.HasSuffix(shown, "0:01") {
				t.Errorf("the page said %q, want %q and a clock at 0:01", shown, c.says)
			}
			calls := s.received()
			if wait := calls[len(calls)-1].at.Sub(calls[0].at); len(calls) != 2 || wait < time.Second {
				t.Errorf("the page asked %d times and waited %v, want twice and a second", len(calls), wait)
			}
		})
	}
}

func TestAFailureShowsTheServersMessageAndAButton(t *testing.T) {
	t.Parallel()
	page := visit(t, serveScript(t, refuses(500, "internal_error"), says(200, "["+olive+"]")))
	page.Wait(`notice.textContent.includes("So it is.")`)
	page.Click("#notice button")
	page.Wait(`document.querySelectorAll(".card").length === 1`)
}

func TestAnimalIsNeverAddedTwice(t *testing.T) {
	t.Parallel()
	s := serveScript(t, says(200, "[]"), hangsUp, refuses(429, "rate_limited", "Retry-After", "1"), says(201, olive))
	page := visit(t, s)
	page.Click("#open-add")
	page.Fill("#name", "Olive")
	page.Fill("#categoryId", "2")
	page.Click("#send-add")
	page.Wait(`document.getElementById("add-notice").textContent.includes("never added twice")`)
	page.Click("#send-add")
	page.Wait(`document.querySelector(".card .name")?.textContent === "Olive" && !add.open`)

	sent := s.received()[1:]
	if len(sent) != 3 {
		t.Fatalf("the page sent %d creates, want 3: one lost, one refused, one done", len(sent))
	}
	for _, c := range sent {
		if c.method != http.MethodPost || len(c.idempotencyKey) < 16 || c.idempotencyKey != sent[0].idempotencyKey || c.body != sent[0].body {
			t.Errorf("a create that was sent again differs: %+v", c)
		}
	}
}

func TestEachNewAnimalHasItsOwnIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := serveScript(t, says(200, "[]"), says(201, olive), says(201, strings.Replace(olive, "7", "8", 1)))
	page := visit(t, s)
	for range 2 {
		page.Click("#open-add")
		page.Fill("#name", "Olive")
		page.Fill("#categoryId", "2")
		page.Click("#send-add")
		page.Wait(`!add.open`)
	}
	page.Wait(`document.querySelectorAll(".card").length === 2`)
	if sent := s.received()[1:]; len(sent) != 2 || sent[0].idempotencyKey == sent[1].idempotencyKey {
		t.Errorf("two animals were sent as %+v", sent)
	}
}

func TestCategoryKeepsEveryDigit(t *testing.T) {
	t.Parallel()
	const digits = "9007199254740993" // 2^53 + 1
	animal := strings.Replace(olive, `"categoryId":2`, `"categoryId":`+digits, 1)
	s := serveScript(t, says(200, "[]"), says(201, animal))
	page := visit(t, s)
	page.Click("#open-add")
	page.Fill("#name", "Olive")
	page.Fill("#categoryId", digits)
	page.Click("#send-add")
	page.Wait(`document.querySelector(".card .meta")?.textContent.includes("` + digits + `")`)
	if sent := s.received()[1]; !strings.Contains(sent.body, `"categoryId":`+digits) {
		t.Errorf("the page sent %s", sent.body)
	}
}

func TestMoreAnimalsAreRequestedFromThePagesOwnHost(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"/v1/pets?cursor=abc", "https://pets.example.com/v1/pets?cursor=abc"} {
		s := serveScript(t, says(200, "["+olive+"]", "Link", "<"+link+`>; rel="next"`), says(200, "["+strings.Replace(olive, "7", "6", 1)+"]"))
		page := visit(t, s)
		page.Wait(`document.querySelector(".card:last-child .meta")?.textContent.endsWith("6")`)
		if got := s.received()[1].address; got != "/v1/pets?limit=23&include=profile&cursor=abc" {
			t.Errorf("Link %s was followed to %s", link, got)
		}
	}
}

func TestARefusedKeyWhileAddingKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := serveScript(t, says(200, "[]"), refuses(401, "unauthorized"), says(200, "[]"), says(201, olive))
	page := visit(t, s)
	page.Click("#open-add")
	page.Fill("#name", "Olive")
	page.Fill("#categoryId", "2")
	page.Click("#send-add")
	page.Wait(`!add.open && document.getElementById("key-error").textContent.includes("So it is.")`)
	page.Fill("#key", "another-key")
	page.Press("\r")
	page.Click("#open-add")
	page.Wait(`document.getElementById("name").value === "Olive"`)
	page.Click("#send-add")
	page.Wait(`document.querySelectorAll(".card").length === 1`)
	calls := s.received()
	if last := calls[len(calls)-1]; last.key != "Bearer another-key" {
		t.Errorf("the last call was made with %q", last.key)
	}
}

func TestAnimalIsNeverReservedTwice(t *testing.T) {
	t.Parallel()
	const order = `{"id":1,"petId":7,"status":"open","createdAt":"2026-01-01T12:00:00.000Z","expiresAt":"2030-01-01T12:00:00.000Z"}`
	available := strings.Replace(olive, "pending", "available", 1)
	s := serveScriptOn(t, func(r *http.Request) bool {
		return r.URL.Path == "/v1/orders" && r.Method == http.MethodPost || r.URL.Path == "/v1/pets"
	},
		says(200, "["+available+"]"), hangsUp, refuses(503, "outcome_unknown", "Retry-After", "1"), says(201, order))
	page := testservice.Browser(t)
	page.Open(s.URL + "/?animal=7#key=a-key")
	page.Click(`[data-action="reserve"]`)
	page.Fill("#reference", "J. Tanaka")
	page.Click("#send-reserve")
	page.Wait(`notice.innerText.includes("it is done once") && document.getElementById("animal-status").innerText === "Available"`)
	page.Click("#notice button")
	page.Wait(`order.innerText.includes("Order 1") && said.innerText === "Olive is reserved." && notice.innerText === ""`)

	sent := s.received()[1:]
	if len(sent) != 3 {
		t.Fatalf("the page sent %d orders, want 3: one lost, one unknown, one placed", len(sent))
	}
	for _, c := range sent {
		if len(c.idempotencyKey) < 16 || c.idempotencyKey != sent[0].idempotencyKey || c.body != `{"petId":7,"reference":"J. Tanaka"}` {
			t.Errorf("an order that was sent again differs: %+v", c)
		}
	}
}

// If the answer to a deletion is lost, the retry finds nothing to delete.
func TestARetriedDeletionThatFindsNothingSucceeds(t *testing.T) {
	t.Parallel()
	s := serveScriptOn(t, func(r *http.Request) bool { return r.Method == http.MethodDelete },
		refuses(503, "outcome_unknown", "Retry-After", "1"), refuses(404, "not_found"))
	page := testservice.Browser(t)
	page.Open(s.URL + "/?animal=7#key=a-key")
	page.Click(`[data-action="delete"]`)
	page.Click("#ask-yes")
	page.Wait(`said.innerText === "Olive was deleted." && document.querySelectorAll(".card").length === 0`)
	if sent := s.received(); len(sent) != 2 {
		t.Errorf("the page sent %d deletions, want 2", len(sent))
	}
}
