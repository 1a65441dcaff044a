package browser

import (
	"fmt"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestTheDeskIsUsableByKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "pending"), animal("Biscuit", "available"))
	page := testservice.Browser(t)
	page.Open(s.URL + "/")
	page.Wait(`document.activeElement.id === "key"`)
	page.Press(s.Key + enter)
	page.Wait(showsExactly("Biscuit", "Olive"))

	reach := func(selector string) { t.Helper(); reach(t, page, selector) }
	reach(`.filter [data-status="pending"]`)
	page.Press(enter)
	page.Wait(showsExactly("Olive"))

	page.Open(s.URL + "/")
	page.Wait(showsExactly("Biscuit", "Olive"))
	page.Press(tab)
	page.Wait(`document.activeElement.matches(".skip") && document.activeElement.getBoundingClientRect().left >= 0`)
	page.Press(enter)
	page.Wait(`document.activeElement.id === "animals" && location.hash === ""`)
	testservice.Eval[bool](page, `(document.querySelector(".brand").focus(), true)`)
	reach("#open-add")
	page.Press(enter)
	page.Wait(`document.activeElement.id === "name"`)
	page.Press(escape)
	page.Wait(`!add.open && document.activeElement.id === "open-add"`)
	page.Press(enter)
	page.Wait(`document.activeElement.id === "name"`)
	page.Press("Maple" + tab + "3" + tab + arrowUp) // the arrow leads from the first of three options to the last
	page.Wait(`document.activeElement.value === "sold"`)
	page.Press(enter)
	page.Wait(showsExactly("Maple", "Biscuit", "Olive") + ` && !add.open`)
	if got := s.EveryPet(t)[0]; got != (testservice.Pet{ID: 3, Name: "Maple", CategoryID: 3, Status: "sold"}) {
		t.Errorf("the store has %+v", got)
	}

	reach(`[data-animal="2"]`)
	page.Press(enter)
	page.Wait(`document.activeElement.id === "animal-name"`)
	reach(act("reserve"))
	page.Press(enter)
	page.Wait(`document.activeElement.id === "reference"`)
	page.Press("J. Tanaka" + tab + tab + tab)
	reach("#send-reserve")
	page.Press(enter)
	page.Wait(is("Reserved", "Mark as adopted", "Cancel the reservation", "Edit") + ` && document.activeElement.id === "animal-name"`)
	reach(act("bring-back"))
	page.Press(enter)
	page.Wait(isAvailable)
	reach(act("delete"))
	page.Press(enter)
	page.Wait(`ask.open`)
	page.Press(escape)
	page.Wait(`!ask.open && document.activeElement.dataset.action === "delete"`)
	page.Press(escape)
	page.Wait(`document.activeElement.dataset.animal === "2"`)
}

// clipped is a JavaScript expression. It finds the first button, link or label that is too small for its text, and returns
// the text.
const clipped = `[...document.querySelectorAll("button, a, label")].find((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.clientWidth)?.innerText ?? ""`

func TestNoWidthNeedsHorizontalScrolling(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal(strings.Repeat("W", 1000), "available"), animal("Olive", "pending"), animal(strings.Repeat("لمى ", 200), "sold"))
	page := testservice.Browser(t)
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
	page.Open(s.URL + "/")
	page.Wait(`document.activeElement.id === "key"`)
	fits("the dialog for the key")
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Wait(`document.querySelectorAll(".card").length === 3`)
	fits("the list")
	page.Click("#open-add")
	page.Click("#send-add")
	page.Wait(`document.getElementById("categoryId-error").innerText !== ""`)
	fits("the form")
	page.Press(escape)
	s.Ask(t, "POST", "/v1/orders", fmt.Sprintf(`{"petId":1,"reference":%q}`, strings.Repeat("W", 200)))
	page.Open(s.URL + "/?animal=1")
	page.Wait(`order.checkVisibility()`)
	fits("a reserved animal")
	page.Open(s.URL + "/?view=reservations")
	page.Wait(`document.querySelector("#reservations li")?.checkVisibility()`)
	fits("the reservations")
	s.Ask(t, "PUT", "/v1/categories/1", fmt.Sprintf(`{"name":%q}`, strings.Repeat("W", 100)))
	page.Open(s.URL + "/?view=categories")
	page.Wait(`document.querySelector("#category-list li")?.checkVisibility()`)
	fits("the categories")
	page.Click(category("1", "rename"))
	fits("the form of a category")
	page.Open(s.URL + "/?animal=3")
	page.Click(act("delete"))
	fits("the question before an animal is deleted")
	page.Open(s.URL + "/docs")
	page.Wait(`document.querySelector("#operation-listPets")`)
	testservice.Eval[bool](page, `(document.querySelectorAll("details").forEach((part) => { part.open = true; }), true)`)
	fits("the reference")
}

func TestPrintedPagesHaveNoButtons(t *testing.T) {
	t.Parallel()
	s, page := openDemo(t)
	page.Wait(`document.querySelectorAll(".card").length === 24`)
	const buttons = `[...document.querySelectorAll("button, .filter, input, footer")].filter(e => e.checkVisibility()).length`
	page.Media("print", "prefers-color-scheme", "dark")
	page.Wait(buttons + ` === 0 && getComputedStyle(document.body).color === "rgb(43, 37, 32)"`) // the colors of paper, even in dark mode
	page.Open(s.URL + "/?animal=59")
	page.Wait(`document.getElementById("order-end").innerText.includes("The hold ends") && ` + buttons + ` === 0`)
}

func TestNothingIsAnimatedIfThePersonPrefersReducedMotion(t *testing.T) {
	t.Parallel()
	_, page := openDemo(t)
	page.Media("screen", "prefers-reduced-motion", "reduce")
	page.Wait(`document.querySelectorAll(".card").length === 24`)
	page.Click("#more")
	page.Wait(`document.querySelectorAll(".card").length === 48 && document.getAnimations().length === 0`)
}

// reach presses the Tab key until the focus is on an element, where it must be visible.
func reach(t *testing.T, page *testservice.Page, selector string) {
	t.Helper()
	for range 30 {
		if testservice.Eval[bool](page, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			if !testservice.Eval[bool](page, `document.activeElement.matches(":focus-visible")`) {
				t.Errorf("the focus on %s is not visible", selector)
			}
			return
		}
		page.Press(tab)
	}
	t.Fatalf("%s is not reached with the Tab key", selector)
}
