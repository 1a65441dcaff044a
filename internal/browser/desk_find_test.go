package browser

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// describe stores a profile of an animal.
func describe(t *testing.T, s *testservice.Instance, id int, profile string) {
	t.Helper()
	if got := s.Ask(t, http.MethodPatch, fmt.Sprintf("/v1/pets/%d/profile", id), profile); got.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", profile, got.Status, got.Body)
	}
}

// press sends a key to the element that has the focus. Page.Press would type the key even if the page handles it. Returns
// whether the page handled the key.
func press(page *testservice.Page, key string) bool {
	return testservice.Eval[bool](page, fmt.Sprintf(`!document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {%s, bubbles: true, cancelable: true}))`, key))
}

func TestASearchFindsNamesAndBreedsAndStaysInTheAddress(t *testing.T) {
	s, page := openDesk(t, "", animal("Bella", "available"), animal("Biscuit, beagle mix", "sold"), animal("Olive", "available"))
	describe(t, s, 1, `{"breed":"Beagle","bornOn":"2020"}`)
	page.Wait(showsExactly("Olive", "Biscuit, beagle mix", "Bella"))
	entries := testservice.Eval[int](page, `history.length`)
	press(page, `key: "/"`)
	page.Wait(`document.activeElement.id === "search" && document.activeElement.value === ""`)
	page.Press("beag")
	page.Wait(showsExactly("Biscuit, beagle mix", "Bella") + ` && location.search === "?q=beag" && summary.innerText === "2 animals for “beag”"`)
	page.Wait(`document.querySelector(".card:last-child .kind").innerText.startsWith("Beagle · about ") && document.activeElement.id === "search"`)
	if now := testservice.Eval[int](page, `history.length`); now != entries {
		t.Errorf("four letters made %d entries in the history", now-entries)
	}
	page.Click(`.filter [data-status="available"]`)
	page.Wait(showsExactly("Bella") + ` && location.search === "?status=available&q=beag" && document.title.startsWith("“beag” · Available animals")`)
	page.Reload()
	page.Wait(showsExactly("Bella") + ` && search.value === "beag"`)
	page.Click(`[data-animal="1"]`)
	page.Wait(isAvailable)
	press(page, `key: "/"`) // leads back to the list
	page.Wait(showsExactly("Bella") + ` && document.activeElement.id === "search" && location.search === "?status=available&q=beag"`)
	page.Fill("#search", "nothing like it")
	page.Wait(`empty.innerText.includes("Nothing was found for “nothing like it”") && !document.getElementById("open-take").checkVisibility()`)
	page.Fill("#search", "biscuit")
	page.Wait(`empty.innerText.includes("Nothing was found for “biscuit”")`)
	page.Click("#empty-all")
	page.Wait(showsExactly("Biscuit, beagle mix") + ` && location.search === "?q=biscuit"`)
	page.Fill("#search", "")
	page.Wait(showsExactly("Olive", "Biscuit, beagle mix", "Bella") + ` && location.search === ""`)
}

// A click on an animal before the search has begun keeps what is typed.
func TestWhatIsTypedIsKeptInTheAddressWhenAnAnimalIsOpened(t *testing.T) {
	_, page := openDesk(t, "", animal("Bella", "available"), animal("Olive", "available"))
	page.Wait(showsExactly("Olive", "Bella"))
	testservice.Eval[bool](page, `(window.setTimeout = new Proxy(setTimeout, {apply: (f, self, [task, wait]) => f(task, wait === 200 ? 60_000 : wait)}), true)`)
	page.Fill("#search", "bel")
	page.Click(`[data-animal="1"]`)
	page.Wait(isAvailable + ` && location.search === "?q=bel&animal=1"`)
	page.Press(escape)
	page.Wait(showsExactly("Bella") + ` && search.value === "bel" && location.search === "?q=bel"`)
}

// The answer to an earlier search does not replace the answer to a later one.
func TestALateAnswerToAnEarlierSearchIsIgnored(t *testing.T) {
	_, page := openDesk(t, "", animal("Bella", "available"), animal("Olive", "available"))
	page.Wait(showsExactly("Olive", "Bella"))
	answerAll(page, `String(url).includes("q=bel")`, onRelease)
	page.Fill("#search", "bel")
	page.Wait("window.release")
	page.Fill("#search", "oli")
	page.Wait(showsExactly("Olive"))
	testservice.Eval[bool](page, "("+putBack+", release(), true)")
	page.Wait(showsExactly("Olive") + ` && summary.innerText === "1 animal for “oli”" && !animals.ariaBusy && notice.innerText === ""`)
}

func TestANumberIsFoundAsPeopleWriteIt(t *testing.T) {
	_, page := openDesk(t, "", animal("Bella", "sold"), animal("Duke, 1 year old", "available"), animal("Olive", "available"))
	page.Wait(showsExactly("Olive", "Duke, 1 year old", "Bella"))
	for _, typed := range []string{"1", "#1", "# 1"} {
		page.Fill("#search", typed)
		page.Wait(showsExactly("Bella", "Duke, 1 year old")) // the animal with that number first, then the others
	}
	page.Fill("#search", "No. 1")
	page.Wait(showsExactly("Bella"))
	page.Fill("#search", "1 year")
	page.Wait(showsExactly("Duke, 1 year old"))
	page.Fill("#search", "2")
	page.Wait(showsExactly("Duke, 1 year old"))
	page.Fill("#search", "no 1")
	page.Press(enter)
	page.Wait(isAdopted + ` && location.search === "?q=no+1&animal=1"`)
	page.Back()
	page.Wait(showsExactly("Bella"))
	page.Click(`.filter [data-status="available"]`) // Bella is adopted
	page.Wait(`empty.checkVisibility()`)
}

func TestASearchThatTheServerRefusesIsExplainedAndKept(t *testing.T) {
	_, page := openDesk(t, "", animal("Bella", "available"))
	page.Wait(showsExactly("Bella"))
	for typed, want := range map[string]string{
		strings.Repeat("b", 101): "at most 100 characters",
		"?!":                     "Type a letter or a digit",
		"a b c d e f g h i":      "at most eight",
	} {
		page.Fill("#search", typed)
		page.Wait(fmt.Sprintf(`empty.checkVisibility() && empty.innerText.includes(%q) && search.value === %q && notice.innerText === ""`, want, typed))
		page.Reload()
		page.Wait(fmt.Sprintf(`empty.checkVisibility() && empty.innerText.includes(%q) && search.value === %q`, want, typed))
	}
	page.Fill("#search", "bel")
	page.Wait(showsExactly("Bella") + ` && document.activeElement.id === "search"`)
}

func TestCategoryAndStatusFilterTogether(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	s.Ask(t, http.MethodPut, "/v1/categories/9007199254740993", `{"name":"Cats \u202eof ours"}`)
	s.Ask(t, http.MethodPut, "/v1/categories/2", `{"name":"Dogs"}`)
	add(t, s, `{"name":"Olive","categoryId":9007199254740993}`, `{"name":"Luna","categoryId":9007199254740993,"status":"sold"}`, `{"name":"Duke","categoryId":2,"status":"sold"}`, `{"name":"Vixen","categoryId":-5}`)
	page := openAt(t, s, "?status=sold")
	page.Wait(showsExactly("Duke", "Luna") + ` && title.innerText === "Adopted animals"`)
	choose(page, "of-category", "9007199254740993")
	page.Wait(showsExactly("Luna") + ` && location.search === "?status=sold&category=9007199254740993" && title.innerText === "Cats of ours, adopted"`)
	page.Click(`.filter [data-status=""]`)
	page.Wait(showsExactly("Luna", "Olive") + ` && title.innerText === "Cats of ours"`)
	page.Back()
	page.Back()
	page.Wait(showsExactly("Duke", "Luna") + ` && document.getElementById("of-category").value === ""`)
	page.Open(s.URL + "/?category=-5")
	page.Wait(showsExactly("Vixen") + ` && document.getElementById("of-category").selectedOptions[0].text === "Category\u00a0-5" && title.innerText === "Category\u00a0-5"`)
	page.Click("#open-add")
	page.Fill("#name", "Rex")
	page.Fill("#categoryId", "Dogs")
	page.Click("#send-add")
	page.Wait(`said.innerText === "Rex was added, but this list does not show it."`)
	page.Open(s.URL + "/?category=99999999999999999999")
	page.Wait(`document.querySelectorAll(".card").length === 5`)
}

// givePhoto adds a photo that is three pixels wide to animal 1.
func givePhoto(t *testing.T, s *testservice.Instance) {
	t.Helper()
	content, err := os.ReadFile(photo(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := testservice.Request(s.URL, s.Key, http.MethodPost, "/v1/pets/1/photos", string(content), "Content-Type", "image/jpeg")
	if err != nil || got.Status != http.StatusCreated {
		t.Fatalf("%v %d %s", err, got.Status, got.Body)
	}
}

func TestACardShowsTheCoverPhoto(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"), animal("Bella", "available"))
	givePhoto(t, s)
	page := openAt(t, s, "")
	picture := func(id int) string {
		return fmt.Sprintf(`[...document.querySelector(".card[data-id='%d']").querySelectorAll(".photo, .portrait")].filter((e) => e.checkVisibility())[0].localName`, id)
	}
	page.Wait(`document.querySelector(".photo")?.naturalWidth === 3`)
	page.Wait(picture(1) + ` === "img" && ` + picture(2) + ` === "svg"`)
	testservice.Eval[bool](page, `(document.querySelector(".photo").dispatchEvent(new Event("error")), true)`)
	page.Wait(picture(1) + ` === "svg"`)
}

func TestOnAPhoneTheFirstAnimalBeginsNearTheTop(t *testing.T) {
	t.Parallel()
	_, page := openDemo(t)
	page.Size(390, 844)
	page.Wait(`document.querySelectorAll(".card").length >= 24 && document.documentElement.dataset.access`)
	if top := testservice.Eval[float64](page, `document.querySelector(".card").getBoundingClientRect().top`); top > 260 {
		t.Errorf("the first animal begins at %v of 844 pixels, want 260 at most", top)
	}
	const small = `[...document.querySelectorAll(".top a, .top button, .hero button, .bar a, .bar button, .bar input, .bar select")]
		.filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24).map((e) => e.outerHTML).join()`
	if found := testservice.Eval[string](page, small); found != "" {
		t.Errorf("these are too small for a finger: %s", found)
	}
}
