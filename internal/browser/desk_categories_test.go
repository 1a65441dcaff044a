package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// categories is a JavaScript expression that is true if the view of the categories shows exactly these.
func categories(want ...string) string {
	return fmt.Sprintf(`!document.getElementById("category").open && [...document.querySelectorAll("#category-list li")].map((row) =>
		row.querySelector(".name").textContent + " " + row.querySelector(".meta").textContent.replace("No.\u00a0", "")).join() === %q`, strings.Join(want, ","))
}

func category(id, action string) string {
	return fmt.Sprintf(`#category-list [data-id=%q] [data-category=%q]`, id, action)
}

func TestCategoriesAreCreatedRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	const far = "9007199254740993" // JavaScript would round this number
	s.Ask(t, http.MethodPut, "/v1/categories/"+far, `{"name":"Snakes"}`)
	add(t, s, `{"name":"Olive","categoryId":`+far+`}`)
	page := openAt(t, s, "")
	page.Click(`.views [data-view="categories"]`)
	page.Wait(categories("Snakes "+far) + ` && location.search === "?view=categories" && document.activeElement.id === "category-list-title"`)

	page.Click("#open-category")
	page.Fill("#category-name", "Cats")
	page.Press(enter)
	page.Wait(categories("Snakes "+far, "Cats 1") + ` && said.innerText === "Cats was created." && document.activeElement.id === "open-category"`)

	page.Click(category(far, "rename"))
	page.Wait(`document.getElementById("category-title").innerText === "Rename Snakes" && document.getElementById("category-name").value === "Snakes"`)
	page.Fill("#category-name", "Reptiles")
	page.Press(enter)
	page.Wait(categories("Reptiles "+far, "Cats 1") + ` && said.innerText === "Snakes is now called Reptiles."`)
	if got := s.Ask(t, http.MethodGet, "/v1/categories", "").Body; got != `[{"id":1,"name":"Cats"},{"id":`+far+`,"name":"Reptiles"}]` {
		t.Errorf("the store has %s", got)
	}

	page.Click(category(far, "delete"))
	page.Wait(`document.getElementById("ask-text").innerText.includes("keep its number ` + far + `")`)
	page.Click("#ask-yes")
	page.Wait(categories("Cats 1") + ` && said.innerText === "The category Reptiles was deleted."`)
	page.Size(390, 844)
	page.Wait(`new Set([...document.querySelectorAll("#category-list li button")].map((button) => button.getBoundingClientRect().top)).size === 1`)
	page.Click(`.views [data-view=""]`)
	page.Wait(`document.querySelector(".card .meta")?.innerText.startsWith("Category\u00a0` + far + `")`)
}

func TestARefusedNameStaysInItsFieldWithTheReason(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	s.Ask(t, http.MethodPut, "/v1/categories/1", `{"name":"Dogs"}`)
	s.Ask(t, http.MethodPut, "/v1/categories/2", `{"name":"Cats"}`)
	page := openAt(t, s, "?view=categories")
	for opener, label := range map[string]string{"#open-category": "Create", category("1", "rename"): "Rename"} {
		page.Click(opener)
		page.Wait(fmt.Sprintf(`document.getElementById("send-category").innerText === %q`, label))
		for name, problem := range map[string]string{
			"Cats":                   "Category 2 already has this name.",
			"":                       "The name must not be empty.",
			strings.Repeat("W", 101): "The name must be at most 100 characters long.",
		} {
			page.Fill("#category-name", name)
			page.Click("#send-category")
			page.Wait(fmt.Sprintf(`document.getElementById("category-name-error").innerText.includes(%q) && document.activeElement.id === "category-name" &&
				document.activeElement.ariaInvalid === "true" && document.activeElement.value === %q`, problem, name))
		}
		page.Press(escape)
	}
	page.Wait(categories("Dogs 1", "Cats 2"))
}

func TestADialogOfACategorySaysWhatSomebodyElseDidMeanwhile(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	s.Ask(t, http.MethodPut, "/v1/categories/1", `{"name":"Dogs"}`)
	page := openAt(t, s, "?view=categories")
	page.Click(category("1", "rename"))
	page.Fill("#category-name", "Hounds")
	s.Ask(t, http.MethodPut, "/v1/categories/1", `{"name":"Large dogs"}`)
	says := func(text string) string {
		return fmt.Sprintf(`document.getElementById("category-meanwhile").innerText.includes(%q) && document.getElementById("category-name").value === "Hounds"`, text)
	}
	page.Wait(says("renamed this category to “Large dogs”"))
	s.Ask(t, http.MethodDelete, "/v1/categories/1", "")
	page.Wait(says("has deleted this category"))
	page.Press(enter)
	page.Wait(categories("Hounds 1"))
}

func TestSavingTheNameThatACategoryHasChangesNothing(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	s.Ask(t, http.MethodPut, "/v1/categories/1", `{"name":"Dogs"}`)
	page := openAt(t, s, "?view=categories")
	page.Click(category("1", "rename"))
	page.Press(enter)
	page.Wait(categories("Dogs 1"))
	if said := testservice.Eval[string](page, `said.innerText`); said != "" {
		t.Errorf("the page says %s", said)
	}
	page.Click(category("1", "rename"))
	page.Fill("#category-name", "Hounds")
	page.Press(enter)
	page.Wait(categories("Hounds 1") + ` && said.innerText === "Dogs is now called Hounds."`)
}

func TestACategoryThatSomebodyElseHasDeletedMeanwhileIsDeleted(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	s.Ask(t, http.MethodPut, "/v1/categories/1", `{"name":"Dogs"}`)
	page := openAt(t, s, "?view=categories")
	page.Click(category("1", "delete"))
	page.Wait(`ask.open`)
	s.Ask(t, http.MethodDelete, "/v1/categories/1", "")
	page.Click("#ask-yes")
	page.Wait(categories() + ` && said.innerText === "The category Dogs was deleted." && notice.innerText === ""`)
}
