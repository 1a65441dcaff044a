package browser

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// numbered returns animals with the names "Animal 1" to "Animal n".
func numbered(n int) []string {
	animals := make([]string, n)
	for i := range animals {
		animals[i] = animal(fmt.Sprint("Animal ", i+1), "available")
	}
	return animals
}

// down returns the names "Animal from" to "Animal to", where from is the newest.
func down(from, to int) []string {
	var names []string
	for i := from; i >= to; i-- {
		names = append(names, fmt.Sprint("Animal ", i))
	}
	return names
}

const toEnd = `(scrollTo({ top: document.body.scrollHeight, behavior: "instant" }), true)`

func TestMoreAnimalsLoadWhileScrollingAndByAButton(t *testing.T) {
	_, page := openDesk(t, "", numbered(80)...)
	page.Wait(showsExactly(down(80, 57)...) + ` && summary.innerText === "24 of 80 animals"`)
	testservice.Eval[bool](page, `(document.getElementById("more").focus(), true)`)
	page.Press(enter)
	page.Wait(`document.activeElement.innerText === "Animal 56"`) // the focus moves to the first of the new animals
	page.Wait(showsExactly(down(80, 33)...) + ` && summary.innerText === "48 of 80 animals"`)
	testservice.Eval[bool](page, toEnd)
	page.Wait(showsExactly(down(80, 9)...))
	testservice.Eval[bool](page, toEnd)
	page.Wait(showsExactly(down(80, 1)...) + ` && !document.getElementById("more").checkVisibility() && summary.innerText === "80 of 80 animals"`)
}

// While more animals are being loaded, neither a second click nor scrolling asks for them again.
func TestASecondClickOnMoreSkipsAndRepeatsNothing(t *testing.T) {
	_, page := openDesk(t, "", numbered(80)...)
	page.Wait(showsExactly(down(80, 57)...))
	answerAll(page, `String(url).includes("cursor")`, onRelease)
	page.Click("#more")
	page.Wait("window.release")
	page.Click("#more")
	testservice.Eval[bool](page, toEnd)
	page.DoubleClick("#more")
	if asked := testservice.Eval[int](page, "asked"); asked != 1 {
		t.Errorf("the page asked %d times for the same animals", asked)
	}
	testservice.Eval[bool](page, "("+putBack+", release(), true)")
	page.Wait(`(scrollTo({ top: document.body.scrollHeight, behavior: "instant" }), ` + showsExactly(down(80, 1)...) + `)`)
}

// An endless list has every animal once, even if somebody adds and deletes animals, also among those that are loaded, while
// the next page is on its way.
func TestTheListHasEachAnimalOnceWhileOthersAddAndDelete(t *testing.T) {
	s, page := openDesk(t, "", numbered(100)...)
	page.Wait(showsExactly(down(100, 77)...))
	page.Click("#more")
	page.Wait(showsExactly(down(100, 53)...))

	answerAll(page, `String(url).includes("cursor")`, onRelease)
	page.Click("#more") // asks for the animals from 52 on
	page.Wait("window.release")
	add(t, s, animal("Animal 101", "available"), animal("Animal 102", "available"))
	for _, id := range []int{100, 77, 76, 60, 53, 52, 30} {
		s.Ask(t, http.MethodDelete, fmt.Sprint("/v1/pets/", id), "")
	}
	testservice.Eval[bool](page, "("+putBack+", release(), true)")
	left := slices.DeleteFunc(down(102, 1), func(name string) bool {
		return slices.Contains([]string{"Animal 100", "Animal 77", "Animal 76", "Animal 60", "Animal 53", "Animal 52", "Animal 30"}, name)
	})
	for range 4 {
		testservice.Eval[bool](page, toEnd)
	}
	page.Wait(`(scrollTo({ top: document.body.scrollHeight, behavior: "instant" }), ` + showsExactly(left...) + `)`)
}

// If more animals are new than the list refreshes at once, the list begins anew, because it does not know those between.
func TestManyNewAnimalsLeaveNoGap(t *testing.T) {
	s, page := openDesk(t, "", numbered(30)...)
	page.Wait(showsExactly(down(30, 7)...))
	hide(page, true)
	for i := range 60 {
		add(t, s, animal(fmt.Sprint("Animal ", i+31), "available"))
	}
	hide(page, false)
	page.Wait(showsExactly(down(90, 67)...))
	page.Wait(`(scrollTo({ top: document.body.scrollHeight, behavior: "instant" }), ` + showsExactly(down(90, 1)...) + `)`)
}

// A page that was asked for before the list began anew does not follow the animals that the list has by then.
func TestALatePageLeavesNoGap(t *testing.T) {
	s, page := openDesk(t, "", numbered(60)...)
	page.Wait(showsExactly(down(60, 37)...))
	answerAll(page, `String(url).includes("cursor")`, onRelease)
	page.Click("#more") // asks for the animals from 36 on
	page.Wait("window.release")
	hide(page, true)
	for i := range 40 {
		add(t, s, animal(fmt.Sprint("Animal ", i+61), "available"))
	}
	hide(page, false)
	page.Wait(showsExactly(down(100, 77)...))
	testservice.Eval[bool](page, "("+putBack+", release(), true)")
	page.Wait(`(scrollTo({ top: document.body.scrollHeight, behavior: "instant" }), ` + showsExactly(down(100, 1)...) + `)`)
}

func TestMoreAnimalsAreOfferedAgainAfterAFailure(t *testing.T) {
	_, page := openDesk(t, "", numbered(30)...)
	page.Wait(showsExactly(down(30, 7)...))
	answerAll(page, `String(url).includes("cursor")`, lost)
	testservice.Eval[bool](page, toEnd)
	page.Wait(`notice.innerText.includes("cannot be reached") && ` + showsExactly(down(30, 7)...))
	testservice.Eval[bool](page, putBack)
	page.Click("#notice button")
	page.Wait(showsExactly(down(30, 1)...) + ` && notice.innerText === ""`)
}

// atScreen is a JavaScript expression for the distance of an animal's card from the top of the window.
const atScreen = `Math.round(document.querySelector(".card [data-animal='%d']").getBoundingClientRect().top)`

func TestTheListRemembersItsPlace(t *testing.T) {
	s, page := openDesk(t, "?status=available", numbered(90)...)
	page.Size(1000, 700)
	page.Media("screen", "prefers-reduced-motion", "reduce") // a click during an animation would scroll to another place
	page.Wait(showsExactly(down(90, 67)...))
	page.Wait(`(document.querySelector(".card:last-child").scrollIntoView({ behavior: "instant" }), document.querySelectorAll(".card").length >= 48)`)
	open := fmt.Sprintf(atScreen, 50)
	testservice.Eval[bool](page, `(document.querySelector("[data-animal='50']").scrollIntoView({ block: "center", behavior: "instant" }), true)`)
	page.Wait(`document.querySelectorAll(".card").length >= 72`)
	before := testservice.Eval[int](page, open)
	isThere := fmt.Sprintf(`document.querySelectorAll(".card").length >= 72 && Math.abs(%s - %d) <= 2`, open, before)

	page.Click("[data-animal='50']")
	page.Wait(isAvailable)
	page.Back()
	page.Wait(isThere + ` && document.activeElement.dataset.animal === "50"`)

	page.Click("[data-animal='50']")
	page.Wait(isAvailable)
	add(t, s, animal("Animal 91", "available"))
	page.Press(escape)
	page.Wait(`document.querySelector(".card").innerText.includes("Animal 91")`)
	page.Wait(isThere)

	// The place outlives a reload, on the page of the animal and in the list.
	page.Click("[data-animal='50']")
	page.Wait(isAvailable)
	page.Reload()
	page.Wait(isAvailable)
	page.Press(escape)
	page.Wait(isThere + ` && history.state.place`)
	page.Reload()
	page.Wait(isThere)
	page.Click(`.filter [data-status=""]`)
	page.Wait(`location.search === "" && document.querySelectorAll(".card").length === 24`)
}

func TestALinkLeadsToThePlaceInTheListThatItWasCopiedAt(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, numbered(90)...)
	page := openAt(t, s, "?q=animal&status=available")
	page.Size(1000, 700)
	page.Wait(`document.querySelectorAll(".card").length >= 24`)
	page.Wait(`(document.querySelector(".card:last-child").scrollIntoView({ behavior: "instant" }), document.querySelectorAll(".card").length >= 72)`)
	testservice.Eval[bool](page, `(document.querySelector(".card:has([data-animal='40'])").scrollIntoView({ behavior: "instant" }), true)`)
	first := `[...document.querySelectorAll(".card")].find((card) => card.getBoundingClientRect().bottom > 0).dataset.id`
	page.Wait(`location.hash === "#no-" + ` + first)
	copied, at := testservice.Eval[string](page, `location.href`), testservice.Eval[int](page, `Number(`+first+`)`)

	// Meanwhile, the animal at that place is deleted, and others come.
	s.Ask(t, http.MethodDelete, fmt.Sprintf("/v1/pets/%d", at), "")
	add(t, s, numbered(9)...)
	colleague := page.NewTab()
	colleague.Size(1000, 700)
	colleague.Open(copied)
	colleague.Wait(fmt.Sprintf(`search.value === "animal" && document.querySelector("[data-status=available]").ariaCurrent === "page" && %s === "%d"`, first, at-1))

	colleague.Open(s.URL + "/#no-0") // there is no such place
	colleague.Wait(`document.querySelectorAll(".card").length === 24 && scrollY === 0`)
	testservice.Eval[bool](page, `(scrollTo({ top: 0, behavior: "instant" }), true)`)
	page.Wait(`location.hash === ""`)
}

func TestTenThousandAnimalsStayUsable(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	importAnimals(t, database, 10_000)
	s := testservice.Serve(t, "--database", database)
	page := openAt(t, s, "")
	page.Wait(`summary.innerText === "24 of 10,000 animals"`)
	for pages := 2; pages <= 20; pages++ {
		page.Wait(fmt.Sprintf(`(scrollTo({ top: document.body.scrollHeight, behavior: "instant" }), document.querySelectorAll(".card").length >= %d)`, 24*pages))
	}
	last := testservice.Eval[string](page, `document.querySelector(".card:last-child .meta").innerText`)
	if each := testservice.Eval[float64](page, `document.querySelectorAll("#animals *").length / animals.children.length`); each > 45 {
		t.Errorf("a card has %v elements", each)
	}
	id := last[strings.LastIndex(last, "\u00a0")+len("\u00a0"):]
	page.Click(fmt.Sprintf("[data-animal='%s']", id))
	page.Wait(`document.activeElement.id === "animal-name" && document.activeElement.innerText !== ""`)
	page.Reload()
	page.Wait(isAvailable)
	page.Press(escape)
	page.Wait(fmt.Sprintf(`document.activeElement.dataset.animal === %q && document.querySelectorAll(".card").length >= 480`, id))
}
