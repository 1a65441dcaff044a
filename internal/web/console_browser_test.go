package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// These tests put the console into situations that are rare with a healthy server. The tests in package browser use the
// console with the real server.

const (
	admin     = `{"id":"key_1","name":"First","owner":"key_1","plan":"enterprise","perMinute":100,"perDay":1000,"access":"admin","createdAt":"2026-01-01T12:00:00.000Z"}`
	reception = `{"id":"key_2","name":"Reception","owner":"key_2","plan":"pro","perMinute":300,"perDay":10000,"access":"write","createdAt":"2026-01-01T12:00:00.000Z"}`
)

// serveConsole starts an API for the console, with prepared answers to the writes. To all other calls, it answers like a
// store that has two keys. The key that asks is an administrator's.
func serveConsole(t *testing.T, answers ...http.HandlerFunc) *script {
	return serveScriptOn(t, func(r *http.Request) bool { return r.Method != http.MethodGet }, answers...).with(map[string]string{
		"GET /v1/key":              admin,
		"GET /v1/keys":             "[" + reception + "," + admin + "]",
		"GET /v1/keys/key_1":       admin,
		"GET /v1/keys/key_2":       reception,
		"GET /v1/keys/key_1/usage": `[]`,
		"GET /v1/keys/key_2/usage": `[]`,
	})
}

// visitConsole opens a view of the console with a key.
func visitConsole(t *testing.T, s *script, query string) *testservice.Page {
	t.Helper()
	page := testservice.Browser(t)
	page.Open(s.URL + "/console" + query + "#key=a-key")
	return page
}

func madeKey(secret string) string {
	return strings.Replace(reception, "}", `,"secret":"`+secret+`"}`, 1)
}

const isOpen = `document.getElementById("secret").open`

func TestAKeyIsNeverMadeTwice(t *testing.T) {
	t.Parallel()
	s := serveConsole(t, hangsUp, refuses(503, "outcome_unknown", "Retry-After", "1"), refuses(429, "rate_limited", "Retry-After", "1"), says(201, madeKey("s-1")))
	page := visitConsole(t, s, "")
	page.Click("#open-form")
	page.Fill("#name", "Reception")
	// The end of the key is fixed when it is chosen, so that the request stays the same.
	testservice.Eval[bool](page, `(document.getElementById("ends").value = "30", document.getElementById("ends").dispatchEvent(new Event("change", {bubbles: true})))`)
	page.Click("#send-form")
	page.Wait(`document.getElementById("form-notice").textContent.includes("it is done once")`)
	page.Click("#send-form")
	page.Wait(isOpen + ` && document.getElementById("secret-key").textContent === "s-1" && !document.getElementById("form").open`)

	sent := s.received()
	if len(sent) != 4 {
		t.Fatalf("the page sent %d requests, want 4: one lost, one unknown, one refused, one done", len(sent))
	}
	for _, c := range sent {
		if c.method != http.MethodPost || c.address != "/v1/keys" || len(c.idempotencyKey) < 16 || c.idempotencyKey != sent[0].idempotencyKey || c.body != sent[0].body {
			t.Errorf("a key that was requested again differs: %+v", c)
		}
	}
	if !strings.Contains(sent[0].body, `"expiresAt":"`) {
		t.Errorf("the page sent %s", sent[0].body)
	}
}

func TestALostSecretLeadsToTheKeyThatWasMade(t *testing.T) {
	t.Parallel()
	const shown = `{"code":"secret_shown","message":"This request was already done. It made key key_2, whose secret was in the first answer.","status":409}`
	s := serveConsole(t, hangsUp, says(409, shown), says(201, madeKey("s-1")))
	page := visitConsole(t, s, "")
	page.Click("#open-form")
	page.Fill("#name", "Reception")
	page.Click("#send-form")
	page.Wait(`document.getElementById("form-notice").textContent.includes("it is done once")`)
	page.Click("#send-form")
	page.Wait(`!document.getElementById("form").open && notice.innerText.includes("its secret got lost") && notice.innerText.includes("It made key key_2")`)
	page.Click("#notice button")
	page.Wait(`document.getElementById("one-name").textContent === "Reception" && location.search === "?key=key_2"`)
	page.Click(`[data-action="rotate"]`)
	page.Click("#send-rotate")
	page.Wait(isOpen)
	if sent := s.received(); sent[2].address != "/v1/keys/key_2/rotate" || sent[2].body != `{"overlapSeconds":86400}` || sent[2].idempotencyKey == sent[1].idempotencyKey {
		t.Errorf("the rotation was sent as %+v", sent[2])
	}
}

func TestAnActionOnAKeyIsSentAgainAsItWas(t *testing.T) {
	t.Parallel()
	revoked := strings.Replace(reception, "}", `,"revokedAt":"2026-01-02T12:00:00.000Z"}`, 1)
	for action, answer := range map[string]string{"rotate": madeKey("s-1"), "revoke": revoked} {
		s := serveConsole(t, hangsUp, refuses(503, "unavailable", "Retry-After", "1"), says(200, answer))
		page := visitConsole(t, s, "?key=key_2")
		page.Click(`[data-action="` + action + `"]`)
		page.Click(`dialog[open] button:not([type="button"])`)
		page.Wait(`notice.innerText.includes("it is done once")`)
		page.Click("#notice button")
		page.Wait(isOpen + ` || document.getElementById("one-state").innerText === "Revoked"`)
		sent := s.received()
		if len(sent) != 3 || sent[0].idempotencyKey == "" {
			t.Fatalf("the page sent %+v", sent)
		}
		for _, c := range sent {
			if c.address != "/v1/keys/key_2/"+action || c.idempotencyKey != sent[0].idempotencyKey || c.body != sent[0].body {
				t.Errorf("an action that was sent again differs: %+v", c)
			}
		}
	}
}

func TestARefusedActionShowsTheServersMessage(t *testing.T) {
	t.Parallel()
	page := visitConsole(t, serveConsole(t, refuses(409, "own_key")), "?key=key_2")
	page.Click(`[data-action="revoke"]`)
	page.Click("#ask-yes")
	page.Wait(`notice.innerText.includes("So it is.") && document.getElementById("one-state").innerText === "Active" && document.querySelector("[data-action=revoke]").checkVisibility()`)
}

// usedAt returns what the API says about an hour, some hours ago.
func usedAt(hoursAgo, passed, refused int) string {
	hour := time.Now().UTC().Truncate(time.Hour).Add(-time.Duration(hoursAgo) * time.Hour)
	return fmt.Sprintf(`{"hour":%q,"passed":%d,"refused":%d}`, hour.Format("2006-01-02T15:04:05.000Z"), passed, refused)
}

func TestUsageIsASentenceAChartAndATable(t *testing.T) {
	t.Parallel()
	if now := time.Now(); now.Minute() == 59 && now.Second() > 30 {
		time.Sleep(time.Minute) // so that no hour begins during the test
	}
	s := serveConsole(t, refuses(500, "internal_error")).with(map[string]string{
		"GET /v1/keys/key_2/usage": "[" + usedAt(700, 1, 0) + "," + usedAt(200, 5000, 0) + "," + usedAt(3, 1200, 34) + "," + usedAt(0, 6, 0) + "]",
	})
	page := visitConsole(t, s, "?key=key_2")
	page.Wait(`document.getElementById("usage-sum").innerText === "1,240 requests in the last 24 hours, 34 of them refused by a limit."`)
	const bars = `JSON.stringify([document.querySelectorAll("#chart g").length, document.querySelectorAll("#chart .passed").length, document.querySelectorAll("#chart .refused").length])`
	page.Wait(bars + ` === "[24,2,1]"`)
	page.Wait(`[...document.querySelectorAll("#chart g")].at(-4).querySelector("title").textContent.endsWith(": 1,200 answered, 34 refused")`)
	// The parts of a bar are told apart by their pattern, and each is as high as its count.
	page.Wait(`getComputedStyle(document.querySelector("#chart .refused")).fill.includes("#stripes") && !getComputedStyle(document.querySelector("#chart .passed")).fill.includes("#")`)
	page.Wait(`(([passed, refused]) => Math.abs(passed / refused - 1200 / 34) < 0.5)([".passed", ".refused"].map((part) => [...document.querySelectorAll("#chart g")].at(-4).querySelector(part).height.baseVal.value))`)
	page.Click("#usage-details summary")
	page.Wait(`document.querySelectorAll("#usage-rows tr").length === 24 && document.querySelectorAll("#usage-rows tr")[3].innerText.endsWith("1,200\t34")`)

	page.Click(`label:has([value="days"])`)
	page.Wait(`document.getElementById("usage-sum").innerText === "6,241 requests in the last 31 days, 34 of them refused by a limit." && document.querySelectorAll("#usage-rows tr").length === 31`)
	page.Wait(`document.querySelectorAll("#chart g").length === 31 && document.getElementById("period-name").textContent === "Day"`)
	page.Size(390, 844)
	page.Wait(`document.getElementById("chart").getBoundingClientRect().width < 330 && Math.abs(document.getElementById("chart").viewBox.baseVal.width - document.getElementById("chart").getBoundingClientRect().width) < 1`)
	page.Accessible("usage on a phone")
	page.Media("screen", "forced-colors", "active")
	page.Legible("usage in forced colors")
}

func TestTheConsoleTellsTheTimeByTheServersClock(t *testing.T) {
	t.Parallel()
	banned := strings.Replace(reception, "}", fmt.Sprintf(`,"bannedUntil":%q}`, time.Now().Add(30*time.Minute).UTC().Format("2006-01-02T15:04:05.000Z")), 1)
	s := serveConsole(t, refuses(500, "internal_error")).with(map[string]string{"GET /v1/keys/key_2": banned})
	page := testservice.Browser(t)
	page.Before(`Date.now = ((real) => () => real() + 86400000)(Date.now)`) // the clock of the device is a day ahead
	page.Open(s.URL + "/console?key=key_2#key=a-key")
	page.Wait(`document.getElementById("one-state").innerText.startsWith("Banned until ")`)
}
