package browser

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// answerOnce replaces the answer to the next request with that method. The argument answer is a JavaScript expression for
// the promise that fetch returns. In that expression, sent() sends the request.
func answerOnce(page *testservice.Page, method, answer string) {
	testservice.Eval[bool](page, fmt.Sprintf(`(() => {
		const real = window.fetch;
		window.fetch = (url, options) => {
			if ((options?.method ?? "GET") !== %q) return real(url, options);
			window.fetch = real;
			const sent = () => real(url, options);
			return %s;
		};
		return true;
	})()`, method, answer))
}

const (
	lost        = `Promise.reject(new TypeError("lost"))`
	refusedKey  = `Promise.resolve(new Response('{"code":"unauthorized","message":"This key was revoked."}', {status: 401}))`
	onRelease   = `new Promise((resolve) => (window.release = resolve)).then(sent)`
	newReserved = `document.getElementById("reserve").open && document.getElementById("reference").value === ""`
)

func TestADoubleClickActsOnce(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "pending"), animal("Biscuit", "sold"))
	page.DoubleClick(act("adopt"))
	page.Wait(isAdopted + ` && said.innerText === "Olive is adopted."`)
	page.Open(s.URL + "/?animal=2")
	page.DoubleClick(act("bring-back"))
	page.Wait(isAvailable + ` && said.innerText === "Biscuit is available again."`)
	if testservice.Eval[bool](page, `Boolean(document.querySelector("dialog[open]"))`) {
		t.Error("the second click opened a dialog")
	}
	if pets := s.EveryPet(t); pets[1].Status != "sold" || pets[0].Status != "available" {
		t.Errorf("the store has %+v", pets)
	}
}

func TestTryingAgainRepeatsTheSameChange(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"one"}`)
	page := openAt(t, s, "?animal=1")
	page.Wait(`order.innerText.includes("For one")`)
	answerOnce(page, "POST", lost)
	page.Click(act("adopt"))
	page.Wait(`notice.innerText.includes("it is done once")`)
	s.Ask(t, http.MethodPost, "/v1/orders/1/cancel", "")
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"two"}`)
	page.Wait(`order.innerText.includes("For two")`)
	page.Click("#notice button")
	page.Wait(`notice.innerText.includes("This order was cancelled at") && order.innerText.includes("For two")`)
	if got := ordersOf(t, s); got[0].Status != "open" || got[1].Status != "cancelled" {
		t.Errorf("the store has %+v", got)
	}
}

func TestTheReferenceIsKeptOnlyForTheSameReservation(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Bella", "available"), animal("Bella", "available"))
	page.Click(act("reserve"))
	page.Fill("#reference", "Ms Tanaka")
	answerOnce(page, "POST", lost)
	page.Click("#send-reserve")
	page.Wait(`notice.innerText.includes("it is done once")`)
	page.Click(act("reserve"))
	page.Wait(`document.getElementById("reserve").open && document.getElementById("reference").value === "Ms Tanaka"`)
	page.Click("#send-reserve")
	page.Wait(`order.innerText.includes("For Ms Tanaka") && order.innerText.includes("Order 1")`)
	page.Click(act("bring-back"))
	page.Wait(isAvailable)
	page.Click(act("reserve"))
	page.Wait(newReserved)
	page.Fill("#reference", "Mr Okafor")
	page.Press(escape)
	page.Open(s.URL + "/?animal=2")
	page.Click(act("reserve"))
	page.Wait(newReserved)
}

func TestAnEditChangesOnlyTheEditedFields(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	s.Ask(t, http.MethodPut, "/v1/categories/2", `{"name":"7"}`)
	s.Ask(t, http.MethodPut, "/v1/categories/3", `{"name":" Dogs "}`)
	add(t, s, `{"name":"Olive","categoryId":7}`, `{"name":"Rex","categoryId":3}`, `{"name":"Line one\nLine two","categoryId":1}`)
	page := openAt(t, s, "?animal=1")
	for i, name := range []string{"Olivia", "Max"} {
		page.Open(fmt.Sprintf("%s/?animal=%d", s.URL, i+1))
		page.Click(act("edit"))
		page.Fill("#name", name)
		page.Click("#send-add")
		page.Wait(fmt.Sprintf(`!add.open && document.getElementById("animal-name").innerText === %q`, name))
	}
	page.Open(s.URL + "/?animal=3")
	page.Click(act("edit"))
	page.Click(`#status label:nth-child(3)`)
	page.Click("#send-add")
	page.Wait(isAdopted)
	want := []testservice.Pet{
		{ID: 3, Name: "Line one\nLine two", CategoryID: 1, Status: "sold"},
		{ID: 2, Name: "Max", CategoryID: 3, Status: "available"},
		{ID: 1, Name: "Olivia", CategoryID: 7, Status: "available"},
	}
	if got := s.EveryPet(t); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the store has %+v, want %+v", got, want)
	}
}

func TestAnAnimalCanBeOpenedWhileAnotherIsBeingChanged(t *testing.T) {
	s, page := openDesk(t, "", animal("Olive", "available"), animal("Biscuit", "available"))
	page.Click(`[data-animal="1"]`)
	answerOnce(page, "PATCH", onRelease)
	page.Click(act("adopt"))
	page.Wait(isAdopted)
	page.Click("#close-animal")
	page.Click(`[data-animal="2"]`)
	page.Wait(`document.getElementById("animal-name").innerText === "Biscuit"`)
	testservice.Eval[bool](page, "(release(), true)")
	testservice.Eventually(t, "the store has the other animal sold", 30*time.Second, func() bool { return s.EveryPet(t)[1].Status == "sold" })
	page.Wait(isAvailable)
}

func TestADialogClosesWithItsAnimal(t *testing.T) {
	_, page := openDesk(t, "", animal("Olive", "available"))
	page.Click(`[data-animal="1"]`)
	page.Click(act("reserve"))
	page.Wait(newReserved)
	page.Back()
	page.Wait(showsExactly("Olive") + ` && !document.querySelector("dialog[open]")`)
}

func TestAnEditIsKeptWhenTheKeyIsRefused(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Click(act("edit"))
	page.Fill("#name", "Olivia of the long night shift")
	answerOnce(page, "PATCH", refusedKey)
	page.Click("#send-add")
	page.Wait(`!add.open && document.body.innerText.includes("This key was revoked.")`)
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Click(act("edit"))
	page.Wait(`document.getElementById("name").value === "Olivia of the long night shift"`)
	page.Press(escape) // discards the edit
	page.Click(act("edit"))
	page.Wait(`document.getElementById("name").value === "Olive"`)
}

func TestTheStatusCanBeEditedOnceAReservationHasEnded(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1}`)
	page := openAt(t, s, "")
	page.Click(`[data-animal="1"]`)
	page.Click(act("edit"))
	page.Wait(`add.open && document.getElementById("status").disabled`)
	page.Back()
	page.Wait(showsExactly("Olive"))
	s.Ask(t, http.MethodPost, "/v1/orders/1/cancel", "")
	page.Click(`[data-animal="1"]`)
	page.Wait(isAvailable)
	page.Click(act("edit"))
	page.Click(`#status label:nth-child(3)`)
	page.Click("#send-add")
	page.Wait(isAdopted)
}

func TestARevokedKeyIsNotReplacedByTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	add(t, s, animal("Olive", "available"))
	page := openAt(t, s, "")
	page.Wait(showsExactly("Olive"))
	next := newKey(t, database, "--plan", "business", "--access", "read")
	testservice.Eval[bool](page, fmt.Sprintf(`(location.hash = "#key=%s", true)`, next))
	page.Wait(showsExactly("Olive") + ` && document.documentElement.dataset.access === "read"`)
	answerOnce(page, "GET", refusedKey)
	add(t, s, animal("Maple", "available")) // makes the page send a request
	page.Wait(`document.getElementById("key-error").innerText.includes("This key was revoked.") && sessionStorage.getItem("petstore-api-key") === null`)
}

func TestAWrongKeyDoesNotReplaceTheRightOne(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := testservice.Browser(t)
	page.Open(s.URL)
	page.Click("#remember")
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Wait(showsExactly("Olive"))
	testservice.Eval[bool](page, `(location.hash = "#key=wrong-wrong-wrong", true)`)
	page.Wait(showsExactly("Olive") + ` && notice.innerText.includes("That key was refused")`)
	page.Reload()
	page.Wait(showsExactly("Olive"))
	page.Click("#change-key")
	page.Click("#remember")
	page.Fill("#key", "mistyped")
	page.Press(enter)
	page.Wait(showsExactly("Olive") + ` && notice.innerText.includes("That key was refused") && localStorage.getItem("petstore-api-key") === "` + s.Key + `"`)
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Reload()
	page.Wait(`document.getElementById("key-panel").checkVisibility()`)
}

func TestALateRefusalOfTheOldKeyKeepsTheNewOne(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	add(t, s, animal("Olive", "available"))
	page := openAt(t, s, "?animal=1")
	page.Wait(isAvailable)
	answerOnce(page, "PATCH", `new Promise((resolve) => (window.release = resolve)).then(() => `+refusedKey+`)`)
	page.Click(act("adopt"))
	page.Wait("window.release")
	next := newKey(t, database, "--plan", "business")
	testservice.Eval[bool](page, fmt.Sprintf(`(location.hash = "#key=%s", true)`, next))
	page.Wait(`location.hash === "" && sessionStorage.getItem("petstore-api-key") === "` + next + `"`)
	testservice.Eval[bool](page, "(release(), true)")
	page.Wait(`notice.innerText.includes("That key was refused")`)
	page.Wait(isAvailable + ` && sessionStorage.getItem("petstore-api-key") === "` + next + `"`)
}

func TestADraftIsKeptAndANumberIsFoundAsPeopleWriteIt(t *testing.T) {
	s, page := openDesk(t, "", animal("Olive", "available"))
	page.Click("#open-add")
	page.Fill("#categoryId", "Hamsters")
	page.Click("#send-add")
	page.Wait(`document.getElementById("name-error").innerText !== "" && document.getElementById("categoryId-error").innerText === ""`)
	if body := s.Ask(t, http.MethodGet, "/v1/categories", "").Body; string(body) != "[]" {
		t.Errorf("a refused animal created the categories %s", body)
	}
	page.Press(escape)
	page.Fill("#search", "No. 1")
	page.Press(enter)
	page.Click(act("edit"))
	page.Press(escape)
	page.Wait(`!add.open`)
	page.Press(escape)
	page.Click("#open-add")
	page.Wait(`document.getElementById("categoryId").value === "Hamsters" && document.getElementById("name").value === ""`)
}

// The page shows an adoption before the server has answered. If the adoption fails, "Bring back", clicked meanwhile, must not
// cancel the reservation.
func TestAButtonDoesOnlyWhatItSaidWhenItWasClicked(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	reserved(t, s, "Olive", "Ms Lindqvist", 3600)
	page := openAt(t, s, "?animal=1")
	page.Wait(is("Reserved", "Mark as adopted", "Cancel the reservation", "Edit"))
	testservice.Eval[bool](page, `(window.lost = new Promise((resolve, reject) => { window.lose = () => reject(new TypeError("lost")); }),
		window.fetch = new Proxy(fetch, {apply: (f, self, args) => String(args[0]).endsWith("/complete") ? lost : f(...args)}), true)`)
	page.Click(act("adopt"))
	page.Wait(isAdopted)
	page.Click(act("bring-back"))
	testservice.Eval[bool](page, `(lose(), true)`)
	page.Wait(`notice.innerText.includes("cannot be reached")`)
	page.Wait(is("Reserved", "Mark as adopted", "Cancel the reservation", "Edit"))
	if got := ordersOf(t, s); got[0].Status != "open" {
		t.Errorf("the store has %+v", got)
	}
}
