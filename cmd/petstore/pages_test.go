package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// add stores animals through the API, oldest first.
func (s *testServer) add(t *testing.T, animals ...string) {
	t.Helper()
	for _, animal := range animals {
		if got := s.ask(t, http.MethodPost, "/v1/pets", animal); got.status != http.StatusCreated {
			t.Fatalf("%s: %d %s", animal, got.status, got.body)
		}
	}
}

func animal(name, status string) string {
	return fmt.Sprintf(`{"name":%q,"categoryId":1,"status":%q}`, name, status)
}

// storeFront opens the store front of a server as a person does: with the key typed in.
func storeFront(t *testing.T, s *testServer, key string) *testservice.Page {
	t.Helper()
	page := testservice.Browser(t)
	page.Open(s.URL + "/")
	page.Fill("#key", key)
	page.Press(enter)
	return page
}

const (
	tab     = "\t"
	enter   = "\r"
	escape  = "\u001b"
	arrowUp = "\u0304"
)

// shown is a JavaScript expression: the names on the cards, in order.
const shown = `[...document.querySelectorAll(".card .name")].map(name => name.textContent)`

func showsExactly(names ...string) string {
	return fmt.Sprintf(`JSON.stringify(%s) === JSON.stringify(%s)`, shown, "["+strings.Join(quoted(names), ",")+"]")
}

func quoted(names []string) []string {
	q := make([]string, len(names))
	for i, name := range names {
		q[i] = fmt.Sprintf("%q", name)
	}
	return q
}

func TestTheStoreFrontListsTheNewestFirst(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.add(t, animal("Olive", "pending"), animal("Biscuit", "available"), animal("Duke", "sold"))
	page := storeFront(t, s, s.Key)
	page.Wait(showsExactly("Duke", "Biscuit", "Olive"))
	page.Wait(`[...document.querySelectorAll(".card .status")].map(e => e.innerText).join() === "Sold,Available,Pending"`)
	page.Wait(`[...document.querySelectorAll(".card .status use")].map(e => e.getAttribute("href")).join() === "#sold,#available,#pending"`)
	page.Wait(`gauge.innerText.includes("requests left")`)

	if address := testservice.Eval[string](page, `location.href`); strings.Contains(address, s.Key) {
		t.Errorf("the key is in the address %s", address)
	}
	if kept := testservice.Eval[string](page, `document.cookie + JSON.stringify(localStorage)`); kept != "{}" {
		t.Errorf("the browser keeps %s beyond the session", kept)
	}
	page.Reload()
	page.Wait(showsExactly("Duke", "Biscuit", "Olive"))
}

func TestTheFilterIsKeptInTheAddress(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.add(t, animal("Olive", "pending"), animal("Biscuit", "available"), animal("Maple", "pending"))
	page := storeFront(t, s, s.Key)
	page.Wait(showsExactly("Maple", "Biscuit", "Olive"))
	page.Click(`.filter [data-status="pending"]`)
	page.Wait(showsExactly("Maple", "Olive") + ` && location.search === "?status=pending"`)
	page.Reload()
	page.Wait(showsExactly("Maple", "Olive") + ` && document.querySelector(".filter [aria-current]").innerText === "Pending"`)
	page.Click(`.filter [data-status="sold"]`)
	page.Wait(`empty.innerText.includes("No animal is sold") && location.search === "?status=sold"`)
	page.Back()
	page.Wait(showsExactly("Maple", "Olive"))
	page.Back()
	page.Wait(showsExactly("Maple", "Biscuit", "Olive") + ` && location.search === ""`)
}

func TestMoreLeadsToTheLastAnimal(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	if err := fillDemo(t.Context(), storeFlags{Environment: petstore.Production, Database: database}); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, "--database", database)
	page := storeFront(t, s, s.Key)
	for _, count := range []int{24, 48, len(demoAnimals)} {
		page.Wait(fmt.Sprintf(`document.querySelectorAll(".card").length === %d && !animals.ariaBusy`, count))
		if count < len(demoAnimals) {
			page.Click("#more")
		}
	}
	page.Wait(`more.hidden`)
	page.Wait(`document.activeElement === document.querySelectorAll(".card")[48]`)
	want := make([]string, 0, len(demoAnimals))
	for _, animal := range slices.Backward(demoAnimals) {
		want = append(want, animal.Name)
	}
	if got := testservice.Eval[[]string](page, shown); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnAnimalIsAddedOnThePage(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.add(t, animal("Olive", "available"))
	page := storeFront(t, s, s.Key)
	page.Click("#open-add")
	page.Fill("#name", "Zoë “the cat” 🐈")
	page.Fill("#categoryId", "-3")
	page.Click(`#status label:nth-child(2)`)
	page.Click("#send-add")
	page.Wait(showsExactly("Zoë “the cat” 🐈", "Olive") + ` && !add.open && summary.textContent.endsWith("was added")`)
	if got := s.everyPet(t); len(got) != 2 || got[0] != (pet{2, "Zoë “the cat” 🐈", -3, "pending"}) {
		t.Errorf("the store has %+v", got)
	}
}

func TestTheServersMessagesStandAtTheirFields(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	page := storeFront(t, s, s.Key)
	message := func(field string) string {
		return fmt.Sprintf(`document.getElementById("%s-error").textContent`, field)
	}

	page.Click("#open-add")
	page.Click("#send-add")
	page.Wait(message("name") + ` === "Name is required." && ` + message("categoryId") + ` === "Category is required."`)
	page.Wait(`document.activeElement.id === "name" && document.activeElement.ariaInvalid === "true"`)

	page.Fill("#name", "   ")
	page.Fill("#categoryId", "two")
	page.Click("#send-add")
	page.Wait(message("name") + ` === "Name must not be only white space." && ` + message("categoryId") + `.startsWith("Category must be a whole number")`)

	page.Fill("#name", "Olive")
	page.Click("#send-add")
	page.Wait(message("name") + ` === "" && ` + message("categoryId") + ` !== "" && document.activeElement.id === "categoryId"`)
	page.Fill("#categoryId", "2")
	page.Click("#send-add")
	page.Wait(showsExactly("Olive"))
}

func TestAWrongKeyIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.add(t, animal("Olive", "available"))
	page := storeFront(t, s, s.Key+"x")
	page.Wait(`document.getElementById("key-error").innerText.includes("not valid") && document.activeElement.id === "key"`)
	page.Wait(`sessionStorage.length === 0 && document.querySelectorAll(".card").length === 0`)
	page.Fill("#key", "schlüssel")
	page.Press(enter)
	page.Wait(`document.getElementById("key-error").innerText.includes("plain letters")`)
	page.Fill("#key", "  "+s.Key+" ")
	page.Press(enter)
	page.Wait(showsExactly("Olive"))
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Wait(`sessionStorage.length === 0 && document.querySelectorAll(".card").length === 0 && document.activeElement.id === "key"`)
}

func TestARateLimitIsCountedDownAndThePageGoesOnByItself(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s := startServer(t, "--database", database)
	s.add(t, animal("Olive", "available"))
	used := newKey(t, database, "--plan", "enterprise", "--per-minute", "1", "--per-day", "1")
	for {
		got, err := request(s.URL, used, http.MethodGet, "/v1/pets", "")
		if err != nil {
			t.Fatal(err)
		}
		if got.status == http.StatusTooManyRequests {
			break
		}
	}
	page := storeFront(t, s, used)
	page.Wait(`notice.innerText.includes("A short pause") && /^[\d:]+:\d\d$/.test(document.querySelector(".clock").textContent)`)
	page.Wait(`gauge.innerText.replace(/\s+/g, " ") === "0 of 1 requests left" && gauge.classList.contains("low")`)
	clock := testservice.Eval[string](page, `document.querySelector(".clock").textContent`)
	page.Wait(fmt.Sprintf(`document.querySelector(".clock").textContent !== %q`, clock))

	// A day is long: the page's clock is put forward, and by then its key has requests left.
	testservice.Eval[bool](page, fmt.Sprintf(`(sessionStorage.setItem("petstore-api-key", %q), Date.now = () => 8e15, true)`, s.Key))
	page.Wait(showsExactly("Olive") + ` && notice.textContent === ""`)
}

func TestAScriptInANameStaysText(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	names := []string{
		`<script>document.title = "taken"</script>`,
		`<img src=x onerror="document.title = 'taken'">`,
		`"><svg/onload=document.title="taken">`,
		`javascript:document.title="taken"`,
		`{{7*7}}${7*7}`,
		`&lt;b&gt;`,
	}
	for _, name := range names {
		s.add(t, animal(name, "available"))
	}
	page := storeFront(t, s, s.Key)
	slices.Reverse(names)
	page.Wait(showsExactly(names...))
	page.Wait(`!document.title.includes("taken") && !document.querySelector(".cards script, .cards img, .cards [onerror], .cards [onload]")`)
	page.Wait(`document.querySelectorAll(".name *").length === 0`)
}

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
	page.Fill("#categoryId", "x")
	page.Click("#send-add")
	page.Wait(`document.getElementById("categoryId-error").innerText !== ""`)
	fits("the form")
	page.Open(s.URL + "/docs")
	page.Wait(`document.querySelector("#operations-animals-listPets")`)
	fits("the reference")
}

func TestAServerThatWentAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	database, address := "sqlite:"+filepath.Join(t.TempDir(), "pets.db"), freeAddress(t)
	s := startServer(t, "--database", database, "--listen", address)
	s.add(t, animal("Olive", "pending"), animal("Biscuit", "available"))
	page := storeFront(t, s, s.Key)
	page.Wait(showsExactly("Biscuit", "Olive"))
	s.kill()
	page.Click(`.filter [data-status="pending"]`)
	page.Wait(`notice.innerText.includes("cannot be reached")`)
	startServer(t, "--database", database, "--listen", address)
	page.Click("#notice button")
	page.Wait(showsExactly("Olive"))
}

func TestTheReferenceTriesARealCall(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.add(t, animal("Olive", "pending"))
	page := testservice.Browser(t)
	page.Open(s.URL + "/docs")
	page.Wait(`["listPets", "createPet", "getPet"].every(name => document.querySelector("#operations-animals-" + name))`)

	page.Click(".authorize")
	page.Fill(".auth-container input", s.Key)
	page.Click(".auth-btn-wrapper .authorize")
	page.Click(".auth-btn-wrapper .btn-done")

	page.Click("#operations-animals-listPets .opblock-summary-control")
	page.Click("#operations-animals-listPets .execute")
	page.Wait(`document.querySelector("#operations-animals-listPets .live-responses-table")?.innerText.includes("Olive")`)

	page.Click("#operations-animals-createPet .opblock-summary-control")
	page.Click("#operations-animals-createPet .execute")
	page.Wait(`document.querySelector("#operations-animals-createPet .live-responses-table .response .response-col_status")?.innerText.includes("201")`)
	if got := s.everyPet(t); len(got) != 2 || got[0].Name != "Biscuit, beagle mix" {
		t.Errorf("the store has %+v", got)
	}
}
