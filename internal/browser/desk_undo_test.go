package browser

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"petstore/internal/testservice"
)

const undoButton = "#offer button"

func TestAnActionIsUndone(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "sold"), animal("Biscuit", "pending"), animal("Maple", "available"))
	page.Wait(isAdopted)
	status := func(id int64, want string) {
		t.Helper()
		testservice.Eventually(t, "the store has the animal as "+want, 30*time.Second, func() bool {
			for _, pet := range s.EveryPet(t) {
				if pet.ID == id {
					return pet.Status == want
				}
			}
			return false
		})
	}
	page.Click(act("bring-back"))
	page.Wait(isAvailable + ` && said.innerText === "Olive is available again."`)
	status(1, "available")
	page.Click(undoButton)
	page.Wait(isAdopted + ` && said.innerText === "Undone: Olive is adopted again." && !document.querySelector("#offer button")`)
	status(1, "sold")

	for id, before := range map[int64]string{2: "pending", 3: "available"} {
		page.Open(fmt.Sprintf("%s/?animal=%d", s.URL, id))
		page.Click(act("adopt"))
		page.Click(undoButton)
		page.Wait(`said.innerText.startsWith("Undone: ")`)
		status(id, before)
	}
}

func TestTheEndOfAnOrderIsUndoneWithANewOrder(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"adopt", "bring-back"} {
		s := testservice.Serve(t)
		add(t, s, animal("Olive", "available"))
		s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"the Okafor family","holdSeconds":604800}`)
		page := openAt(t, s, "?animal=1")
		page.Wait(`order.innerText.includes("Order 1")`)
		page.Click(act(action))
		page.Click(undoButton)
		page.Wait(`order.innerText.includes("For the Okafor family") && order.innerText.includes("Order 2") && said.innerText === "Undone: Olive is reserved again."`)
		got := ordersOf(t, s)
		if len(got) != 2 || got[0].Status != "open" || got[0].Reference != "the Okafor family" {
			t.Fatalf("after %s: the store has %+v", action, got)
		}
		first, _ := time.Parse(time.RFC3339, got[1].ExpiresAt)
		second, _ := time.Parse(time.RFC3339, got[0].ExpiresAt)
		if apart := second.Sub(first).Abs(); apart > time.Minute {
			t.Errorf("after %s: the new hold ends %v apart from the old one", action, apart)
		}
	}
}

func TestAnUndoSaysWhoWasFaster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, path, body, want string }{
		{http.MethodPost, "/v1/orders", `{"petId":1}`, "Somebody has changed Olive since: it is reserved now. Nothing was undone."},
		{http.MethodPatch, "/v1/pets/1", `{"status":"pending"}`, "Somebody has changed Olive since: it is reserved now. Nothing was undone."},
		{http.MethodDelete, "/v1/pets/1", "", "Somebody has deleted Olive since. Nothing was undone."},
	} {
		s := testservice.Serve(t)
		add(t, s, animal("Olive", "sold"))
		page := openAt(t, s, "?animal=1")
		page.Wait(isAdopted)
		page.Click(act("bring-back"))
		page.Wait(`document.querySelector("#offer button")`)
		hide(page, true) // the page hears of nothing
		s.Ask(t, c.method, c.path, c.body)
		before := s.EveryPet(t)
		page.Click(undoButton)
		page.Wait(fmt.Sprintf(`notice.innerText.includes(%q)`, c.want))
		if after := s.EveryPet(t); len(after) != len(before) || len(after) > 0 && after[0] != before[0] {
			t.Errorf("%s %s: the undo made %+v of %+v", c.method, c.path, after, before)
		}
	}
}

func TestAnUndoWaitsForTheKeyboardAndThePointer(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "sold"))
	page.Wait(isAdopted)
	// Ten seconds pass at once.
	testservice.Eval[bool](page, `(window.setTimeout = new Proxy(setTimeout, {apply: (f, self, [task, wait]) => f(task, wait >= 8000 && wait <= 10000 ? 0 : wait)}), true)`)
	page.Click(act("bring-back"))
	page.Wait(isAvailable)
	testservice.Eventually(t, "the animal is available", 30*time.Second, func() bool { return s.EveryPet(t)[0].Status == "available" })
	page.Wait(`said.innerText === "" && !document.querySelector("#offer button")`)

	testservice.Eval[bool](page, `(new MutationObserver(() => document.querySelector("#offer button")?.focus()).observe(offer, {childList: true}), true)`)
	page.Click(act("adopt"))
	page.Wait(`document.activeElement.textContent === "Undo" && document.activeElement.getAttribute("aria-describedby") === "said"`)
	testservice.Eval[bool](page, `(setTimeout(() => (window.later = true), 2500), true)`) // a message without the focus would be gone
	page.Wait(`window.later`)
	page.Press(enter)
	page.Wait(isAvailable + ` && document.activeElement.id === "animal-name"`)
}

func TestAnUndoWorksFromTheList(t *testing.T) {
	s, page := openDesk(t, "", animal("Olive", "sold"))
	page.Click(`[data-animal="1"]`)
	page.Click(act("bring-back"))
	page.Wait(isAvailable + ` && document.querySelector("#offer button")`)
	page.Click("#close-animal")
	page.Wait(`document.querySelector(".card .status").innerText === "Available"`)
	page.Click(undoButton)
	page.Wait(`document.querySelector(".card .status").innerText === "Adopted" && location.search === ""`)
	if title := testservice.Eval[string](page, `document.title`); title != "All animals · Petstore" {
		t.Errorf("the title is %q", title)
	}
	if got := s.EveryPet(t)[0].Status; got != "sold" {
		t.Errorf("the store has the animal as %s", got)
	}
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Wait(asksForKey + ` && said.innerText === ""`)
}
