package browser

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func profileOf(t *testing.T, s *testservice.Instance) string {
	t.Helper()
	return string(s.Ask(t, http.MethodGet, "/v1/pets/1/profile", "").Body)
}

// about is a JavaScript expression for what the page tells about the animal, one fact a line.
const about = `[...document.querySelectorAll("#animal dl > div, #about-tags, .prose, .staff")].filter(e => e.checkVisibility()).map(e => e.innerText).join("\n").replace(/\s*\n\s*/g, "|")`

func TestAProfileIsEditedTogetherWithTheAnimal(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable + ` && ` + about + ` === ""`)
	page.Click(act("edit"))
	page.Fill("#name", "Olivia")
	page.Fill("#breed", "Border collie")
	page.Click(`#sex label:nth-child(2)`)
	page.Fill("#bornOn", "2021")
	page.Wait(`document.getElementById("bornOn-hint").innerText.startsWith("Born in 2021 (about ")`)
	page.Fill("#arrivedOn", "2026-10-02")
	testservice.Eval[bool](page, `(arrivedOn.value = "2026-10-02", true)`)
	page.Fill("#description", "Gentle.\nLikes <b>balls</b>.")
	page.Fill("#tags", `house-trained, "cats, small dogs" , likes "water"`)
	page.Fill("#notes", "Vet on Friday")
	page.Click("#send-add")
	page.Wait(`!add.open && document.getElementById("animal-name").innerText === "Olivia" && said.innerText === "Olivia was saved."`)
	page.Wait(about + ` === "Breed|Border collie|Sex|Female|Age|About " + (new Date().getFullYear() - 2021) + " years, born in 2021|Arrived|October 2, 2026|house-trained|cats, small dogs|likes \"water\"|Gentle.|Likes <b>balls</b>.|Notes for staff|Vet on Friday"`)
	const want = `{"breed":"Border collie","sex":"female","bornOn":"2021","arrivedOn":"2026-10-02","description":"Gentle.\nLikes \u003cb\u003eballs\u003c/b\u003e.","tags":["house-trained","cats, small dogs","likes \"water\""],"notes":"Vet on Friday","photos":[]}`
	if got := profileOf(t, s); got != want {
		t.Errorf("the profile is %s", got)
	}

	page.Reload()
	page.Click(act("edit"))
	page.Wait(`tags.value === 'house-trained, "cats, small dogs", likes "water"' && document.querySelector("[name=sex]:checked").value === "female"`)
	page.Fill("#breed", "")
	s.Ask(t, http.MethodPatch, "/v1/pets/1/profile", `{"notes":"Seen by the vet"}`) // another person
	page.Wait(meanwhile + `.endsWith(": the notes have changed.")`)
	answerAll(page, `method === "PATCH"`, `((window.sentBodies ??= []).push(url.pathname + " " + options.body), sent())`)
	page.Fill("#bornOn", "3 months")
	page.Click("#send-add")
	page.Wait(`!add.open && ` + about + `.includes("Seen by the vet") && !` + about + `.includes("Breed")`)
	page.Wait(`sentBodies.length === 1 && /^\/v1\/pets\/1\/profile {"breed":null,"bornOn":"\d{4}-\d\d"}$/.test(sentBodies[0])`)
}

func TestEachPartOfAnEditThatFailsIsToldAndKept(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Click(act("edit"))
	page.Fill("#name", "Olivia")
	page.Fill("#bornOn", "last summer")
	page.Fill("#notes", "A long text")
	page.Click("#send-add")
	page.Wait(`add.open && document.getElementById("bornOn-error").innerText !== "" && document.activeElement.id === "bornOn"`)
	page.Wait(`document.getElementById("add-notice").innerText.includes("Name, category and status were saved, but the rest was not.") && notes.value === "A long text"`)
	if got := s.EveryPet(t)[0].Name; got != "Olivia" {
		t.Errorf("the animal is called %s", got)
	}
	page.Fill("#bornOn", "2024-05")
	answerAll(page, `method === "PATCH"`, `((window.sentTo ??= []).push(url.pathname), sentTo.length === 1 ? `+lost+` : sent())`)
	page.Click("#send-add")
	page.Wait(`document.getElementById("add-notice").innerText.includes("may or may not have been saved") && notes.value === "A long text"`)
	page.Click("#send-add")
	page.Wait(`!add.open && ` + about + `.includes("born in May 2024") && sentTo.join() === "/v1/pets/1/profile,/v1/pets/1/profile"`)

	page.Click("#close-animal")
	page.Click("#open-add")
	page.Fill("#name", "Biscuit")
	page.Fill("#categoryId", "2")
	page.Fill("#tags", strings.Repeat("x", 51))
	page.Click("#send-add")
	page.Wait(`document.getElementById("tags-error").innerText !== "" && document.getElementById("add-notice").innerText.includes("Biscuit was added, but the rest was not saved.")`)
	page.Wait(showsExactly("Biscuit", "Olivia"))
	page.Fill("#tags", "shy")
	page.Click("#send-add")
	page.Wait(`!add.open`)
	if pets, profile := s.EveryPet(t), s.Ask(t, http.MethodGet, "/v1/pets/2/profile", "").Body; len(pets) != 2 || string(profile) != `{"tags":["shy"],"photos":[]}` {
		t.Errorf("the store has %+v and %s", pets, profile)
	}
	page.Click("#open-add")
	page.Wait(`document.getElementById("name").value === "" && tags.value === "" && document.getElementById("add-title").innerText === "Add an animal"`)
}

// entries is a JavaScript expression for the entries of the timeline.
const entries = `[...document.querySelectorAll("#timeline p")].map(e => e.innerText).join("|")`

func TestTheTimelineTellsTheLifeOfAnAnimal(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s := testservice.Serve(t, "--database", database)
	add(t, s, animal("Olive", "available"))
	for _, step := range [][3]string{
		{http.MethodPatch, "/v1/pets/1", `{"name":"Olivia"}`},
		{http.MethodPost, "/v1/orders", `{"petId":1,"reference":"Mr Novak"}`},
		{http.MethodPost, "/v1/orders/1/cancel", ``},
		{http.MethodPost, "/v1/orders", `{"petId":1}`},
		{http.MethodPatch, "/v1/orders/2", `{"reference":"Ms Adeyemi","holdSeconds":2592000}`},
		{http.MethodPost, "/v1/orders/2/complete", ``},
		{http.MethodPatch, "/v1/pets/1", `{"status":"available"}`},
	} {
		s.Ask(t, step[0], step[1], step[2])
	}
	page := openAt(t, s, "?animal=1")
	page.Wait(entries + ` === "Brought back|Adopted by Ms Adeyemi|" + document.querySelector("#timeline li:nth-child(3) p")?.innerText + "|Reserved for Ms Adeyemi|Reservation cancelled: Mr Novak|Reserved for Mr Novak"`)
	page.Wait(`document.querySelector("#timeline li:nth-child(3) p")?.innerText.startsWith("Reservation prolonged until ")`)
	page.Click("#timeline-all")
	page.Wait(entries + `.endsWith("|Renamed from Olive to Olivia|Added as Olive") && !document.getElementById("timeline-start").checkVisibility()`)
	page.Click(act("adopt")) // the page reads only what is new
	page.Wait(entries + `.startsWith("Adopted|Brought back|Adopted by") && document.querySelectorAll("#timeline li").length === 9`)

	reader := newReadOnlyKey(t, database)
	page.Open(s.URL + "/?animal=1#key=" + reader)
	page.Wait(entries + `.startsWith("Adopted|Brought back|Adopted|") && !/Novak|Adeyemi/.test(document.body.innerText) && document.documentElement.dataset.access === "read"`)
}

func TestTheTimelineWithoutTheBeginningOfTheFeed(t *testing.T) {
	_, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(entries + ` === "Added as Olive"`)
	script := `import("./assets/desk/timeline.js").then(({history}) => (window.told = history(%s, %s, %s).map(({text}) => text).join("|")))`
	for _, c := range []struct{ events, orders, photos, want string }{
		// An order is told once, by its own times, and its events add nothing.
		{`[{type: "order.placed", sequence: 8, timestamp: "2026-01-02T00:00:00.000Z", data: {id: 1, status: "open", createdAt: "2026-01-02T00:00:00.000Z"}},
			{type: "pet.updated", sequence: 9, timestamp: "2026-01-02T00:00:00.000Z", data: {status: "pending"}, previous: {status: "available"}}]`,
			`[{id: 1, status: "expired", createdAt: "2026-01-02T00:00:00.000Z", closedAt: "2026-01-05T00:00:00.000Z"}]`, `[]`, "Reservation ran out|Reserved"},
		// An order that the list has no more is told from its last event.
		{`[{type: "order.placed", sequence: 8, timestamp: "2026-01-02T00:00:00.000Z", data: {id: 1, status: "open", createdAt: "2026-01-02T00:00:00.000Z"}},
			{type: "order.cancelled", sequence: 10, timestamp: "2026-01-03T00:00:00.000Z", data: {id: 1, status: "cancelled", createdAt: "2026-01-02T00:00:00.000Z", closedAt: "2026-01-03T00:00:00.000Z"}}]`,
			`[]`, `[]`, "Reservation cancelled|Reserved"},
		// Photos of one visit are one entry.
		{`[]`, `[]`, `[{createdAt: "2026-01-02T00:00:00.000Z"}, {createdAt: "2026-01-02T00:20:00.000Z"}, {createdAt: "2026-02-02T00:20:00.000Z"}]`, "A photo was added|2 photos were added"},
		{`[{type: "pet.updated", sequence: 5, timestamp: "2026-01-02T00:00:00.000Z", data: {status: "sold"}, previous: {status: "available"}}]`, `[]`, `[]`, "Adopted"},
	} {
		testservice.Eval[bool](page, `(window.told = undefined, `+fmt.Sprintf(script, c.events, c.orders, c.photos)+`, true)`)
		page.Wait(`window.told !== undefined`)
		if got := testservice.Eval[string](page, `told`); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	page.Before(`window.fetch = new Proxy(fetch, {apply: (f, self, [url, options]) => String(url).includes("/v1/events?petId")
		? Promise.resolve(new Response("[]", {headers: {"Petstore-Feed-End": "true"}})) : f(url, options)})`)
	page.Reload()
	page.Wait(`document.getElementById("timeline-start").checkVisibility() && ` + entries + ` === ""`)
}

func TestAHoldIsProlongedAndItsReferenceCorrected(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--order-hold", "1h")
	add(t, s, animal("Olive", "available"))
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"Mr Tanaka"}`)
	page := openAt(t, s, "?animal=1")
	page.Click("#change-order")
	page.Wait(`document.getElementById("reserve").open && reference.value === "Mr Tanaka" && hold.selectedOptions[0].text.startsWith("As it is: ") && hold.options[3].text === "In three days"`)
	page.Fill("#reference", "Ms Tanaka")
	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"name":"Olivia"}`) // another person, while the dialog is open
	page.Wait(`document.getElementById("animal-name").innerText === "Olivia" && reference.value === "Ms Tanaka"`)
	testservice.Eval[bool](page, `(hold.value = "604800", true)`)
	answerOnce(page, "PATCH", lost)
	page.Click("#send-reserve")
	page.Wait(mayBeDone + ` && order.innerText.includes("Mr Tanaka")`)
	page.Click("#change-order")
	page.Wait(`reference.value === "Ms Tanaka" && hold.value === "604800"`)
	page.Click("#send-reserve")
	page.Wait(`order.innerText.includes("For Ms Tanaka") && order.innerText.includes("in 7 days") && said.innerText === "The reservation was changed."`)
	page.Click("#change-order")
	page.Fill("#reference", "")
	testservice.Eval[bool](page, `(said.textContent = "", true)`) // the same message as before
	page.Click("#send-reserve")
	page.Wait(`order.innerText.includes("Without a reference") && order.innerText.includes("in 7 days") && said.innerText === "The reservation was changed."`)
	if got := ordersOf(t, s); len(got) != 1 || got[0].Reference != "" || got[0].Status != "open" {
		t.Errorf("the store has %+v", got)
	}
	page.Open(s.URL + "/?animal=1")
	page.Click(act("bring-back"))
	page.Click(act("reserve"))
	page.Wait(`document.getElementById("reserve").open && hold.selectedOptions[0].text === "One hour (usual)" && reference.value === ""`)
}
