package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestTheConsoleIsUsableByKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	makeKey(t, s, `{"name":"Reception"}`)
	page := testservice.Browser(t)
	page.Open(s.URL + "/console")
	page.Wait(`document.activeElement.id === "key"`)
	page.Press(s.Key + enter)
	page.Wait(lists("Reception", "first key"))

	reach := func(selector string) { t.Helper(); reach(t, page, selector) }
	reach("#open-form")
	page.Press(enter)
	page.Wait(`document.activeElement.id === "name"`)
	page.Press("Volunteers" + tab + arrowUp) // the arrow leads from the second of three options to the first
	page.Wait(`document.activeElement.value === "read"`)
	page.Press(enter)
	page.Wait(secretOpen + ` && document.activeElement.id === "secret-title"`)
	reach(`[data-copy="secret-link"]`)
	reach("#secret-kept")
	page.Press(enter)
	page.Wait(isKey("Volunteers", "Active", "Change", "Rotate", "Revoke") + ` && document.activeElement.id === "one-name"`)

	reach(act("change"))
	page.Press(enter)
	page.Wait(`document.activeElement.id === "name"`)
	page.Press(escape)
	page.Wait(`document.activeElement.dataset.action === "change"`)
	reach(act("rotate"))
	page.Press(enter)
	page.Wait(`rotate.open`)
	page.Press(escape)
	reach(act("revoke"))
	page.Press(enter)
	page.Wait(`ask.open && document.activeElement.innerText === "Cancel"`)
	page.Press(tab + enter)
	page.Wait(isKey("Volunteers", "Revoked") + ` && document.activeElement.id === "one-name"`)
	reach(`[name="period"]`)
	page.Press(arrowUp)
	page.Wait(`document.activeElement.value === "days" && document.getElementById("usage-sum").innerText === "No requests in the last 31 days."`)
	page.Press(escape)
	page.Wait(lists("Reception", "first key"))

	page.Open(s.URL + "/console")
	page.Wait(lists("Reception", "first key"))
	page.Press(tab + enter)
	page.Wait(`document.activeElement.id === "title" && location.hash === ""`)
	reach(`#rows a`)
	page.Press(enter)
	page.Wait(isKey("Reception", "Active", "Change", "Rotate", "Revoke"))
	page.Press(escape)
	page.Wait(`document.activeElement.textContent === "Reception"`)
	testservice.Eval[bool](page, `(document.querySelector(".brand").focus(), true)`)
	reach(`[data-tab="store"]`)
	page.Press(enter)
	page.Wait(`store.innerText.includes("SQLite") && document.activeElement.id === "title"`)
}

// The test goes through every view of the console. It checks each view in light, dark and forced colors, on a screen and on
// a phone.
func TestNoViewOfTheConsoleHasAnAccessibilityFault(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--environment", "staging")
	long := makeKey(t, s, fmt.Sprintf(`{"name":%q,"plan":"enterprise","perMinute":9007199254740991,"perDay":9007199254740991}`, strings.Repeat("W", 100)))
	ended := makeKey(t, s, `{"name":"Old newsletter"}`)
	makeKey(t, s, `{"name":"مأوى الحيوانات الأليفة","expiresAt":"2999-01-01T00:00:00Z"}`)
	banned := makeKey(t, s, `{"name":"Web shop","plan":"enterprise","perMinute":20,"perDay":100000}`)
	s.Ask(t, http.MethodPost, "/v1/keys/"+ended.ID+"/revoke", "")
	for answersTo(t, s, banned.Secret) != http.StatusTooManyRequests || !isBanned(t, s, banned.ID) {
	}

	page := testservice.Browser(t)
	check := func(view string) {
		t.Helper()
		for _, width := range []int64{390, 1280} {
			page.Size(width, 844)
			page.Media("screen", "prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")
			page.Legible(view + ", dark")
			page.Media("screen", "forced-colors", "active", "prefers-reduced-motion", "reduce")
			page.Legible(view + ", forced colors")
			page.Media("screen", "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
			page.Accessible(view + ", light")
		}
	}
	page.Media("screen", "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
	page.Open(s.URL + "/console")
	page.Fill("#key", "wrong")
	page.Press(enter)
	page.Wait(keyError + ` !== ""`)
	check("a wrong key")
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Wait(`document.querySelectorAll("#rows tr").length === 4`)
	check("active keys")
	page.Click(`[data-show="all"]`)
	page.Wait(`document.querySelectorAll("#rows tr").length === 5`)
	check("all keys")
	page.Click("#open-form")
	choose(page, "plan", "enterprise")
	choose(page, "ends", "date")
	page.Click("#send-form")
	page.Wait(`document.getElementById("name-error").innerText !== ""`)
	check("the form with its errors")
	page.Fill("#name", "Reception")
	choose(page, "plan", "free")
	choose(page, "ends", "never")
	page.Click("#send-form")
	page.Wait(secretOpen)
	check("the secret")
	page.Click("#secret-kept")
	page.Wait(isKey("Reception", "Active", "Change", "Rotate", "Revoke"))
	check("a key")
	page.Click(act("rotate"))
	check("the dialog of a rotation")
	page.Press(escape)
	page.Click(act("revoke"))
	check("the question before a key is revoked")
	page.Press(escape)
	for view, key := range map[string]string{"a long name": long.ID, "a revoked key": ended.ID, "a banned key": banned.ID, "a missing key": "key_none"} {
		page.Open(s.URL + "/console?key=" + key)
		page.Wait(`document.getElementById("one-name").textContent !== "" && !document.getElementById("one").ariaBusy`)
		check(view)
	}
	page.Open(s.URL + "/console?view=store")
	page.Wait(`store.innerText.includes("SQLite")`)
	check("the store")
	s.Kill()
	page.Click(`[data-tab="keys"]`)
	page.Wait(`notice.innerText.includes("cannot be reached")`)
	check("a server that does not answer")
}

func TestNoWidthOfTheConsoleNeedsHorizontalScrolling(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	long := makeKey(t, s, fmt.Sprintf(`{"name":%q,"plan":"enterprise","perMinute":9007199254740991,"perDay":9007199254740991}`, strings.Repeat("W", 100)))
	makeKey(t, s, fmt.Sprintf(`{"name":%q}`, strings.Repeat("لمى ", 24)+"x"))
	page := openConsole(t, s, "")
	fits := func(where string) {
		t.Helper()
		for _, c := range []struct {
			width    int64
			textSize string
		}{{320, "100%"}, {768, "100%"}, {768, "200%"}, {1280, "200%"}, {2560, "100%"}} {
			page.Size(c.width, 800)
			testservice.Eval[bool](page, fmt.Sprintf(`(document.documentElement.style.fontSize = %q, true)`, c.textSize))
			if wide := testservice.Eval[int64](page, `document.documentElement.scrollWidth`); wide > c.width {
				t.Errorf("%s is %d wide in a window of %d, with text of %s", where, wide, c.width, c.textSize)
			}
			if lost := testservice.Eval[string](page, clipped); lost != "" {
				t.Errorf("%s: %s is cut off in a window of %d, with text of %s", where, lost, c.width, c.textSize)
			}
		}
		testservice.Eval[bool](page, `(document.documentElement.style.fontSize = "", true)`)
	}
	page.Wait(`document.querySelectorAll("#rows tr").length === 3`)
	fits("the list")
	page.Click("#open-form")
	choose(page, "plan", "enterprise")
	fits("the form")
	page.Press(escape)
	page.Open(s.URL + "/console?key=" + long.ID)
	page.Wait(`document.getElementById("one-name").textContent !== ""`)
	fits("a key")
	page.Click(act("rotate"))
	page.Click("#send-rotate")
	page.Wait(secretOpen)
	fits("the secret")
	page.Click("#secret-kept")
	page.Wait(hasFact("Id", "rotated from"))
	page.Open(s.URL + "/console?view=store")
	page.Wait(`document.getElementById("store")?.innerText.includes("SQLite")`)
	fits("the store")
}
