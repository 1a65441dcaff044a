package browser

import (
	"fmt"
	"net/http"
	"testing"

	"petstore/internal/testservice"
)

// portraits is a JavaScript expression for the species of the listed animals that have a portrait, in order.
const portraits = `[...document.querySelectorAll(".card .portrait")].map((svg) => svg.dataset.sitter.split(" ")[0]).join()`

func TestAPortraitShowsTheSpeciesOfItsCategory(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	for id, name := range map[int]string{1: "Cats", 2: "Large dogs", 3: "Foxes"} {
		s.Ask(t, http.MethodPut, fmt.Sprint("/v1/categories/", id), fmt.Sprintf(`{"name":%q}`, name))
	}
	add(t, s, `{"name":"Olive","categoryId":1}`, `{"name":"Duke","categoryId":2}`, `{"name":"Vixen","categoryId":3}`, `{"name":"Nobody","categoryId":4}`)
	page := openAt(t, s, "")
	page.Wait(portraits + ` === "paw,paw,dog,cat"`)
	s.Ask(t, http.MethodPut, "/v1/categories/4", `{"name":"Bunnies"}`)
	page.Reload()
	page.Wait(portraits + ` === "rabbit,paw,dog,cat"`)
}

func TestTheWordsOfACategoryNameItsSpecies(t *testing.T) {
	_, page := openDesk(t, "")
	load(page, "portrait.js")
	for name, want := range map[string]string{
		"Cats": "cat", "KITTENS": "cat", "cat": "cat", "Kitties": "cat", "Senior cats & dogs": "cat",
		"Dogs": "dog", "Puppies": "dog", "pups": "dog", "Greyhound": "paw", "Hounds": "dog",
		"Bunnies": "rabbit", "Rabbits": "rabbit", "Hares": "rabbit",
		"Guinea pigs, hamsters and rats": "rodent", "Mice": "rodent", "hamster": "rodent",
		"Budgies": "bird", "Parrots": "bird", "Canaries": "bird", "Finches": "bird", "Geese": "bird",
		"Tortoises": "tortoise", "Turtles": "tortoise",
		"Catfish": "paw", "Category 1": "paw", "Foxes": "paw", "": "paw", "123": "paw", "Ящерицы": "paw", "constructor": "paw",
	} {
		if got := testservice.Eval[string](page, fmt.Sprintf(`loaded.speciesOf(%q)`, name)); got != want {
			t.Errorf("the species of %q is %s, want %s", name, got, want)
		}
	}
}

// load makes the exports of a script of the desk available as the global variable loaded.
func load(page *testservice.Page, script string) {
	testservice.Eval[bool](page, fmt.Sprintf(`(window.loaded = undefined, import("./assets/desk/%s").then((exports) => window.loaded = exports), true)`, script))
	page.Wait("window.loaded")
}

func TestAnAgeIsAsExactAsTheDayOfBirth(t *testing.T) {
	_, page := openDesk(t, "")
	load(page, "words.js")
	for bornOn, want := range map[string]string{
		"2027": "not born yet", "2026": "born this year", "2025": "about 1 year", "2020": "about 6 years",
		"2026-12": "not born yet", "2026-11": "born this month", "2026-10": "1 month", "2025-01": "22 months", "2024-11": "2 years",
		"2026-11-19": "not born yet", "2026-11-18": "born today", "2026-11-17": "1 day", "2026-11-04": "2 weeks",
		"2026-07-19": "17 weeks", "2026-07-18": "4 months", "2024-11-19": "23 months", "2024-11-18": "2 years",
	} {
		if got := testservice.Eval[string](page, fmt.Sprintf(`loaded.age(%q, new Date(2026, 10, 18))`, bornOn)); got != want {
			t.Errorf("on 18 November 2026, an animal born on %s is %q, want %q", bornOn, got, want)
		}
	}
}
