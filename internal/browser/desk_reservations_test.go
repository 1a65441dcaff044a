package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// at makes a page believe that it is this moment, on and off in the course of a test.
func at(page *testservice.Page, moment string) {
	testservice.Eval[bool](page, fmt.Sprintf(`(window.realNow ??= Date.now, window.RealDate ??= Date,
		window.moment = RealDate.parse(%q),
		Date = new Proxy(RealDate, {construct: (d, args) => args.length ? new d(...args) : new d(moment), get: (d, name) => name === "now" ? () => moment : d[name]}), true)`, moment))
}

// reserved adds an animal and reserves it. It returns the order.
func reserved(t *testing.T, s *testservice.Instance, name, reference string, holdSeconds int) order {
	t.Helper()
	added := testservice.Decode[testservice.Pet](t, s.Ask(t, http.MethodPost, "/v1/pets", animal(name, "available")).Body)
	placed := s.Ask(t, http.MethodPost, "/v1/orders", fmt.Sprintf(`{"petId":%d,"reference":%q,"holdSeconds":%d}`, added.ID, reference, holdSeconds))
	return testservice.Decode[order](t, placed.Body)
}

// groups is a JavaScript expression for the visible groups of reservations and the names in them.
const groups = `[...document.querySelectorAll("#reservations [data-before]")].filter((g) => g.checkVisibility()).map((g) =>
	g.querySelector("h2").textContent.replace(/ \d+$/, "") + ": " + [...g.querySelectorAll(".name")].map((n) => n.textContent).join(", ")).join("; ")`

func groupsAre(want string) string { return fmt.Sprintf(`%s === %q`, groups, want) }

func TestReservationsAreListedByTheDayOnWhichTheyEnd(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	const day = 86_400
	late := reserved(t, s, "Duke", "J. Tanaka", 10*day)
	reserved(t, s, "Maple", "the Okafors", 4*day)
	soon := reserved(t, s, "Olive", "Ms Lindqvist", 600)
	add(t, s, animal("Biscuit", "pending")) // no order holds this animal
	page := openAt(t, s, "")
	page.Click(`.views [data-view="reservations"]`)
	page.Wait(`location.search === "?view=reservations" && document.title.startsWith("Reservations ·") && document.activeElement.id === "reservations-title"`)
	page.Wait(`document.querySelector(".views [aria-current]").textContent === "Reservations"`)

	// The page groups by the day in its own time zone, so each moment below is given in the time zone of the page.
	local := func(order order, days int, clock string) string {
		return testservice.Eval[string](page, fmt.Sprintf(`(() => {
			const day = new Date(%q);
			return new Date(day.getFullYear(), day.getMonth(), day.getDate() + %d, ...%q.split(":")).toISOString();
		})()`, order.ExpiresAt, days, clock))
	}
	show := func(moment string) {
		at(page, moment)
		page.Click(`.views [data-view="reservations"]`)
	}
	show(local(soon, 0, "00:00:00"))
	page.Wait(groupsAre("Due today: Olive; Within a week: Maple; Later: Duke"))
	page.Wait(`document.getElementById("reservations-summary").textContent === "3 animals are reserved; 1 reservation ends today."`)
	show(local(soon, -1, "23:59:59"))
	page.Wait(groupsAre("Tomorrow: Olive; Within a week: Maple; Later: Duke"))
	show(local(late, -1, "00:00:00"))
	page.Wait(groupsAre("Due today: Olive, Maple; Tomorrow: Duke"))
	page.Wait(`[...document.querySelectorAll("#reservations b")].map((b) => b.textContent.split(" ")[0]).join() === "Ended,Ended,Ends"`)

	row := `document.querySelector("#reservations li").innerText`
	page.Wait(row + `.includes("For Ms Lindqvist") && ` + row + `.includes("No.\u00a03")`)
	page.Wait(fmt.Sprintf(`document.querySelector("#reservations time").dateTime === %q && document.querySelector("#reservations time").textContent !== ""`, soon.ExpiresAt))
}

func TestReservationsFollowWhatOthersDo(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	reserved(t, s, "Olive", "Ms Lindqvist", 90_000)
	page := openAt(t, s, "?view=reservations")
	names := func(want string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#reservations .name")].map((n) => n.textContent).join() === %q`, want)
	}
	page.Wait(names("Olive"))
	reserved(t, s, "Duke", "J. Tanaka", 3600)
	page.Wait(names("Duke,Olive"))
	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"name":"Olivia"}`)
	page.Wait(names("Duke,Olivia"))
	s.Ask(t, http.MethodPatch, "/v1/orders/1", `{"reference":"Mr Lindqvist","holdSeconds":60}`)
	page.Wait(names("Olivia,Duke") + ` && document.querySelector("#reservations li").innerText.includes("For Mr Lindqvist")`)

	page.Click(`#reservations [data-animal="1"]`)
	page.Wait(`location.search === "?view=reservations&animal=1" && document.activeElement.innerText === "Olivia"`)
	page.Click(act("adopt"))
	page.Wait(`!order.checkVisibility()`)
	page.Press(escape)
	page.Wait(names("Duke") + ` && location.search === "?view=reservations" && document.activeElement.id === "reservations-title"`)
	s.Ask(t, http.MethodPost, "/v1/orders/2/cancel", "")
	page.Wait(`document.getElementById("no-reservations").checkVisibility() && ` + names(""))
}

func TestAKeyThatMayOnlyReadDoesNotSeeForWhomAnAnimalIsReserved(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	reserved(t, s, "Olive", "Ms Lindqvist", 3600)
	s.Ask(t, http.MethodPut, "/v1/categories/1", `{"name":"Dogs"}`)
	made := testservice.Decode[struct{ Secret string }](t, s.Ask(t, http.MethodPost, "/v1/keys", `{"name":"Volunteers","access":"read"}`).Body)
	page := testservice.Browser(t)
	page.Open(s.URL + "/?view=reservations#key=" + made.Secret)
	page.Wait(`document.documentElement.dataset.access === "read" && document.querySelector("#reservations li").innerText.includes("Olive")`)
	if said := testservice.Eval[string](page, `document.querySelector("#reservations li").innerText`); strings.Contains(said, "reference") || strings.Contains(said, "Lindqvist") {
		t.Errorf("the row says %q", said)
	}
	page.Click(`.views [data-view="categories"]`)
	page.Wait(`document.querySelector("#category-list li")?.checkVisibility()`)
	if buttons := testservice.Eval[int](page, `[...document.querySelectorAll("#category-list button")].filter((b) => b.checkVisibility()).length`); buttons > 0 {
		t.Errorf("%d buttons are offered", buttons)
	}
}

// A page of the list has the names of 100 reserved animals. The others are looked up singly.
func TestAThousandReservationsAreListedAndMoreAreMentioned(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	importAnimals(t, database, 1001)
	s := testservice.Serve(t, "--database", database)
	for id := range 1001 {
		s.Ask(t, http.MethodPost, "/v1/orders", fmt.Sprintf(`{"petId":%d,"holdSeconds":%d}`, id+1, 100_000+id))
	}
	page := openAt(t, s, "?view=reservations")
	page.Wait(`document.getElementById("reservations-summary").textContent.startsWith("There are more than 1,000 reservations.")`)
	page.Wait(`document.querySelectorAll("#reservations li").length === 1000 && document.querySelector("#reservations .meta").textContent.endsWith("No.\u00a02")`)
}

func TestAReservedAnimalBehindManyOthersIsNamed(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	reserved(t, s, "Olive", "Ms Lindqvist", 3600)
	for range 210 {
		add(t, s, animal("Biscuit", "pending"))
	}
	page := openAt(t, s, "?view=reservations")
	page.Wait(`document.querySelector("#reservations .name")?.textContent === "Olive"`)
}
