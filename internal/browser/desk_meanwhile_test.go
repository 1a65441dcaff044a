package browser

import (
	"net/http"
	"testing"

	"petstore/internal/testservice"
)

// meanwhile is a JavaScript expression for what an open dialog says about other people's changes.
const meanwhile = `document.querySelector("dialog[open] .meanwhile")?.innerText`

func TestAnOpenDialogShowsWhatSomebodyElseChanges(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Click(act("reserve"))
	page.Fill("#reference", "Ms Lindqvist")
	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"name":"Olivia"}`)
	page.Wait(meanwhile + ` === "Somebody has changed this animal meanwhile: the name is now “Olivia”." && reference.value === "Ms Lindqvist"`)
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1}`)
	page.Wait(meanwhile + `?.endsWith(": the name is now “Olivia” and the status is now “Reserved”.") && reference.value === "Ms Lindqvist"`)
	page.Press(escape)
	page.Wait(`document.querySelector("#animal-status").innerText === "Reserved"`)
	s.Ask(t, http.MethodPost, "/v1/orders/1/cancel", "")
	page.Wait(isAvailable)
	page.Click(act("reserve"))
	page.Wait(`document.getElementById("reserve").open && ` + meanwhile + ` === undefined && reference.value === "Ms Lindqvist"`)
	page.Press(escape)
	page.Click(act("delete"))
	page.Wait(`ask.open`)
	s.Ask(t, http.MethodDelete, "/v1/pets/1", "")
	page.Wait(meanwhile + ` === "Somebody has deleted this animal meanwhile."`)
}

func TestAnEditOfWhatWasChangedMeanwhileAsksFirst(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	page.Click(act("edit"))
	page.Fill("#name", "Olga")
	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"name":"Olivia","categoryId":7}`)
	page.Wait(meanwhile + `?.endsWith(": the name is now “Olivia” and the category is now “7”.") && document.getElementById("name").value === "Olga"`)
	page.Click("#send-add")
	page.Wait(meanwhile + `?.endsWith("To replace the name, press “Save” again.")`)
	if got := s.EveryPet(t)[0].Name; got != "Olivia" {
		t.Fatalf("the edit was saved without asking: the name is %s", got)
	}
	page.Click("#send-add")
	page.Wait(`!add.open && document.getElementById("animal-name").innerText === "Olga"`)
	if got := s.EveryPet(t)[0]; got != (testservice.Pet{ID: 1, Name: "Olga", CategoryID: 7, Status: "available"}) {
		t.Errorf("the store has %+v", got)
	}

	// Another field needs no question.
	page.Click(act("edit"))
	page.Fill("#name", "Olive")
	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"categoryId":8}`)
	page.Wait(meanwhile + `?.endsWith(": the category is now “8”.")`)
	page.Click("#send-add")
	page.Wait(`!add.open && document.getElementById("animal-name").innerText === "Olive"`)
}

func TestADialogShowsOtherChangesWithoutAStream(t *testing.T) {
	s, page := openPolling(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	page.Click(act("edit"))
	page.Fill("#name", "Olga")
	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"name":"Olivia"}`)
	page.Wait(meanwhile + `?.includes("the name is now “Olivia”")`)
	page.Click("#send-add")
	page.Wait(meanwhile + `?.endsWith("To replace the name, press “Save” again.")`)
}
