package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// keyOf is a key as the API describes it.
type keyOf struct {
	ID, Name, Plan, Access, Secret  string
	PerMinute, PerDay               int64
	ExpiresAt, RevokedAt, CreatedAt string
}

// makeKey creates a key through the API. The argument fields is the body of the request.
func makeKey(t *testing.T, s *testservice.Instance, fields string) keyOf {
	t.Helper()
	got := s.Ask(t, http.MethodPost, "/v1/keys", fields)
	if got.Status != http.StatusCreated {
		t.Fatalf("%s: %d %s", fields, got.Status, got.Body)
	}
	return testservice.Decode[keyOf](t, got.Body)
}

// keysOf returns every key, newest first.
func keysOf(t *testing.T, s *testservice.Instance) []keyOf {
	t.Helper()
	return testservice.Decode[[]keyOf](t, s.Ask(t, http.MethodGet, "/v1/keys?limit=100", "").Body)
}

// openConsole opens a view of the console with a link that contains the key of the first start, which is an administrator's.
func openConsole(t *testing.T, s *testservice.Instance, query string) *testservice.Page {
	t.Helper()
	page := testservice.Browser(t)
	page.Open(s.URL + "/console" + query + "#key=" + s.Key)
	return page
}

// lists returns a JavaScript expression that is true if the console lists exactly the keys with these names.
func lists(names ...string) string {
	return fmt.Sprintf(`document.getElementById("list")?.ariaBusy === null && JSON.stringify([...document.querySelectorAll("#rows .name a")].map(a => a.textContent)) === JSON.stringify([%s])`,
		strings.Join(quoted(names), ","))
}

// isKey returns a JavaScript expression that is true if the page shows a key in that state, with exactly these buttons.
func isKey(name, state string, actions ...string) string {
	return fmt.Sprintf(`document.getElementById("one-name").textContent === %q && document.getElementById("one-state").innerText === %q &&
		[...document.querySelectorAll("#actions button")].filter(b => b.checkVisibility({visibilityProperty: true})).map(b => b.innerText).join() === %q`,
		name, state, strings.Join(actions, ","))
}

// hasFact returns a JavaScript expression that is true if the page shows a fact about the key.
func hasFact(term, description string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#facts div")].some(d => d.children[0].textContent === %q && d.innerText.includes(%q))`, term, description)
}

const (
	keyError   = `document.getElementById("key-error").innerText`
	secretOpen = `document.getElementById("secret").open`
	shownKey   = `document.getElementById("secret-key").textContent`
)

func TestAnAdministratorSignsInAtTheConsole(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	makeKey(t, s, `{"name":"Reception"}`)
	page := testservice.Browser(t)
	page.Open(s.URL + "/console")
	page.Wait(`document.activeElement.id === "key"`)
	page.Press(s.Key + enter)
	page.Wait(lists("Reception", "first key") + ` && document.activeElement.id === "title" && ` + kept + ` === "[1,0]"`)
	if address := testservice.Eval[string](page, `location.href`); strings.Contains(address, s.Key) {
		t.Errorf("the key is in the address %s", address)
	}
	page.Reload()
	page.Wait(lists("Reception", "first key"))
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Wait(kept + ` === "[0,0]" && document.activeElement.id === "key" && document.querySelectorAll("#rows tr").length === 0`)
	page.Fill("#key", s.Key)
	page.Click("#remember")
	page.Press(enter)
	page.Wait(lists("Reception", "first key") + ` && ` + kept + ` === "[0,1]"`)

	page.Open(s.URL + "/")
	page.Click(".admins")
	page.Wait(`location.pathname === "/console" && ` + lists("Reception", "first key"))
}

func TestAKeyThatIsNotAnAdministratorsIsSentToTheDesk(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	for access, says := range map[string]string{"write": "may read and change the store", "read": "may only read the store"} {
		key := makeKey(t, s, fmt.Sprintf(`{"name":"Reception","plan":"business","access":%q}`, access))
		page := testservice.Browser(t)
		page.Open(s.URL + "/console?key=" + key.ID + "#key=" + key.Secret)
		page.Wait(fmt.Sprintf(`%s.includes(%q) && %[1]s.includes("at the desk")`, keyError, says))
		page.Wait(`!document.getElementById("keys").checkVisibility() && !document.getElementById("tabs").checkVisibility()`)
		page.Click(`.links [href="./"]`)
		page.Wait(`location.pathname === "/" && document.getElementById("empty-all")?.closest("#empty").checkVisibility() && !document.querySelector(".admins").checkVisibility()`)
		page.Open(s.URL + "/console")
		page.Wait(keyError + `.includes("for administrators")`)
		page.Fill("#key", s.Key)
		page.Press(enter)
		page.Wait(`document.querySelectorAll("#rows tr").length > 1 && ` + keyError + ` === ""`)
	}
	page := testservice.Browser(t)
	page.Open(s.URL + "/console#key=wrong")
	page.Wait(keyError + `.includes("not valid") && location.hash === ""`)
}

func TestKeysAreListedWithTheirStates(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	makeKey(t, s, `{"name":"Reports","access":"read","plan":"pro"}`)
	old := makeKey(t, s, `{"name":"Old newsletter"}`)
	makeKey(t, s, `{"name":"Fair","expiresAt":"2999-01-01T00:00:00Z","access":"admin"}`)
	s.Ask(t, http.MethodPost, "/v1/keys/"+old.ID+"/revoke", "")
	page := openConsole(t, s, "")
	page.Wait(lists("Fair", "Reports", "first key"))
	row := func(name, says string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#rows tr")].find(r => r.querySelector("a").textContent === %q).innerText.replace(/\s+/g, " ") === %q`, name, says)
	}
	page.Wait(row("Reports", "Reports Active Pro Read never"))
	page.Wait(row("first key", "first key your key Active Enterprise Administer within the last hour"))
	page.Wait(`[...document.querySelectorAll("#rows tr")][0].cells[1].innerText.startsWith("Expires in 9")`)
	page.Click(`[data-show="all"]`)
	page.Wait(lists("Fair", "Old newsletter", "Reports", "first key") + ` && location.search === "?show=all"`)
	page.Wait(row("Old newsletter", "Old newsletter Revoked Free Read and change never"))
	page.Reload()
	page.Wait(lists("Fair", "Old newsletter", "Reports", "first key") + ` && document.querySelector("[data-show][aria-current]").innerText === "All"`)
	page.Back()
	page.Wait(lists("Fair", "Reports", "first key"))
}

func TestTheOnlyKeyComesWithAdvice(t *testing.T) {
	t.Parallel()
	page := openConsole(t, testservice.Serve(t), "")
	page.Wait(lists("first key") + ` && empty.innerText.includes("the only one so far")`)
	page.Click("#empty-act")
	page.Wait(`document.getElementById("form").open && document.activeElement.id === "name"`)
}

func TestPagesOfKeysLeadToTheLastAndBack(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	for i := range 120 {
		makeKey(t, s, fmt.Sprintf(`{"name":"Key %d"}`, i))
	}
	var names []string // in the order of the service, because two keys may be as old
	for next := "/v1/keys?limit=100"; next != ""; {
		got := s.Ask(t, http.MethodGet, next, "")
		for _, key := range testservice.Decode[[]keyOf](t, got.Body) {
			names = append(names, key.Name)
		}
		next, _, _ = strings.Cut(strings.TrimPrefix(got.Header.Get("Link"), "<"), ">")
	}
	page := openConsole(t, s, "")
	page.Wait(lists(names[:50]...) + ` && previous.disabled && summary.innerText === "50 active keys on page 1, newest first"`)
	page.Click("#next")
	page.Wait(lists(names[50:100]...) + ` && place.innerText === "Page 2" && document.activeElement === document.querySelector("#rows a")`)
	page.Click("#next")
	page.Wait(lists(names[100:]...) + ` && next.disabled`)
	page.Reload()
	page.Wait(lists(names[100:]...) + ` && next.disabled`)
	page.Click("#rows a")
	page.Wait(`document.getElementById("one-name").textContent === "` + names[100] + `"`)
	page.Press(escape)
	page.Wait(lists(names[100:]...) + ` && document.activeElement.textContent === "` + names[100] + `"`)
	page.Click("#previous")
	page.Wait(lists(names[50:100]...))
	shared := testservice.Eval[string](page, `location.href`)
	other := testservice.Browser(t)
	other.Open(shared + "#key=" + s.Key)
	other.Wait(lists(names[50:100]...) + ` && previous.innerText === "First page"`)
	other.Click("#previous")
	other.Wait(lists(names[:50]...))
	other.Open(s.URL + "/console?cursor=nonsense")
	other.Wait(`notice.innerText.includes("cursor is not one that this service gave out")`)
	other.Click("#notice button")
	other.Wait(lists(names[:50]...) + ` && notice.innerText === ""`)
}

func TestAKeyIsMadeAndItsSecretShownOnce(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := openConsole(t, s, "?view=store")
	page.Click(`[data-tab="keys"]`)
	testservice.Eval[bool](page, `(navigator.clipboard.writeText = async (text) => { window.copied = text; }, true)`)
	page.Click("#open-form")
	page.Fill("#name", "Zoë “the shop” 🐈")
	page.Click(`#access label:nth-child(1)`)
	choose(page, "plan", "enterprise")
	page.Fill("#perMinute", "1,200")
	page.Fill("#perDay", "50 000")
	choose(page, "ends", "30")
	page.Click("#send-form")
	page.Wait(secretOpen + ` && document.getElementById("secret-title").innerText === "The key for Zoë “the shop” 🐈"`)

	secret := testservice.Eval[string](page, shownKey)
	page.Click(`[data-copy="secret-key"]`)
	page.Wait(fmt.Sprintf(`window.copied === %q && document.activeElement.innerText === "Copied"`, secret))
	page.Click(`[data-copy="secret-link"]`)
	page.Wait(fmt.Sprintf(`window.copied === %q`, s.URL+"/#key="+secret))
	link := testservice.Eval[string](page, `window.copied`)
	page.Press(escape)
	page.Press(escape)
	page.Wait(secretOpen + ` && ` + shownKey + ` !== ""`) // nobody loses the secret by accident
	page.Back()
	page.Wait(secretOpen + ` && ` + shownKey + ` !== ""`)
	page.Click("#secret-kept")
	page.Wait(isKey("Zoë “the shop” 🐈", "Expires in 30 days", "Change", "Rotate", "Revoke"))
	page.Wait(hasFact("Plan", "1,200 requests a minute, 50,000 a day") + ` && ` + hasFact("May", "Read") + ` && document.getElementById("usage-sum").innerText === "No requests in the last 24 hours."`)
	if text := testservice.Eval[string](page, `document.documentElement.outerHTML + JSON.stringify(sessionStorage) + JSON.stringify(localStorage) + location.href`); strings.Contains(text, secret) {
		t.Error("the page still has the secret")
	}
	if got := keysOf(t, s); len(got) != 2 || got[0].Name != "Zoë “the shop” 🐈" || got[0].Access != "read" || got[0].PerMinute != 1200 || got[0].PerDay != 50000 {
		t.Errorf("the store has %+v", got)
	}
	if strings.Contains(s.Stderr.String(), secret) {
		t.Error("the log of the server has the secret")
	}

	person := testservice.Browser(t)
	person.Open(link)
	person.Wait(`empty.checkVisibility() && document.querySelector(".reads").checkVisibility()`)
}

// choose picks an option of a select.
func choose(page *testservice.Page, id, value string) {
	testservice.Eval[bool](page, fmt.Sprintf(`(() => {
		const select = document.getElementById(%q);
		select.value = %q;
		return select.dispatchEvent(new Event("change", {bubbles: true}));
	})()`, id, value))
}

func TestMessagesAboutAKeyAreShownAtTheirFields(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := openConsole(t, s, "")
	message := func(field string) string {
		return fmt.Sprintf(`document.getElementById("%s-error").textContent`, field)
	}
	page.Click("#open-form")
	page.Click("#send-form")
	page.Wait(message("name") + ` === "Name is required." && document.activeElement.id === "name" && document.activeElement.ariaInvalid === "true"`)
	page.Fill("#name", strings.Repeat("long ", 21))
	choose(page, "plan", "enterprise")
	page.Fill("#perMinute", "many")
	page.Fill("#perDay", "-1")
	choose(page, "ends", "date")
	page.Click("#send-form")
	page.Wait(message("name") + `.startsWith("Name must be at most 100") && ` + message("perMinute") + `.startsWith("The limit must be a whole number") &&
		` + message("perDay") + `.startsWith("The limit must be a whole number") && ` + message("expiresAt") + `.startsWith("The end must be a time")`)
	page.Fill("#name", "Reception")
	page.Fill("#perMinute", "10")
	page.Fill("#perDay", "5")
	choose(page, "ends", "never")
	page.Click("#send-form")
	page.Wait(message("perDay") + `.startsWith("The limit must not be less than the requests per minute")`)
	page.Press(escape)
	page.Click("#open-form") // the draft is still there
	page.Wait(`document.getElementById("name").value === "Reception" && document.getElementById("perMinute").value === "10" && document.getElementById("perMinute").checkVisibility()`)
	choose(page, "plan", "pro")
	page.Click("#send-form")
	page.Wait(secretOpen)
	page.Click("#secret-kept")
	page.Wait(isKey("Reception", "Active", "Change", "Rotate", "Revoke"))
	page.Press(escape)
	page.Click("#open-form")
	page.Wait(`document.getElementById("name").value === "" && document.getElementById("plan").value === "business"`)
}

func TestAScriptInTheNameOfAKeyIsShownAsText(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	names := []string{
		`<img src=x onerror="document.title = 'taken'">`,
		`<script>document.title = "taken"</script>`,
		`"><svg/onload=document.title="taken">`,
		"\u202eegasU", // would reverse the text after it
		strings.Repeat("W", 100),
	}
	for i, name := range names {
		key := makeKey(t, s, fmt.Sprintf(`{"name":%q}`, name))
		page := openConsole(t, s, "?key="+key.ID)
		page.Wait(fmt.Sprintf(`document.getElementById("one-name").textContent === %q`, name))
		for _, button := range []string{"change", "rotate", "revoke"} {
			page.Click(act(button))
			page.Wait(`document.querySelector("dialog[open]")`)
			page.Press(escape)
			page.Wait(`!document.querySelector("dialog[open]")`)
		}
		page.Click("#back")
		page.Wait(fmt.Sprintf(`document.querySelectorAll("#rows tr").length === %d && document.querySelector("#rows a").textContent === %q`, i+2, name))
		page.Wait(`!document.title.includes("taken") && !document.querySelector("main img, main script, main [onerror], main [onload]") && document.querySelectorAll("#rows a *").length === 0`)
	}
}

func TestTheConsoleDescribesTheStore(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--environment", "staging")
	page := openConsole(t, s, "")
	page.Click(`[data-tab="store"]`)
	page.Wait(`location.search === "?view=store" && document.title.startsWith("The store") && document.activeElement.id === "title"`)
	fact := func(term, starts string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#store-facts div")].some(d => d.innerText.startsWith(%q))`, term+"\n"+starts)
	}
	page.Wait(fact("Environment", "Staging") + ` && ` + fact("Database", "SQLite") + ` && ` + fact("Size of the photos", "0 bytes") + ` && /Size of the database\s+\d+(\.\d+)? kB/.test(store.innerText)`)
	page.Wait(`document.querySelector(".staging").checkVisibility()`)
	page.Reload()
	page.Wait(fact("Database", "SQLite"))
	page.Back()
	page.Wait(lists("first key"))
}
