package main

import (
	"fmt"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestTheStoreFrontIsUsableByKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.add(t, animal("Olive", "pending"), animal("Biscuit", "available"))
	page := testservice.Browser(t)
	page.Open(s.URL + "/")
	page.Wait(`document.activeElement.id === "key"`)
	page.Press(s.Key + enter)
	page.Wait(showsExactly("Biscuit", "Olive"))

	reach := func(selector string) {
		t.Helper()
		for range 30 {
			if testservice.Eval[bool](page, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
				if !testservice.Eval[bool](page, `document.activeElement.matches(":focus-visible")`) {
					t.Errorf("the focus on %s cannot be seen", selector)
				}
				return
			}
			page.Press(tab)
		}
		t.Fatalf("%s is not reached with the Tab key", selector)
	}
	reach(`.filter [data-status="pending"]`)
	page.Press(enter)
	page.Wait(showsExactly("Olive"))

	page.Open(s.URL + "/")
	page.Wait(showsExactly("Biscuit", "Olive"))
	page.Press(tab)
	page.Wait(`document.activeElement.matches(".skip") && document.activeElement.getBoundingClientRect().left >= 0`)
	reach("#open-add")
	page.Press(enter)
	page.Wait(`document.activeElement.id === "name"`)
	page.Press(escape)
	page.Wait(`!add.open && document.activeElement.id === "open-add"`)
	page.Press(enter)
	page.Wait(`document.activeElement.id === "name"`)
	page.Press("Maple" + tab + "3" + tab + arrowUp) // up from the first of three is the last
	page.Wait(`document.activeElement.value === "sold"`)
	page.Press(enter)
	page.Wait(showsExactly("Maple", "Biscuit", "Olive") + ` && !add.open`)
	if got := s.everyPet(t)[0]; got != (pet{3, "Maple", 3, "sold"}) {
		t.Errorf("the store has %+v", got)
	}
}

// contrast is the lowest contrast of any visible text with its ground, as WCAG measures it, and where it is.
const contrast = `(() => {
  const rgba = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3]) return c.slice(0, 3); } return [255, 255, 255]; };
  const texts = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
  return texts.map((e) => { const [a, b] = [light(rgba(getComputedStyle(e).color).slice(0, 3)), light(ground(e))].sort((x, y) => y - x); return [(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 80)]; }).sort((x, y) => x[0] - y[0])[0].join(" ");
})()`

func TestLightAndDarkAreBothEasyToRead(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.add(t, animal("Olive", "pending"), animal("Biscuit", "available"), animal("Duke", "sold"))
	page := testservice.Browser(t)
	ground := make(map[string]string)
	easy := func(where string) {
		t.Helper()
		worst := testservice.Eval[string](page, contrast)
		var ratio float64
		if _, err := fmt.Sscan(worst, &ratio); err != nil || ratio < 4.5 {
			t.Errorf("%s: the lowest contrast is %s, want 4.5", where, worst)
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		page.Scheme(scheme)
		page.Open(s.URL + "/?" + scheme)
		testservice.Eval[bool](page, `(sessionStorage.clear(), true)`)
		page.Open(s.URL + "/")
		page.Fill("#key", "wrong")
		page.Press(enter)
		page.Wait(`document.getElementById("key-error").innerText !== ""`)
		easy(scheme + ", wrong key")
		page.Fill("#key", s.Key)
		page.Press(enter)
		page.Wait(showsExactly("Duke", "Biscuit", "Olive"))
		easy(scheme + ", list")
		page.Click("#open-add")
		page.Click("#send-add")
		page.Wait(`document.getElementById("name-error").innerText !== ""`)
		easy(scheme + ", form")
		ground[scheme] = testservice.Eval[string](page, `getComputedStyle(document.body).backgroundColor`)
	}
	if ground["light"] == ground["dark"] {
		t.Errorf("light and dark have the same ground %s", ground["light"])
	}
}

func TestEveryWidthFitsWithoutScrollingSideways(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.add(t, animal(strings.Repeat("W", 1000), "available"), animal("Olive", "pending"), animal(strings.Repeat("لمى ", 200), "sold"))
	page := testservice.Browser(t)
	fits := func(where string) {
		t.Helper()
		for _, width := range []int64{320, 768, 2560} {
			page.Size(width, 800)
			if wide := testservice.Eval[int64](page, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%s is %d wide in a window of %d", where, wide, width)
			}
		}
	}
	page.Open(s.URL + "/")
	page.Wait(`document.activeElement.id === "key"`)
	fits("the question for the key")
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Wait(`document.querySelectorAll(".card").length === 3`)
	fits("the list")
	page.Click("#open-add")
	page.Click("#send-add")
	page.Wait(`document.getElementById("categoryId-error").innerText !== ""`)
	fits("the form")
	page.Open(s.URL + "/docs")
	page.Wait(`document.querySelector("#operations-animals-listPets")`)
	fits("the reference")
}
