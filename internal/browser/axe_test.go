package browser

import (
	"testing"

	"petstore/internal/testservice"
)

// The test goes through every view of the desk in the order in which a person meets the views. It checks each view in light,
// dark and forced colors.
func TestNoViewHasAnAccessibilityFault(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--environment", "staging")
	page := testservice.Browser(t)
	const ground = `getComputedStyle(document.body).backgroundColor`
	check := func(view string) {
		t.Helper()
		page.Media("screen", "prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")
		page.Legible(view + ", dark")
		dark := testservice.Eval[string](page, ground)
		page.Media("screen", "forced-colors", "active", "prefers-reduced-motion", "reduce")
		page.Legible(view + ", forced colors")
		page.Media("screen", "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
		page.Accessible(view + ", light")
		if testservice.Eval[string](page, ground) == dark {
			t.Errorf("%s: light and dark have the same ground %s", view, dark)
		}
	}
	page.Media("screen", "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
	page.Open(s.URL + "/")
	page.Fill("#key", "wrong")
	page.Press(enter)
	page.Wait(`document.getElementById("key-error").innerText !== ""`)
	check("a wrong key")

	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Wait(`document.getElementById("empty-add").checkVisibility()`)
	check("an empty store")
	page.Click("#empty-add")
	page.Click("#send-add")
	page.Wait(`document.getElementById("name-error").innerText !== ""`)
	check("the form with its errors")
	page.Press(escape)

	add(t, s, animal("Olive", "available"), animal("Duke", "sold"), animal("Maple", "pending"))
	page.Reload()
	page.Wait(showsExactly("Maple", "Duke", "Olive"))
	check("the list")
	page.Click(`[data-animal="1"]`)
	page.Click(`[data-action="reserve"]`)
	check("the dialog of a reservation")
	page.Click("#send-reserve")
	page.Wait(`order.checkVisibility() && said.innerText.includes("reserved")`)
	check("a reserved animal")
	page.Click(`[data-action="edit"]`)
	check("the form of a reserved animal")
	page.Press(escape)
	page.Open(s.URL + "/?animal=2")
	page.Click(`[data-action="delete"]`)
	check("the question before an animal is deleted")
	page.Open(s.URL + "/?view=reservations")
	page.Wait(`document.querySelector("#reservations li")?.checkVisibility()`)
	check("the reservations")
	page.Size(390, 844)
	check("the reservations on a phone")
	page.Click(`.views [data-view="categories"]`)
	page.Wait(`document.getElementById("no-categories").checkVisibility()`)
	s.Ask(t, "PUT", "/v1/categories/1", `{"name":"Dogs"}`)
	page.Reload()
	page.Wait(`document.querySelector("#category-list li")?.checkVisibility()`)
	check("the categories on a phone")
	page.Size(1280, 800)
	check("the categories")
	page.Click("#open-category")
	page.Click("#send-category")
	page.Wait(`document.getElementById("category-name-error").innerText !== ""`)
	check("the form of a category with its error")
	page.Press(escape)
	page.Open(s.URL + "/?animal=99")
	page.Wait(`missing.checkVisibility()`)
	check("an animal that does not exist")
	page.Click("#change-key")
	check("the dialog for another key")
	page.Open(s.URL + "/?animal=2")
	page.Wait(isAdopted)
	s.Kill()
	page.Click(act("bring-back"))
	page.Wait(`notice.innerText.includes("cannot be reached")`)
	check("a change without an answer")
}
