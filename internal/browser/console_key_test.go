package browser

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// answersTo returns the status of a request with a key.
func answersTo(t *testing.T, s *testservice.Instance, key string) int {
	t.Helper()
	got, err := testservice.Request(s.URL, key, http.MethodGet, "/v1/pets", "")
	if err != nil {
		t.Fatal(err)
	}
	return got.Status
}

func TestAKeyHasAnAddressThatCanBeSharedAndReloaded(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	key := makeKey(t, s, `{"name":"Reception","plan":"pro"}`)
	page := openConsole(t, s, "")
	page.Click(`[data-key="` + key.ID + `"]`)
	page.Wait(isKey("Reception", "Active", "Change", "Rotate", "Revoke") + ` && document.activeElement.id === "one-name" && document.title === "Reception · Petstore console"`)
	page.Wait(fmt.Sprintf(`location.search === "?key=%s" && `, key.ID) + hasFact("Id", key.ID) + ` && ` + hasFact("Last used", "never") + ` && ` + hasFact("Ends", "never"))
	page.Reload()
	page.Wait(isKey("Reception", "Active", "Change", "Rotate", "Revoke"))
	page.Click("#back")
	page.Wait(lists("Reception", "first key") + ` && location.search === ""`)
	page.Open(s.URL + "/console?key=key_doesnotexist")
	page.Wait(`document.getElementById("one-name").textContent === "There is no such key" && missing.checkVisibility() && !usage.checkVisibility()`)
	page.Click("#back")
	page.Wait(lists("Reception", "first key"))
}

func TestAChangeOfAKeySendsOnlyWhatWasChanged(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	key := makeKey(t, s, `{"name":"Reception","plan":"pro","expiresAt":"2999-01-01T00:00:00Z"}`)
	page := openConsole(t, s, "?key="+key.ID)
	page.Click(act("change"))
	page.Wait(`document.getElementById("name").value === "Reception" && document.getElementById("plan").value === "pro" && document.getElementById("ends").value === "keep"`)
	s.Ask(t, http.MethodPatch, "/v1/keys/"+key.ID, `{"access":"read"}`) // another administrator changes the key
	page.Fill("#name", "Front desk")
	page.Click("#send-form")
	page.Wait(isKey("Front desk", "Expires in 972 years", "Change", "Rotate", "Revoke") + ` && said.innerText === "Front desk was saved."`)
	if got := keysOf(t, s)[0]; got.Name != "Front desk" || got.Access != "read" || got.Plan != "pro" || got.ExpiresAt == "" {
		t.Errorf("the store has %+v", got)
	}
	page.Click(act("change"))
	choose(page, "plan", "enterprise")
	page.Fill("#perMinute", "5")
	page.Fill("#perDay", "500")
	choose(page, "ends", "never")
	page.Click("#send-form")
	page.Wait(isKey("Front desk", "Active", "Change", "Rotate", "Revoke") + ` && ` + hasFact("Plan", "5 requests a minute, 500 a day"))
	page.Click(act("change"))
	page.Fill("#perDay", "600")
	page.Click(`#access label:nth-child(2)`)
	page.Click("#send-form")
	page.Wait(hasFact("Plan", "5 requests a minute, 600 a day") + ` && ` + hasFact("May", "Read and change"))
	page.Click(act("change"))
	page.Fill("#name", "Typed in vain")
	page.Press(escape)
	page.Click(act("change"))
	page.Wait(`document.getElementById("name").value === "Front desk"`)
}

func TestAKeyIsRotatedWithAnOverlap(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	key := makeKey(t, s, `{"name":"Reception","plan":"business","access":"read"}`)
	page := openConsole(t, s, "?key="+key.ID)
	page.Click(act("rotate"))
	page.Wait(`rotate.open && rotate.innerText.includes("Rotate Reception") && overlap.value === "86400"`)
	choose(page, "overlap", "604800")
	page.Click("#send-rotate")
	page.Wait(secretOpen)
	secret := testservice.Eval[string](page, shownKey)
	page.Click("#secret-kept")
	page.Wait(isKey("Reception", "Active", "Change", "Rotate", "Revoke") + ` && ` + hasFact("Id", "rotated from") + ` && said.innerText.includes("The old one ends in 7 days")`)
	if old, new := answersTo(t, s, key.Secret), answersTo(t, s, secret); old != http.StatusOK || new != http.StatusOK {
		t.Errorf("the old key gets %d and the new one %d", old, new)
	}
	page.Open(s.URL + "/console?key=" + key.ID)
	page.Wait(isKey("Reception", "Expires in 7 days", "Change", "Rotate", "Revoke"))
	page.Click(act("rotate"))
	page.Click("#send-rotate")
	page.Wait(`notice.innerText.includes("This key was already rotated")`)

	page.Open(s.URL + "/console?key=" + keysOf(t, s)[0].ID)
	page.Click(act("rotate"))
	choose(page, "overlap", "0")
	page.Click("#send-rotate")
	page.Wait(secretOpen)
	page.Click("#secret-kept")
	page.Wait(`said.innerText.includes("The old one has ended")`)
	testservice.Eventually(t, "the old key is refused", 30*time.Second, func() bool { return answersTo(t, s, secret) == http.StatusUnauthorized })
}

func TestAKeyIsRevokedInTwoSteps(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	key := makeKey(t, s, `{"name":"Reception"}`)
	page := openConsole(t, s, "?key="+key.ID)
	page.Click(act("revoke"))
	page.Wait(`ask.open && ask.innerText.includes("Revoke Reception?") && ask.innerText.includes("It was never used.") && document.activeElement.innerText === "Cancel"`)
	page.Press(escape)
	page.Wait(`!ask.open && document.activeElement.dataset.action === "revoke"`)
	if got := answersTo(t, s, key.Secret); got != http.StatusOK {
		t.Errorf("the key gets %d before it is revoked", got)
	}
	page.DoubleClick(act("revoke"))
	page.Wait(`ask.open`)
	page.Click("#ask-yes")
	page.Wait(isKey("Reception", "Revoked") + ` && said.innerText === "Reception is revoked." && document.activeElement.id === "one-name"`)
	testservice.Eventually(t, "the key is refused", 30*time.Second, func() bool { return answersTo(t, s, key.Secret) == http.StatusUnauthorized })
	page.Click("#back")
	page.Wait(lists("first key"))
}

func TestTheConsolesOwnKeyStays(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	own := keysOf(t, s)[0]
	page := openConsole(t, s, "?key="+own.ID)
	page.Wait(isKey("first key", "Active", "Change") + ` && document.getElementById("own").checkVisibility()`)
	page.Click(act("change"))
	page.Click(`#access label:nth-child(2)`)
	page.Click("#send-form")
	page.Wait(`document.getElementById("form").open && document.getElementById("form-notice").innerText.includes("cannot revoke, rotate or lower itself")`)
}

func TestABanIsLifted(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	key := makeKey(t, s, `{"name":"Web shop","plan":"enterprise","perMinute":20,"perDay":100000}`)
	for answersTo(t, s, key.Secret) != http.StatusTooManyRequests || !isBanned(t, s, key.ID) {
	}
	page := openConsole(t, s, "?key="+key.ID)
	page.Wait(`document.getElementById("one-state").innerText.startsWith("Banned until ") && document.querySelector("[data-action=unban]").checkVisibility()`)
	page.Click(act("unban"))
	page.Wait(isKey("Web shop", "Active", "Change", "Rotate", "Revoke") + ` && said.innerText === "Web shop may send requests again."`)
	if isBanned(t, s, key.ID) {
		t.Error("the key is still banned")
	}
}

func isBanned(t *testing.T, s *testservice.Instance, id string) bool {
	t.Helper()
	key := testservice.Decode[struct{ BannedUntil string }](t, s.Ask(t, http.MethodGet, "/v1/keys/"+id, "").Body)
	return key.BannedUntil != ""
}

func TestAnotherAdministratorLowersTheKeyInTheMiddle(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	admin := makeKey(t, s, `{"name":"Second","access":"admin","plan":"business"}`)
	key := makeKey(t, s, `{"name":"Reception"}`)
	page := testservice.Browser(t)
	page.Open(s.URL + "/console?key=" + key.ID + "#key=" + admin.Secret)
	page.Wait(isKey("Reception", "Active", "Change", "Rotate", "Revoke"))
	s.Ask(t, http.MethodPatch, "/v1/keys/"+admin.ID, `{"access":"write"}`)
	page.Click(act("change"))
	page.Fill("#name", "Typed by the old administrator")
	testservice.Eventually(t, "the server follows", 30*time.Second, func() bool {
		got, err := testservice.Request(s.URL, admin.Secret, http.MethodGet, "/v1/keys", "")
		return err == nil && got.Status == http.StatusForbidden
	})
	page.Click("#send-form")
	page.Wait(`!document.getElementById("form").open && ` + keyError + `.includes("may read and change the store, but the console is for administrators")`)
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Click(act("change"))
	page.Wait(`document.getElementById("name").value === "Typed by the old administrator"`)
	page.Click("#send-form")
	page.Wait(isKey("Typed by the old administrator", "Active", "Change", "Rotate", "Revoke"))
}

func TestARevokedAdministratorIsSignedOutAndLosesNothingTyped(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := openConsole(t, s, "")
	page.Click("#open-form")
	page.Fill("#name", "Volunteers")
	answerOnce(page, "POST", refusedKey)
	page.Click("#send-form")
	page.Wait(`!document.getElementById("form").open && ` + keyError + `.includes("This key was revoked.")`)
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Click("#open-form")
	page.Wait(`document.getElementById("name").value === "Volunteers"`)
	page.Click("#send-form")
	page.Wait(secretOpen)
	page.Click("#secret-kept")
	page.Wait(isKey("Volunteers", "Active", "Change", "Rotate", "Revoke"))
	if got := keysOf(t, s); len(got) != 2 {
		t.Errorf("the store has %+v", got)
	}
}

func TestTheConsoleContinuesAfterAnOutage(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	key := makeKey(t, s, `{"name":"Reception"}`)
	page := openConsole(t, s, "?key="+key.ID)
	page.Wait(isKey("Reception", "Active", "Change", "Rotate", "Revoke"))
	answerOnce(page, "POST", refusedBusy)
	page.Click(act("revoke"))
	page.Click("#ask-yes")
	page.Wait(isKey("Reception", "Revoked") + ` && notice.innerText === ""`) // the page waits for a second and sends it again

	s.Kill()
	page.Click(`[data-tab="store"]`)
	page.Wait(`notice.innerText.includes("cannot be reached") && document.querySelector("#notice button").innerText === "Try again"`)
}
