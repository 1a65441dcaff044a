package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"petstore/internal/testservice"
)

// webhookOf is a webhook as the API describes it.
type webhookOf struct {
	ID, URL, Description, Status, Reason, Position, Secret string
	Types                                                  []string
	Enabled                                                bool
	Behind                                                 int64
}

// receive starts the receiver of a webhook, which gives every request the answer that status has at that time.
func receive(t *testing.T, status *atomic.Int64) (url string) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	t.Cleanup(receiver.Close)
	return receiver.URL
}

// allowLocal lets a server send requests to receivers on this machine.
var allowLocal = []string{"--webhook-allow", "http://127.0.0.0/8"}

// addWebhook creates a webhook through the API.
func addWebhook(t *testing.T, s *testservice.Instance, url, description string) webhookOf {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"url": url, "description": description})
	got := s.Ask(t, http.MethodPost, "/v1/webhooks", string(body))
	if got.Status != http.StatusCreated {
		t.Fatalf("%s: %d %s", body, got.Status, got.Body)
	}
	return testservice.Decode[webhookOf](t, got.Body)
}

func getWebhook(t *testing.T, s *testservice.Instance, id string) webhookOf {
	t.Helper()
	return testservice.Decode[webhookOf](t, s.Ask(t, http.MethodGet, "/v1/webhooks/"+id, "").Body)
}

// isWebhook returns a JavaScript expression that is true if the page shows a webhook with that name in that state.
func isWebhook(name, state string) string {
	return fmt.Sprintf(`document.getElementById("hook-name")?.textContent === %q && document.getElementById("hook-state").innerText === %q && !document.getElementById("hook").ariaBusy`, name, state)
}

// hookFact returns a JavaScript expression that is true if the page shows a fact about the webhook.
func hookFact(term, description string) string {
	return strings.Replace(hasFact(term, description), "#facts", "#hook-facts", 1)
}

const (
	said       = `document.getElementById("said").innerText`
	hookAction = `#hook [data-action="%s"]`
)

func hookAct(name string) string { return fmt.Sprintf(hookAction, name) }

func TestAnAdministratorMakesAWebhookAndItIsPinged(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, allowLocal...)
	var status atomic.Int64
	status.Store(http.StatusNoContent)
	url := receive(t, &status)
	page := openConsole(t, s, "")
	page.Click(`[data-tab="webhooks"]`)
	page.Wait(`document.getElementById("hook-empty")?.checkVisibility() && document.activeElement.id === "title" && location.search === "?view=webhooks"`)
	page.Click("#open-form")
	page.Wait(`document.activeElement.id === "url"`)
	page.Fill("#url", "ftp://example.com")
	page.Fill("#types", "pet.*, dog.*")
	page.Click("#hook-send")
	page.Wait(`document.getElementById("url-error").innerText !== "" && document.getElementById("types-error").innerText.includes("entry 2") && document.activeElement.id === "url"`)
	page.Fill("#url", url)
	page.Fill("#types", "pet.*, order.placed")
	page.Fill("#description", "The website")
	page.Click("#hook-send")
	page.Wait(secretOpen + ` && ` + shownKey + `.startsWith("whsec_") && !document.getElementById("secret-person").checkVisibility()`)
	page.Click("#secret-kept")
	page.Wait(`location.search.startsWith("?webhook=wh_") && ` + shownKey + ` === ""`)
	page.Wait(hookFact("Address", url) + " && " + hookFact("Events", "pet.*, order.placed"))
	page.Click(hookAct("ping"))
	page.Wait(isWebhook("The website", "Active") + ` && ` + said + ` === "The receiver answered the ping with 204."`)
	page.Wait(`document.querySelector("#hook-deliveries tr")?.innerText.includes("204")`)
	page.Press(escape)
	page.Wait(`document.querySelector("#hook-rows tr")?.innerText.replace(/\s+/g, " ").startsWith("The website ") && location.search === "?view=webhooks"`)
	page.Wait(`document.querySelector("#hook-rows tr").innerText.includes("up to date")`)
	page.Click("#hook-rows a")
	page.Wait(isWebhook("The website", "Active"))
	page.Reload()
	page.Wait(isWebhook("The website", "Active"))
	page.Click("#hook-back")
	page.Wait(`document.getElementById("hook-rows").checkVisibility() && location.search === "?view=webhooks"`)
}

func TestAWebhookIsChangedReplayedRotatedAndDeleted(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, allowLocal...)
	var status atomic.Int64
	status.Store(http.StatusInternalServerError)
	w := addWebhook(t, s, receive(t, &status), "The website")
	s.Ask(t, http.MethodPost, "/v1/pets", `{"name":"Rex","categoryId":1}`)
	s.Ask(t, http.MethodPost, "/v1/pets", `{"name":"Tom","categoryId":1}`)
	page := openConsole(t, s, "?webhook="+w.ID)
	page.Wait(isWebhook("The website", "No ping answered yet") + " && " + hookFact("Behind", "2 events"))
	page.Click(hookAct("ping"))
	page.Wait(said + `.startsWith("The ping failed: 500")`)

	page.Click(hookAct("change"))
	page.Wait(`document.getElementById("description").value === "The website"`)
	page.Fill("#description", "The shelter")
	page.Click("#hook-send")
	page.Wait(`document.getElementById("hook-name").textContent === "The shelter" && ` + said + ` === "The webhook was saved."`)
	page.Click(hookAct("disable"))
	page.Wait(isWebhook("The shelter", "Disabled") + ` && !document.querySelector('` + hookAct("disable") + `').checkVisibility()`)
	page.Click(hookAct("enable"))
	page.Wait(said + ` === "The webhook goes on where it stood."`)
	if got := getWebhook(t, s, w.ID); !got.Enabled || got.Description != "The shelter" || got.URL != w.URL {
		t.Errorf("the webhook is %+v", got)
	}

	page.Click(hookAct("replay"))
	page.Click(`#replay [value="now"]`)
	page.Wait(`!document.getElementById("position").checkVisibility()`)
	page.Click("#send-replay")
	page.Wait(hookFact("Behind", "up to date"))
	page.Click(hookAct("replay"))
	page.Click(`#replay [value="position"]`)
	page.Fill("#position", strings.TrimSuffix(w.Position, "0")+"1")
	page.Click("#send-replay")
	page.Wait(hookFact("Behind", "1 event"))
	page.Click(hookAct("replay"))
	page.Fill("#position", "yesterday")
	page.Click("#send-replay")
	page.Wait(`notice.innerText.includes("must be the id of an event")`)

	page.Click(hookAct("rotate"))
	page.Click("#ask-yes")
	page.Wait(secretOpen + ` && ` + shownKey + `.startsWith("whsec_") && ` + shownKey + fmt.Sprintf(` !== %q`, w.Secret))
	page.Click("#secret-kept")
	page.Wait(said + ` === "The webhook has a new secret."`)

	page.Click(hookAct("delete"))
	page.Wait(`ask.open && document.activeElement.innerText === "Cancel"`)
	page.Press(escape)
	page.Click(hookAct("delete"))
	page.Click("#ask-yes")
	page.Wait(`document.getElementById("hook-empty").checkVisibility() && location.search === "?view=webhooks"`)
	if got := s.Ask(t, http.MethodGet, "/v1/webhooks/"+w.ID, ""); got.Status != http.StatusNotFound {
		t.Errorf("the deleted webhook is answered %d", got.Status)
	}
}

func TestWebhooksAreUsableByKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, allowLocal...)
	page := openConsole(t, s, "?view=webhooks")
	page.Wait(`document.getElementById("hook-empty")?.checkVisibility()`)
	reach := func(selector string) { t.Helper(); reach(t, page, selector) }
	reach("#open-form")
	page.Press(enter)
	page.Wait(`document.activeElement.id === "url"`)
	page.Press("http://127.0.0.1:1/" + enter)
	page.Wait(secretOpen + ` && document.activeElement.id === "secret-title"`)
	reach("#secret-kept")
	page.Press(enter)
	page.Wait(`document.activeElement.id === "hook-name"`)
	reach(hookAct("delete"))
	page.Press(enter)
	page.Wait(`ask.open`)
	page.Press(escape)
	page.Wait(`document.activeElement.dataset.action === "delete"`)
	page.Press(escape)
	page.Wait(`document.activeElement.textContent === "http://127.0.0.1:1/" || document.activeElement.id === "title"`)
}

func TestNoViewOfWebhooksHasAnAccessibilityFault(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, append([]string{"--environment", "staging"}, allowLocal...)...)
	var status atomic.Int64
	status.Store(http.StatusGone)
	gone := addWebhook(t, s, receive(t, &status), "مأوى الحيوانات الأليفة")
	long := addWebhook(t, s, "http://127.0.0.1:1/"+strings.Repeat("W", 1900), strings.Repeat("W", 200))
	page := testservice.Browser(t)
	check := func(view string) {
		t.Helper()
		page.Wait(`!document.querySelector('[aria-busy="true"]') && document.getAnimations().length === 0`) // what is busy is pale
		for _, width := range []int64{390, 1280} {
			page.Size(width, 844)
			page.Media("screen", "prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")
			page.Legible(view + ", dark")
			page.Media("screen", "forced-colors", "active", "prefers-reduced-motion", "reduce")
			page.Legible(view + ", forced colors")
			page.Media("screen", "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
			page.Accessible(view + ", light")
			if wide := testservice.Eval[int64](page, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%s is %d wide in a window of %d", view, wide, width)
			}
		}
	}
	page.Media("screen", "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
	page.Open(s.URL + "/console?webhook=" + gone.ID + "#key=" + s.Key)
	page.Wait(`document.getElementById("hook-name").textContent`)
	page.Click(hookAct("ping"))
	page.Wait(`document.querySelectorAll("#hook-deliveries tr").length > 0`)
	check("a webhook with deliveries")
	page.Click(hookAct("replay"))
	check("the dialog of a replay")
	page.Press(escape)
	page.Click(hookAct("delete"))
	check("the question before a webhook is deleted")
	page.Press(escape)
	page.Open(s.URL + "/console?webhook=" + long.ID)
	page.Wait(`document.getElementById("hook-name").textContent`)
	check("a long webhook")
	page.Open(s.URL + "/console?webhook=wh_none")
	page.Wait(`document.getElementById("hook-name")?.textContent === "There is no such webhook"`)
	check("a missing webhook")
	page.Open(s.URL + "/console?view=webhooks")
	page.Wait(`document.querySelectorAll("#hook-rows tr").length === 2`)
	check("webhooks")
	page.Click("#open-form")
	page.Click("#hook-send")
	page.Wait(`document.getElementById("url-error").innerText !== ""`)
	check("the form with its errors")
	page.Fill("#url", "http://127.0.0.1:1/")
	page.Click("#hook-send")
	page.Wait(secretOpen)
	check("the secret")
}
