package browser

import (
	"fmt"
	"testing"

	"petstore/internal/testservice"
)

const (
	asksForKey = `document.activeElement.id === "key" && document.querySelectorAll(".card").length === 0`
	keyInDocs  = `document.querySelector(".try .key").value`
)

func TestANewTabTakesTheKeyOfASignedInTab(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := openAt(t, s, "")
	page.Wait(showsExactly("Olive"))

	second := page.NewTab()
	second.Open(s.URL + "/?animal=1") // the link of a colleague has no key
	second.Wait(isAvailable + ` && ` + kept + ` === "[1,0]"`)
	docs := page.NewTab()
	docs.Open(s.URL + "/docs")
	docs.Wait(fmt.Sprintf(`%s === %q`, keyInDocs, s.Key))
	console := page.NewTab()
	console.Open(s.URL + "/console")
	console.Wait(`document.documentElement.dataset.access === "admin" && !document.getElementById("key-panel").checkVisibility()`)

	other := testservice.Browser(t) // another browser
	other.Open(s.URL + "/")
	other.Wait(asksForKey)
	elsewhere := testservice.Serve(t) // another environment has another origin
	staging := page.NewTab()
	staging.Open(elsewhere.URL + "/")
	staging.Wait(asksForKey)
}

func TestATabTakesNoKeyIfItHasOne(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	reader := newReadOnlyKey(t, database)
	page := openAt(t, s, "")
	page.Wait(`document.documentElement.dataset.access === "admin"`)
	second := page.NewTab()
	second.Open(s.URL + "/#key=" + reader)
	second.Wait(`document.documentElement.dataset.access === "read"`)
	if got := testservice.Eval[string](second, `sessionStorage.getItem("petstore-api-key")`); got != reader {
		t.Errorf("the second tab has the key %s", got)
	}
	if got := testservice.Eval[string](page, `sessionStorage.getItem("petstore-api-key")`); got != s.Key {
		t.Errorf("the first tab has the key %s", got)
	}
}

func TestARefusedKeyIsNotHandedOver(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := testservice.Browser(t)
	page.Before(`window.held = new Promise((resolve) => (window.release = resolve));
		window.fetch = new Proxy(fetch, { apply: async (send, self, args) => {
			const answer = await send(...args);
			window.answered = true;
			await held;
			return answer;
		} });`)
	page.Open(s.URL + "/#key=" + s.Key + "x")
	page.Wait(`window.answered`) // the page has a key, but does not know yet whether the server accepts it
	second := page.NewTab()
	second.Open(s.URL + "/")
	second.Wait(asksForKey + ` && ` + kept + ` === "[0,0]"`)
	testservice.Eval[bool](page, `(release(), true)`)
	page.Wait(asksForKey)
	third := page.NewTab()
	third.Open(s.URL + "/")
	third.Wait(asksForKey + ` && document.getElementById("key-error").innerText === ""`)
}

func TestSigningOutSignsOutAllTabs(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	for _, remembered := range []bool{false, true} {
		page := openAt(t, s, "")
		page.Wait(showsExactly("Olive"))
		if remembered {
			page.Click("#change-key")
			page.Click("#remember")
			page.Wait(kept + ` === "[0,1]"`)
			page.Click("#change-key")
		}
		second, docs, console := page.NewTab(), page.NewTab(), page.NewTab()
		second.Open(s.URL + "/")
		second.Wait(showsExactly("Olive"))
		docs.Open(s.URL + "/docs")
		docs.Wait(fmt.Sprintf(`%s === %q`, keyInDocs, s.Key))
		console.Open(s.URL + "/console")
		console.Wait(`document.documentElement.dataset.access === "admin"`)
		second.Click("#change-key")
		second.Click("#forget-key")
		for _, tab := range []*testservice.Page{page, second, console} {
			tab.Wait(asksForKey + ` && ` + kept + ` === "[0,0]"`)
		}
		docs.Wait(keyInDocs + ` === ""`)
		page.Reload()
		page.Wait(asksForKey)
	}
}

func TestADeviceRemembersALinkAfterwards(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := openAt(t, s, "")
	page.Wait(showsExactly("Olive") + ` && ` + kept + ` === "[1,0]"`)
	page.Click("#change-key")
	page.Click("#remember")
	page.Wait(kept + ` === "[0,1]"`)
	page.Reload()
	page.Wait(showsExactly("Olive"))
	second := page.NewTab()
	second.Open(s.URL + "/")
	second.Wait(showsExactly("Olive"))

	page.Click("#change-key")
	page.Wait(`remember.checked && remember.disabled`) // signing out is how the device forgets
}
