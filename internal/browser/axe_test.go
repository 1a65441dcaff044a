package browser

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"petstore/internal/testservice"
)

// checkInAllColors checks a view in light, dark and forced colors.
func checkInAllColors(t *testing.T, page *testservice.Page, view string) {
	t.Helper()
	const ground = `getComputedStyle(document.body).backgroundColor`
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

// The test goes through every view of the desk in the order in which a person meets the views.
func TestNoViewHasAnAccessibilityFault(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--environment", "staging")
	page := testservice.Browser(t)
	check := func(view string) {
		t.Helper()
		checkInAllColors(t, page, view)
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
	page.Fill("#search", "?!")
	page.Wait(`empty.checkVisibility()`)
	check("a search that the server refuses")
	page.Fill("#search", "")
	page.Wait(showsExactly("Maple", "Duke", "Olive"))
	page.Click("#open-take")
	check("the dialog for printing")
	page.Press(escape)
	page.Size(390, 844)
	check("the list on a phone")
	page.Size(1280, 900)
	page.Click(`[data-animal="1"]`)
	page.Click(`[data-action="reserve"]`)
	check("the dialog of a reservation")
	page.Click("#send-reserve")
	page.Wait(`order.checkVisibility() && said.innerText.includes("reserved")`)
	check("a reserved animal")
	page.Click(`[data-action="edit"]`)
	check("the form of a reserved animal")
	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"name":"Olivia"}`)
	page.Wait(meanwhile + `?.includes("Olivia")`)
	check("a dialog that shows what somebody else changed")
	page.Press(escape)
	page.Click(act("bring-back"))
	page.Wait(`document.querySelector("#offer button")`)
	testservice.Eval[bool](page, `(document.querySelector("#offer button").focus(), true)`) // the message stays
	check("a message with its undo")
	page.Size(390, 844)
	check("a message with its undo on a phone")
	page.Size(1280, 900)
	page.Click(undoButton)
	page.Wait(`order.checkVisibility() && said.innerText.startsWith("Undone")`)
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

func TestNoViewOfAnAnimalWithPhotosHasAnAccessibilityFault(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Media("screen", "prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")
	page.Wait(isAvailable)
	s.Ask(t, http.MethodPatch, "/v1/pets/1/profile", `{"breed":"Beagle","sex":"female","bornOn":"2021-03","arrivedOn":"2026-02-28",
		"description":"Kind.\nLikes ham.","tags":["shy","good with cats"],"notes":"Bites."}`)
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"Ann"}`)
	page.Choose("#photo-files", pictureFile(t, "one.jpg", 300, 200, 0), pictureFile(t, "two.jpg", 200, 300, 0))
	page.Wait(hasPhotos(2) + ` && order.checkVisibility()`)
	checkInAllColors(t, page, "an animal with photos")
	page.Size(390, 844)
	checkInAllColors(t, page, "an animal with photos on a phone")
	page.Click("#cover")
	page.Wait(`viewer.open`)
	checkInAllColors(t, page, "the large photo on a phone")
	page.Size(1280, 900)
	checkInAllColors(t, page, "the large photo")
	page.Press(escape)
	page.Click(act("edit"))
	checkInAllColors(t, page, "the form with a profile")
	page.Press(escape)
	page.Click("#change-order")
	checkInAllColors(t, page, "the dialog that changes a reservation")
	page.Press(escape)
	broken := filepath.Join(t.TempDir(), "broken.jpg")
	if err := os.WriteFile(broken, []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	page.Choose("#photo-files", broken)
	page.Wait(`uploads.innerText.includes("was not added")`)
	checkInAllColors(t, page, "a photo that was refused")
}
