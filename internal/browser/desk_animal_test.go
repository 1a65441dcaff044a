package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// openAt opens a view of the desk with a link that contains the key.
func openAt(t *testing.T, s *testservice.Instance, query string) *testservice.Page {
	t.Helper()
	page := testservice.Browser(t)
	page.Open(s.URL + "/" + query + "#key=" + s.Key)
	return page
}

// openDesk starts a server with these animals, oldest first, and opens a view of its desk. The test runs in parallel with
// others.
func openDesk(t *testing.T, query string, animals ...string) (*testservice.Instance, *testservice.Page) {
	t.Helper()
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animals...)
	return s, openAt(t, s, query)
}

func act(name string) string { return fmt.Sprintf("[data-action=%q]", name) }

// is returns a JavaScript expression that is true if the open animal has that status and exactly these buttons.
func is(status string, actions ...string) string {
	return fmt.Sprintf(`document.querySelector("#animal-status")?.innerText === %q &&
		[...document.querySelectorAll("[data-action]")].filter(b => b.checkVisibility({visibilityProperty: true})).map(b => b.innerText).join() === %q`,
		status, strings.Join(actions, ","))
}

// The buttons for an animal that no order holds.
var (
	isAvailable = is("Available", "Reserve", "Mark as adopted", "Edit", "Delete")
	isAdopted   = is("Adopted", "Bring back", "Edit", "Delete")
)

type order struct {
	ID        int64
	PetID     int64
	Status    string
	Reference string
	CreatedAt string
	ExpiresAt string
}

func ordersOf(t *testing.T, s *testservice.Instance) []order {
	t.Helper()
	return testservice.Decode[[]order](t, s.Ask(t, http.MethodGet, "/v1/orders", "").Body)
}

func TestAnAnimalHasAnAddressThatCanBeSharedAndReloaded(t *testing.T) {
	s, page := openDesk(t, "?status=pending", animal("Olive", "pending"), animal("Biscuit", "available"))
	page.Wait(showsExactly("Olive"))
	page.Click(`[data-animal="1"]`)
	page.Wait(`document.activeElement.id === "animal-name" && document.activeElement.innerText === "Olive" && document.title === "Olive · Petstore"`)
	page.Wait(`location.search === "?status=pending&animal=1" && location.hash === ""`)
	page.Reload()
	page.Wait(is("Reserved", "Mark as adopted", "Make available again", "Edit", "Delete"))
	page.Press(escape)
	page.Wait(showsExactly("Olive") + ` && location.search === "?status=pending" && document.activeElement.dataset.animal === "1"`)

	page.Open(s.URL + "/?animal=2")
	page.Wait(isAvailable)
	page.Click("#close-animal")
	page.Wait(showsExactly("Biscuit", "Olive") + ` && location.search === ""`)
	page.Fill("#search", "1")
	page.Press(enter)
	page.Wait(is("Reserved", "Mark as adopted", "Make available again", "Edit", "Delete"))
	page.Back()
	page.Wait(showsExactly("Biscuit", "Olive"))
	page.Fill("#search", "7")
	page.Press(enter)
	page.Wait(`animal.innerText.includes("There is no animal 7")`)
}

// The place in the list is kept a moment after the last scrolling. Here the moment ends when the animal has its address, but
// the list is still on the screen.
func TestAnAnimalThatIsOpenedWhileTheListScrollsKeepsItsAddress(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, numbered(30)...)
	page := testservice.Browser(t)
	page.Before(`{
		const [wait, push] = [window.setTimeout, history.pushState];
		let keep;
		window.setTimeout = (task, pause, ...rest) => (task.name === "keep" ? ((keep = task), 0) : wait(task, pause, ...rest));
		history.pushState = (...entry) => (push.apply(history, entry), keep?.(), (window.kept = Boolean(keep)));
	}`)
	page.Open(s.URL + "/#key=" + s.Key)
	page.Wait(`document.querySelectorAll(".card").length === 24`)
	testservice.Eval[bool](page, `(scrollTo({ top: 300, behavior: "instant" }), true)`)
	page.Wait(`scrollY > 0`)
	page.Click(`[data-animal="20"]`)
	page.Wait(`document.activeElement.id === "animal-name" && window.kept`)
	if address := testservice.Eval[string](page, `location.search + location.hash`); address != "?animal=20" {
		t.Errorf("the address is %s", address)
	}
}

// When the list appears again, the focus moves to the animal that was open, unless the person is already typing.
func TestTheFocusStaysInAFieldWhileThePersonTypes(t *testing.T) {
	_, page := openDesk(t, "", animal("Olive", "pending"))
	page.Click(`[data-animal="1"]`)
	page.Wait(`document.activeElement.id === "animal-name"`)
	testservice.Eval[bool](page, `(window.answer = new Promise((resolve) => { window.letAnswer = resolve; }),
		window.fetch = new Proxy(fetch, {apply: async (f, self, args) => (await answer, f(...args))}), true)`)
	page.Back()
	page.Fill("#search", "7")
	testservice.Eval[bool](page, `(letAnswer(), true)`)
	page.Wait(`!animals.ariaBusy`)
	page.Press(enter)
	page.Wait(`animal.innerText.includes("There is no animal 7")`)
}

func TestAnAnimalIsReservedAndAdopted(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Click(act("reserve"))
	page.Fill("#reference", "the Okafor family")
	testservice.Eval[bool](page, `(document.getElementById("hold").value = "604800", true)`)
	page.Press(enter)
	page.Wait(is("Reserved", "Mark as adopted", "Cancel the reservation", "Edit"))
	page.Wait(`order.innerText.includes("For the Okafor family") && order.innerText.includes("Order 1") && order.innerText.includes("in 7 days")`)
	if got := ordersOf(t, s); len(got) != 1 || got[0].Status != "open" || got[0].Reference != "the Okafor family" {
		t.Errorf("the store has %+v", got)
	}
	page.Reload()
	page.Wait(`order.innerText.includes("The hold ends") && order.innerText.includes("in 7 days")`)
	page.Click(act("adopt"))
	page.Wait(isAdopted + ` && !order.checkVisibility() && said.innerText === "Olive is adopted."`)
	if got := ordersOf(t, s); got[0].Status != "completed" {
		t.Errorf("the store has %+v", got)
	}
}

func TestAReservationIsCancelledAndAnAdoptedAnimalComesBack(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Click(act("reserve"))
	page.Click("#send-reserve")
	page.Wait(`order.innerText.includes("Without a reference") && order.innerText.includes("in 3 days")`)
	page.Click(act("bring-back"))
	page.Wait(isAvailable + ` && !order.checkVisibility()`)
	page.Wait(`document.activeElement.id === "animal-name"`) // the focus moves, because the button has disappeared
	page.Click(act("adopt"))
	page.Wait(isAdopted)
	page.Click(act("bring-back"))
	page.Wait(isAvailable)
	// The page shows a change before the store has answered, so the test waits for the store.
	testservice.Eventually(t, "the store has one order, which is cancelled", 30*time.Second, func() bool {
		got := ordersOf(t, s)
		return len(got) == 1 && got[0].Status == "cancelled"
	})
	testservice.Eventually(t, "the store has the animal available", 30*time.Second, func() bool { return s.EveryPet(t)[0].Status == "available" })
}

func TestAnEditSendsOnlyWhatWasChanged(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Click(act("edit"))
	page.Wait(`document.getElementById("name").value === "Olive" && document.getElementById("categoryId").value === "1"`)
	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"status":"sold"}`) // another person changes the animal
	page.Fill("#name", "")
	page.Click("#send-add")
	page.Wait(`document.getElementById("name-error").innerText !== "" && document.activeElement.id === "name"`)
	page.Fill("#name", "Olivia")
	page.Click("#send-add")
	page.Wait(`!add.open && document.getElementById("animal-name").innerText === "Olivia" && document.activeElement.dataset.action === "edit"`)
	if got := s.EveryPet(t)[0]; got != (testservice.Pet{ID: 1, Name: "Olivia", CategoryID: 1, Status: "sold"}) {
		t.Errorf("the store has %+v", got)
	}
	page.Click(act("edit"))
	page.Click(`#status label:nth-child(2)`)
	page.Click("#send-add")
	page.Wait(is("Reserved", "Mark as adopted", "Make available again", "Edit", "Delete"))
	page.Click("#close-animal")
	page.Wait(showsExactly("Olivia"))
	page.Click("#open-add")
	page.Wait(`document.getElementById("name").value === "" && document.getElementById("add-title").innerText === "Add an animal"`)
}

func TestTheStatusOfAReservedAnimalCannotBeEdited(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1}`)
	page := openAt(t, s, "?animal=1")
	page.Click(act("edit"))
	page.Wait(`document.getElementById("status").disabled && held.checkVisibility()`)
	page.Fill("#categoryId", "4")
	page.Click("#send-add")
	page.Wait(`!add.open && document.getElementById("animal-meta").innerText.startsWith("Category\u00a04")`)
	if got := s.EveryPet(t)[0]; got != (testservice.Pet{ID: 1, Name: "Olive", CategoryID: 4, Status: "pending"}) {
		t.Errorf("the store has %+v", got)
	}
}

func TestCategoriesAreChosenByNameAndCreatedIfNew(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	s.Ask(t, http.MethodPut, "/v1/categories/2", `{"name":"Cats"}`)
	page := openAt(t, s, "?animal=1")
	meta := func(says string) string {
		return fmt.Sprintf(`!add.open && document.getElementById("animal-meta").textContent.replace("\u00a0", " ").startsWith(%q)`, says)
	}
	hint := func(says string) string {
		return fmt.Sprintf(`document.getElementById("categoryId-hint").textContent.includes(%q)`, says)
	}
	page.Wait(meta("Category 1 "))
	page.Click(act("edit"))
	page.Wait(`[...document.querySelectorAll("#categories option")].map(o => o.value).join() === "Cats"`)
	page.Fill("#categoryId", "cats")
	page.Wait(hint("Cats is category 2"))
	page.Click("#send-add")
	page.Wait(meta("Cats "))

	page.Click(act("edit"))
	page.Fill("#categoryId", "Snakes")
	page.Wait(hint("is new"))
	page.Click("#send-add")
	page.Wait(meta("Snakes "))
	testservice.Eventually(t, "the store has the animal among the snakes", 30*time.Second, func() bool { return s.EveryPet(t)[0].CategoryID == 3 })

	page.Click(act("edit"))
	page.Fill("#categoryId", "-42")
	page.Wait(hint("This is category -42"))
	page.Click("#send-add")
	page.Wait(meta("Category -42 "))

	s.Ask(t, http.MethodPost, "/v1/categories", `{"name":"Newts"}`) // the page does not know the category yet
	page.Click(act("edit"))
	page.Fill("#categoryId", "Newts")
	page.Click("#send-add")
	page.Wait(meta("Newts "))
	if got := s.Ask(t, http.MethodGet, "/v1/categories", "").Body; got != `[{"id":2,"name":"Cats"},{"id":3,"name":"Snakes"},{"id":4,"name":"Newts"}]` {
		t.Errorf("the categories are %s", got)
	}
}

func TestAnAnimalIsDeletedAfterAQuestion(t *testing.T) {
	s, page := openDesk(t, "", animal("Olive", "available"), animal("Biscuit", "available"))
	page.Click(`[data-animal="1"]`)
	page.Click(act("delete"))
	page.Wait(`ask.open && ask.innerText.includes("Delete Olive?")`)
	page.Press(escape)
	page.Wait(`!ask.open && document.activeElement.dataset.action === "delete"`)
	page.Click(act("delete"))
	page.Click("#ask-yes")
	page.Wait(showsExactly("Biscuit") + ` && said.innerText === "Olive was deleted." && document.querySelector(".filter .count").innerText === "1"`)
	if got := s.EveryPet(t); len(got) != 1 || got[0].Name != "Biscuit" {
		t.Errorf("the store has %+v", got)
	}
}

func TestARefusedChangeIsUndoneWithTheReason(t *testing.T) {
	s, page := openDesk(t, "", animal("Olive", "available"), animal("Biscuit", "available"))
	page.Click(`[data-animal="1"]`)
	page.Wait(isAvailable)
	// A hidden page requests nothing, so this page does not learn about the order in time.
	hide(page, true)
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"somebody else"}`)
	page.Click(act("adopt"))
	page.Wait(`notice.innerText.includes("Order 1 holds this animal until")`)
	page.Wait(is("Reserved", "Mark as adopted", "Cancel the reservation", "Edit") + ` && order.innerText.includes("somebody else")`)
	s.Ask(t, http.MethodPost, "/v1/orders/1/complete", "")
	page.Click(act("bring-back"))
	page.Wait(`notice.innerText.includes("This order was completed at")`)
	page.Wait(isAdopted)

	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"status":"available"}`)
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1}`)
	page.Click(act("delete"))
	page.Click("#ask-yes")
	page.Wait(showsExactly("Biscuit", "Olive") + ` && notice.innerText.includes("Order 2 holds this animal until")`)
}

// hide makes the page behave as if it were hidden, or visible again.
func hide(page *testservice.Page, hidden bool) {
	state := "visible"
	if hidden {
		state = "hidden"
	}
	testservice.Eval[bool](page, fmt.Sprintf(`(Object.defineProperty(document, "visibilityState", {value: %q, configurable: true}),
		document.dispatchEvent(new Event("visibilitychange")))`, state))
}

func TestAChangeIsShownAtOnceAndUndoneIfNoAnswerComes(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	testservice.Eval[bool](page, `(window.seen = [], new MutationObserver(() => seen.push(document.querySelector("#animal-status").innerText))
		.observe(document.querySelector("#animal-status"), {subtree: true, childList: true, attributes: true}), true)`)
	s.Kill()
	page.Click(act("adopt"))
	page.Wait(`notice.innerText.includes("cannot be reached") && notice.innerText.includes("it is done once")`)
	page.Wait(`seen.includes("Adopted") && document.querySelector("#animal-status").innerText === "Available"`)
}
