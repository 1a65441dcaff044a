package browser

import (
	"fmt"
	"testing"

	"petstore/internal/testservice"
)

const (
	slash     = "/"
	arrowDown = "\u0301"
	hasResult = `document.querySelectorAll("#found a").length > 0`
)

// result is an expression that is true if the search shows a result of this kind and with this title at this place.
func result(place int, kind, title string) string {
	return fmt.Sprintf(`((link) => link?.querySelector(".found-kind").innerText === %q && link.querySelector("strong").innerText === %q)(document.querySelectorAll("#found a")[%d])`, kind, title, place)
}

func TestTheSearchIsUsableByKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := reference(t, s, "")
	page.Press(slash)
	page.Wait(`search.open && document.activeElement.id === "query"`)
	page.Fill("#query", "createPet")
	page.Wait(result(0, "Operation", "Add an animal"))
	page.Press(enter)
	page.Wait(`!search.open && location.hash === "#operation-createPet" && document.activeElement.id === "operation-createPet"`)

	// Everything has a kind: fields, error codes, guides and their headings.
	for typed, want := range map[string]string{
		"holdSeconds": result(0, "Field", "holdSeconds"), "pet_reserved": result(0, "Error", "pet_reserved"),
		"good client": result(0, "Guide", "How do I write a good client?"), "the stream": result(0, "Guide", "The stream"),
		"RATE LIMITS": result(0, "Section", "Rate limits"), "GET /pets": hasResult, "order place": hasResult,
	} {
		page.Press(slash)
		page.Wait(`search.open`)
		page.Fill("#query", typed)
		page.Wait(want)
		page.Press(escape)
		page.Wait(`!search.open`)
	}

	testservice.Eval[bool](page, `(dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true, cancelable: true})), true)`)
	page.Wait(`search.open`)
	page.Fill("#query", "webhook")
	page.Wait(`document.getElementById("count").innerText.includes("these 20 match best") && document.querySelectorAll("#found a").length === 20`)
	page.Press(arrowDown + arrowDown)
	page.Wait(`document.activeElement === document.querySelectorAll("#found a")[1]`)
	page.Press(arrowUp + arrowUp + arrowUp)
	page.Wait(`document.activeElement === document.querySelectorAll("#found a")[19]`)
	page.Press("s") // typing goes on in the field
	page.Wait(`document.activeElement.id === "query" && query.value === "webhooks"`)
	page.Fill("#query", "xyzzy <b>")
	page.Wait(`document.getElementById("count").innerText === "Nothing is called “xyzzy <b>”." && !document.querySelector("#found a")`)
	page.Press(enter)
	page.Wait(`search.open`)
	page.Press(escape)

	// A slash that is typed into a field is a slash.
	page.Click("#operation-listPets .try > summary")
	page.Fill("#try-listPets-cursor", "a")
	page.Press(slash)
	page.Wait(`document.getElementById("try-listPets-cursor").value === "a/" && !search.open`)
}

func TestTheSearchLeadsFromAGuideToTheReferenceAndBack(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := testservice.Browser(t)
	page.Open(s.URL + "/docs/adoption")
	page.Click(".open-search")
	page.Press("placeOrder")
	page.Wait(result(0, "Operation", "Place an order"))
	page.Press(enter)
	page.Wait(`location.pathname === "/docs" && location.hash === "#operation-placeOrder" && document.querySelector("#menu [aria-current]")`)
	page.Click(".open-search")
	page.Press("mirror")
	page.Wait(result(0, "Guide", "Mirror the store"))
	page.Click("#found a")
	page.Wait(`location.pathname === "/docs/events" && document.activeElement?.id === "mirror-the-store"`)
}

func TestASearchThatCannotBeLoadedSaysSoAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := testservice.Browser(t)
	page.Before(`window.realFetch = fetch; window.fetch = async () => { throw new TypeError("offline"); }`)
	page.Open(s.URL + "/docs/events")
	page.Click(".open-search")
	page.Wait(`document.getElementById("count").innerText.startsWith("The search could not be loaded.")`)
	page.Press(escape)
	testservice.Eval[bool](page, `(window.fetch = window.realFetch, true)`)
	page.Click(".open-search")
	page.Press("stream")
	page.Wait(hasResult)
}

func TestAGuideIsReadCopiedAndLeft(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--store-name", "Paws & Co")
	page := reference(t, s, "")
	page.Size(1440, 900)
	page.Click(`#menu [href="docs/clients"]`)
	page.Wait(`document.title === "How do I write a good client? · Paws & Co" && document.querySelector('#menu [aria-current=page]').innerText === "Clients"`)
	testservice.Eval[bool](page, `(navigator.clipboard.writeText = async (text) => { window.copied = text; }, true)`)
	page.Click(".guide .copy")
	page.Wait(`window.copied?.startsWith("package main\n\nimport (\n\t\"context\"") && said.textContent === "Copied"`)
	page.Click(`.guide a[href="events"]`)
	page.Wait(`location.pathname === "/docs/events" && document.querySelector("h1")?.innerText === "How do I learn what changed?"`)
	page.Click(`.menu-title a`)
	page.Wait(`location.pathname === "/docs"`)
	page.Open(s.URL + "/docs/adoption")
	page.Wait(`document.querySelector(".guide img").naturalWidth > 0`)
}

func TestTheGuidesAndTheSearchHaveNoAccessibilityFault(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := testservice.Browser(t)
	for _, guide := range []string{"clients", "adoption", "search", "profiles", "photos", "events", "webhooks", "rate-limits", "limits"} {
		page.Media("screen", "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
		page.Size(1440, 900)
		page.Open(s.URL + "/docs/" + guide)
		page.Accessible(guide)
		page.Size(375, 800)
		page.Accessible(guide + " on a phone")
		page.Wait(`document.documentElement.scrollWidth <= innerWidth`)
		page.Media("screen", "prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")
		page.Legible(guide + " in the dark")
		page.Media("screen", "forced-colors", "active")
		page.Legible(guide + " in forced colors")
	}
	page.Click(".open-search")
	page.Press("order")
	page.Wait(hasResult)
	page.Legible("the search in forced colors")
	page.Media("screen", "prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")
	page.Legible("the search in the dark")
	page.Media("screen", "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
	page.Accessible("the search on a phone")
	page.Size(1440, 900)
	page.Accessible("the search")
	page.Fill("#query", "xyzzy")
	page.Wait(`!` + hasResult)
	page.Accessible("a search without results")
}
