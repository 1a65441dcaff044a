package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// answerAll replaces the answers to all requests for which a JavaScript condition on method and url holds. It does so until
// the test evaluates putBack. The argument answer is an expression as in answerOnce.
func answerAll(page *testservice.Page, condition, answer string) {
	testservice.Eval[bool](page, fmt.Sprintf(`(() => {
		window.real ??= window.fetch;
		window.asked = 0;
		window.fetch = (url, options) => {
			const method = options?.method ?? "GET";
			const sent = () => real(url, options);
			if (!(%s)) return sent();
			asked++;
			return %s;
		};
		return true;
	})()`, condition, answer))
}

const (
	putBack     = `(window.fetch = real, true)`
	onHeading   = `document.activeElement.id === "animal-name"`
	mayHave     = `notice.innerText.includes("may have changed since")`
	mayBeDone   = `notice.innerText.includes("it is done once")`
	refusedBusy = `Promise.resolve(new Response('{"code":"unavailable","message":"Not now."}', {status: 503, headers: {"Retry-After": "1"}}))`
)

func TestAButtonActsOnTheAnimalItWasClickedFor(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"), animal("Biscuit", "available"))
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1}`)
	page := openAt(t, s, "?animal=1")
	page.Wait(is("Reserved", "Mark as adopted", "Cancel the reservation", "Edit"))
	answerOnce(page, "POST", onRelease)
	page.Click(act("bring-back"))
	page.Wait(isAvailable)
	page.Click(act("adopt"))
	page.Click("#close-animal")
	page.Click(`[data-animal="2"]`)
	page.Wait(`document.getElementById("animal-name").innerText === "Biscuit"`)
	testservice.Eval[bool](page, "(release(), true)")
	page.Wait(`said.innerText === "Olive is available again."`)
	page.Reload()
	page.Wait(isAvailable)
	if pets := s.EveryPet(t); pets[0].Status != "available" || pets[1].Status != "available" {
		t.Errorf("the store has %+v", pets)
	}
}

func TestAButtonDoesNothingOnceItsAnimalIsClosed(t *testing.T) {
	_, page := openDesk(t, "?animal=1", animal("Olive", "sold"))
	page.Wait(isAdopted)
	answerOnce(page, "PATCH", onRelease)
	page.Click(act("bring-back"))
	page.Wait(isAvailable)
	page.Click(act("delete"))
	page.Click("#close-animal")
	page.Wait(showsExactly("Olive"))
	testservice.Eval[bool](page, "(release(), true)")
	page.Wait(`said.innerText === "Olive is available again."`)
	if testservice.Eval[bool](page, `Boolean(document.querySelector("dialog[open]")) || document.title !== "All animals · Petstore"`) {
		t.Error("the button acted after the list was shown")
	}
}

// The page repeats each reservation with the reservation's own idempotency key.
func TestTwoReservationsAtOnceAreEachMadeOnce(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"), animal("Biscuit", "available"))
	page.Click(act("reserve"))
	// The page gets a 503 instead of the answer to the first reservation. The 503 arrives after the second reservation was
	// made.
	answerAll(page, `method === "POST"`, `(() => {
		(window.named ??= []).push(options.headers["Idempotency-Key"]);
		return named.length > 1 ? sent() : sent().then(() => new Promise((resolve) => (window.release = resolve))).then(() => `+refusedBusy+`);
	})()`)
	page.Click("#send-reserve")
	page.Wait("window.release")
	page.Click("#close-animal")
	page.Click(`[data-animal="2"]`)
	page.Click(act("reserve"))
	page.Click("#send-reserve")
	page.Wait(`order.innerText.includes("Order 2")`)
	testservice.Eval[bool](page, "(release(), true)")
	page.Wait(`named.length === 3 && named[0] === named[2] && named[0] !== named[1]`)
	if got := ordersOf(t, s); len(got) != 2 || got[0].Status != "open" || got[1].Status != "open" {
		t.Errorf("the store has %+v", got)
	}
}

// The server makes the first reservation, but its answer is lost. After that reservation is cancelled, the same reservation
// counts as a new one.
func TestAReservationAfterACancelledOneIsNew(t *testing.T) {
	_, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Click(act("reserve"))
	answerOnce(page, "POST", `sent().then(() => `+lost+`)`)
	page.Click("#send-reserve")
	page.Wait(mayBeDone)
	page.Wait(`order.innerText.includes("Order 1")`)
	page.Click(act("bring-back"))
	page.Wait(isAvailable)
	page.Click(act("reserve"))
	page.Click("#send-reserve")
	page.Wait(`order.innerText.includes("Order 2")`)
}

func TestAChangeDoesNotWaitForTheChangeOfAnotherAnimal(t *testing.T) {
	_, page := openDesk(t, "?animal=1", animal("Olive", "available"), animal("Biscuit", "available"))
	page.Wait(isAvailable)
	answerOnce(page, "PATCH", onRelease)
	page.Click(act("adopt"))
	page.Wait(isAdopted)
	page.Click("#close-animal")
	page.Click(`[data-animal="2"]`)
	page.Click(act("reserve"))
	page.Wait(`document.getElementById("reserve").open`)
	page.Click("#send-reserve")
	page.Wait(`order.innerText.includes("Order 1")`)
}

// When a countdown ends, only its own message disappears.
func TestTheEndOfACountdownKeepsOtherMessages(t *testing.T) {
	_, page := openDesk(t, "?animal=1", animal("Olive", "available"), animal("Biscuit", "available"))
	page.Wait(isAvailable)
	answerOnce(page, "PATCH", strings.Replace(refusedBusy, `"1"`, `"4"`, 1))
	page.Click(act("adopt"))
	page.Wait(`notice.innerText.includes("Trying again")`)
	page.Click("#close-animal")
	page.Click(`[data-animal="2"]`)
	page.Wait(`document.getElementById("animal-name").innerText === "Biscuit"`)
	answerOnce(page, "PATCH", lost)
	page.Click(act("adopt"))
	page.Wait(mayBeDone)
	page.Wait(`said.innerText === "Olive is adopted."`)
	if !testservice.Eval[bool](page, mayBeDone) {
		t.Error("the message about Biscuit is gone")
	}
}

func TestAMissingAnswerIsReportedAfterATimeout(t *testing.T) {
	_, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	testservice.Eval[bool](page, `(() => { const real = AbortSignal.timeout; AbortSignal.timeout = () => real.call(AbortSignal, 100); return true; })()`)
	for _, answer := range []string{
		`new Promise((resolve, reject) => options.signal?.addEventListener("abort", () => reject(options.signal.reason)))`,
		`Promise.resolve({ // an answer whose body never arrives
			headers: new Headers(),
			text: () => new Promise((resolve, reject) => options.signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")))),
		})`,
	} {
		answerOnce(page, "PATCH", answer)
		page.Click(act("adopt"))
		page.Wait(isAdopted)
		page.Wait(mayBeDone + " && " + isAvailable)
	}
}

func TestARefreshKeepsTheMessageOfAFailedChange(t *testing.T) {
	_, page := openPolling(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	answerOnce(page, "GET", lost)
	page.Wait(mayHave)
	answerAll(page, `method === "PATCH"`, lost)
	page.Click(act("adopt"))
	page.Wait(mayBeDone)
	answerAll(page, `method === "GET" && String(url).includes("orders")`, "sent()")
	page.Wait("asked >= 2") // the page has fetched the animal again
	if !testservice.Eval[bool](page, mayBeDone) {
		t.Error("the message is gone")
	}
}

func TestAnOutageIsReportedUntilItEnds(t *testing.T) {
	_, page := openPolling(t, "", animal("Olive", "available"))
	page.Wait(showsExactly("Olive"))
	for _, answer := range []string{refusedBusy, `Promise.resolve(new Response("", {status: 502}))`} {
		answerAll(page, `method === "GET"`, answer)
		page.Wait(mayHave)
		testservice.Eval[bool](page, putBack)
		page.Wait(`notice.innerText === ""`)
	}
}

func TestThePagesWorkWithoutSiteData(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := testservice.Browser(t)
	page.Before(`for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(window, name, { get() { throw new DOMException("Access is denied", "SecurityError"); } })`)
	page.Open(s.URL + "/")
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Wait(showsExactly("Olive"))
	page.Click(`[data-animal="1"]`)
	page.Click(act("adopt"))
	page.Wait(`said.innerText === "Olive is adopted."`)
	page.Open(s.URL + "/docs")
	page.Click("#operation-listPets .try > summary")
	page.Fill("#operation-listPets .key", s.Key)
	page.Wait(`[...document.querySelectorAll(".try .key")].every((input) => input.value === "` + s.Key + `")`)
}

func TestAnEmptyKeyInTheReferenceDoesNotEraseTheStoredOne(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := testservice.Browser(t)
	page.Open(s.URL + "/")
	testservice.Eval[bool](page, fmt.Sprintf(`(localStorage.setItem("petstore-api-key", %q), sessionStorage.setItem("petstore-api-key", ""), true)`, s.Key))
	page.Reload()
	page.Wait(showsExactly("Olive"))
	page.Open(s.URL + "/docs")
	page.Click("#operation-listPets .try > summary")
	page.Fill("#operation-listPets .key", "")
	page.Click("#operation-listPets .try .primary")
	page.Wait(`document.querySelector("#operation-listPets .try").innerText.includes("401")`) // the page has sent the empty key
}

func TestErrorsOfFieldsAreAnnouncedToScreenReaders(t *testing.T) {
	_, page := openDesk(t, "")
	if silent := testservice.Eval[int](page, `[...document.querySelectorAll(".error")].filter((p) => p.role !== "alert").length`); silent > 0 {
		t.Errorf("%d messages are not announced", silent)
	}
}

func TestTheFocusStaysWithTheAnimal(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"), animal("Biscuit", "available"))
	page.Click(act("reserve"))
	page.Wait(`document.getElementById("reserve").open`)
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"somebody else"}`)
	page.Wait(`order.innerText.includes("For somebody else")`)
	page.Press(escape)
	page.Wait(onHeading)

	page.Open(s.URL + "/?animal=2")
	page.Wait(isAvailable)
	testservice.Eval[bool](page, `(document.querySelector("[data-action=delete]").focus(), true)`)
	s.Ask(t, http.MethodDelete, "/v1/pets/2", "")
	page.Wait(onHeading + ` && document.title === "There is no animal 2 · Petstore"`)
}

func TestAMessageScrollsAwayOnALowScreen(t *testing.T) {
	_, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	for height, want := range map[int64]string{256: "static", 900: "sticky"} {
		page.Size(320, height)
		page.Wait(fmt.Sprintf(`getComputedStyle(notice).position === %q`, want))
	}
}

func TestACategoryThatIsNotSuggestedIsFound(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	for i := range 1000 {
		s.Ask(t, http.MethodPut, fmt.Sprint("/v1/categories/", i+1), fmt.Sprintf(`{"name":"Breed %d"}`, i+1))
	}
	s.Ask(t, http.MethodPut, "/v1/categories/1007", `{"name":"Foxes"}`)
	page := openAt(t, s, "")
	page.Click("#open-add")
	page.Fill("#name", "Olive")
	page.Fill("#categoryId", "Foxes")
	page.Click("#send-add")
	page.Wait(showsExactly("Olive") + ` && document.querySelector(".card .meta").innerText === "Foxes · No.\u00a01"`)
	if got := s.EveryPet(t)[0]; got.CategoryID != 1007 {
		t.Errorf("the store has %+v", got)
	}
}

func TestAnEditWithoutANameCreatesNoCategory(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Click(act("edit"))
	for name, problem := range map[string]string{"": "Name must not be empty.", "  ": "Name must not be only white space."} {
		page.Fill("#name", name)
		page.Fill("#categoryId", "Foxes")
		page.Click("#send-add")
		page.Wait(fmt.Sprintf(`document.getElementById("name-error").innerText === %q`, problem))
	}
	if got := s.Ask(t, http.MethodGet, "/v1/categories", "").Body; got != "[]" {
		t.Errorf("the store has the categories %s", got)
	}
}

func TestANameCannotReverseTheTextAroundIt(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	s.Ask(t, http.MethodPut, "/v1/categories/1", `{"name":"Dogs \u202elarge"}`)
	add(t, s, `{"name":"Olive \u202eevil","categoryId":1}`)
	page := openAt(t, s, "?animal=1")
	page.Wait(`document.getElementById("animal-meta").innerText === "Dogs large · No.\u00a01" && document.title === "Olive evil · Petstore"`)
	page.Click(act("edit"))
	page.Wait(`document.getElementById("categoryId-hint").innerText === "Dogs large is category 1."`)
	page.Press(escape)
	page.Click(act("delete"))
	page.Wait(`document.getElementById("ask-title").innerText === "Delete Olive evil?"`)
	page.Press(escape)
	page.Click(act("adopt"))
	page.Wait(`said.innerText === "Olive evil is adopted."`)
}
