package browser

import (
	"testing"

	"petstore/internal/testservice"
)

func TestAMistypedPageLeadsToTheOthers(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--environment", "staging", "--store-name", "Paws & Co")
	page := testservice.Browser(t)
	for _, address := range []string{"/animals/7", "/dcos", "/docs/"} {
		page.OpenMissing(s.URL + address)
		page.Wait(`document.querySelector("h1").innerText === "There is no such page" && document.title === "No such page · Paws & Co"`)
		page.Wait(`document.querySelector("img").naturalWidth > 0 && document.styleSheets.length === 1 && document.querySelector(".staging").checkVisibility()`)
	}
	page.Accessible("a page that does not exist")
	page.Size(390, 844)
	page.Accessible("a page that does not exist, on a phone")
	page.Scheme("dark")
	page.Legible("a page that does not exist, in the dark")
	page.Media("screen", "forced-colors", "active")
	page.Legible("a page that does not exist, in forced colors")
	page.Click("h2 a")
	page.Wait(`location.pathname === "/docs" && document.title === "API reference · Paws & Co"`)
	page.OpenMissing(s.URL + "/animals/7")
	page.Click(`main a[href$="./"]`)
	page.Wait(`location.pathname === "/" && document.getElementById("key-panel")`)
}
