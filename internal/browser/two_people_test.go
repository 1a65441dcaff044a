package browser

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// holdable is a script for a page. After holdBack(), the page hears of nothing: its reads wait until letGo(). The array
// writes has the method, the path and the status of each change that the page has sent. Short waits are shorter, and
// long ones longer.
const holdable = `
	window.heard = Promise.resolve();
	window.letGo = () => {};
	window.holdBack = () => (window.heard = new Promise((resolve) => (window.letGo = resolve)));
	window.writes = [];
	window.fetch = new Proxy(fetch, { apply: async (send, self, [address, options = {}]) => {
		const { method = "GET" } = options;
		if (method === "GET") {
			await heard;
			return send.call(self, address, options);
		}
		const write = { method, path: new URL(address, location).pathname };
		writes.push(write);
		try {
			const answer = await send.call(self, address, options);
			write.status = answer.status;
			return answer;
		} catch (error) {
			write.status = -1;
			throw error;
		}
	} });
	ReadableStreamDefaultReader.prototype.read = new Proxy(ReadableStreamDefaultReader.prototype.read, { apply: async (read, self) => {
		const piece = await read.call(self);
		await heard;
		return piece;
	} });
	window.setTimeout = new Proxy(setTimeout, { apply: (set, self, [task, pause = 0]) => set.call(window, task, pause > 3000 ? 20 * pause : pause / 20) });`

// state is what the store knows of an animal in these tests.
type state struct {
	status  string // empty after the animal was deleted
	name    string
	order   string // the status of the latest order, or empty
	forWhom string
}

// Requests that the desk sends for the actions of a person.
const (
	placeOrder    = "reserve"
	completeOrder = "complete the order"
	cancelOrder   = "cancel the order"
	correctOrder  = "correct the order"
	prolongOrder  = "prolong the order"
	setAvailable  = "set to available"
	setSold       = "set to sold"
	rename        = "rename"
	deletePet     = "delete"
)

// after is the model of the store: it returns the state after a request and the events of the request, or that the store
// refuses the request.
func (s state) after(request string) (next state, events []string, refused bool) {
	next = s
	switch request {
	case placeOrder:
		next.status, next.order, next.forWhom = "pending", "open", "Ms Lindqvist"
		return next, []string{"order.placed", "pet.updated"}, s.status != "available"
	case completeOrder, cancelOrder:
		next.status, next.order = "sold", "completed"
		if request == cancelOrder {
			next.status, next.order = "available", "cancelled"
		}
		if s.order == next.order {
			return s, nil, false // repeating it changes nothing
		}
		return next, []string{"order." + next.order, "pet.updated"}, s.order != "open"
	case correctOrder:
		next.forWhom = "Mr Okafor"
		if s.forWhom == next.forWhom {
			return s, nil, false
		}
		return next, []string{"order.updated"}, false // a closed order can be corrected too
	case prolongOrder:
		return s, []string{"order.updated"}, s.order != "open"
	case setAvailable, setSold:
		next.status = strings.TrimPrefix(request, "set to ")
		if s.status == next.status {
			return s, nil, false
		}
		return next, []string{"pet.updated"}, s.status == "" || s.order == "open"
	case rename:
		next.name = "Olivia"
		if s.name == next.name {
			return s, nil, false
		}
		return next, []string{"pet.updated"}, s.status == ""
	case deletePet:
		next.status, next.name = "", ""
		return next, []string{"pet.deleted"}, s.status == "" || s.order == "open"
	}
	panic(request)
}

// action is what a person can do on the page of an animal.
type action struct {
	name    string
	request func(state) string // what the desk sends, if the page shows that state; empty if the page does not offer the action
	do      func(*testservice.Page)
}

func click(selectors ...string) func(*testservice.Page) {
	return func(page *testservice.Page) {
		for _, selector := range selectors {
			page.Click(selector)
		}
	}
}

// edit fills the form of the animal.
func edit(fill func(*testservice.Page)) func(*testservice.Page) {
	return func(page *testservice.Page) {
		page.Click(act("edit"))
		fill(page)
		page.Click("#send-add")
	}
}

func unheld(request string, statuses ...string) func(state) string {
	return func(s state) string {
		if s.order != "open" && slices.Contains(statuses, s.status) {
			return request
		}
		return ""
	}
}

func held(request string) func(state) string {
	return func(s state) string {
		if s.order == "open" {
			return request
		}
		return ""
	}
}

var actions = []action{
	{"reserve", unheld(placeOrder, "available"), func(page *testservice.Page) {
		page.Click(act("reserve"))
		page.Fill("#reference", "Ms Lindqvist")
		page.Click("#send-reserve")
	}},
	{"adopt", func(s state) string {
		return cmp.Or(held(completeOrder)(s), unheld(setSold, "available", "pending")(s))
	}, click(act("adopt"))},
	{"cancel or bring back", func(s state) string {
		return cmp.Or(held(cancelOrder)(s), unheld(setAvailable, "pending", "sold")(s))
	}, click(act("bring-back"))},
	{"correct the reservation", func(s state) string {
		if s.forWhom == "Mr Okafor" {
			return "" // the desk sends nothing
		}
		return held(correctOrder)(s)
	}, func(page *testservice.Page) {
		page.Click("#change-order")
		page.Fill("#reference", "Mr Okafor")
		page.Click("#send-reserve")
	}},
	{"prolong the reservation", held(prolongOrder), func(page *testservice.Page) {
		page.Click("#change-order")
		testservice.Eval[bool](page, `(document.getElementById("hold").value = "604800", true)`)
		page.Click("#send-reserve")
	}},
	{"edit the name", func(s state) string {
		if s.status == "" {
			return ""
		}
		return rename
	}, edit(func(page *testservice.Page) { page.Fill("#name", "Olivia") })},
	{"edit the status", unheld(setSold, "available", "pending"), edit(click(`#status label:has([value="sold"])`))},
	{"delete", unheld(deletePet, "available", "pending", "sold"), click(act("delete"), "#ask-yes")},
}

// begins are the states of an animal at the beginning of a test.
var begins = map[string]state{
	"available": {status: "available", name: "Olive"},
	"reserved":  {status: "pending", name: "Olive", order: "open", forWhom: "Sam"},
	"adopted":   {status: "sold", name: "Olive"},
}

// Two people act on one animal. The first acts, then the second does, who has heard of it or not. Afterwards the store has
// what the model says, each change was made once, both pages show it, and whoever was refused was told why.
func TestTwoPeopleActOnOneAnimal(t *testing.T) {
	t.Parallel()
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testservice.Serve(t)
			pair := [2]person{sitDown(t, s), sitDown(t, s)}
			for _, heard := range []bool{true, false} {
				for _, first := range actions {
					for _, second := range actions {
						actInTurn(t, s, pair, begin, first, second, heard)
					}
				}
			}
		})
	}
}

// person is somebody at a page of the desk.
type person struct{ *testservice.Page }

func sitDown(t *testing.T, s *testservice.Instance) person {
	t.Helper()
	page := testservice.Browser(t)
	page.Before(holdable)
	page.Open(s.URL + "/#key=" + s.Key)
	page.Wait(`document.documentElement.dataset.access`)
	return person{page}
}

// visit opens the page of an animal without loading the desk again.
func (p person) visit(id int64, begin state) {
	testservice.Eval[bool](p.Page, fmt.Sprintf(`(import("./assets/shared/address.js").then(({ go }) => go("?animal=%d")), writes.length = 0, true)`, id))
	p.Wait(fmt.Sprintf(`document.getElementById("animal-meta").innerText.includes("No.\u00a0%d") && location.search === "?animal=%[1]d" && `, id) + begin.shown(id))
}

// shown is a JavaScript expression that is true if the page shows this state of the animal. The page of the animal shows it,
// or the list, to which the desk returns when somebody deletes the animal.
func (s state) shown(id int64) string {
	return fmt.Sprintf(`(location.search === "?animal=%d" ? %s : %s)`, id, s.onItsPage(id), s.onItsCard(id))
}

func (s state) onItsPage(id int64) string {
	if s.status == "" {
		return fmt.Sprintf(`document.getElementById("animal-name").innerText === "There is no animal %d"`, id)
	}
	shown := fmt.Sprintf(`document.getElementById("animal-name").innerText === %q && document.getElementById("animal-status").innerText === %q &&
		!document.getElementById("animal").ariaBusy`, s.name, statusWords[s.status])
	if s.order == "open" {
		return shown + fmt.Sprintf(` && document.getElementById("order").innerText.includes(%q)`, "For "+s.forWhom)
	}
	return shown + ` && !document.getElementById("order").checkVisibility()`
}

func (s state) onItsCard(id int64) string {
	card := fmt.Sprintf(`document.querySelector('.card:has([data-animal="%d"])')`, id)
	if s.status == "" {
		return card + ` === null`
	}
	return fmt.Sprintf(`%s?.querySelector(".name").innerText === %q && %[1]s.querySelector(".status").innerText === %[3]q`, card, s.name, statusWords[s.status])
}

var statusWords = map[string]string{"available": "Available", "pending": "Reserved", "sold": "Adopted"}

// does makes the person act, and waits until the store has answered.
func (p person) does(a action) {
	a.do(p.Page)
	p.Wait(`writes.length > 0 && writes.every(({ status }) => status)`)
}

// complaint is a JavaScript expression for what the page complains of.
const complaint = `[...document.querySelectorAll("#notice, .error, dialog[open] .notice")].map((place) => place.innerText.trim()).filter(Boolean).join(" ")`

// check fails the test if the page has changed something other than it should, or says nothing about a refusal.
func (p person) check(t *testing.T, refused bool) {
	t.Helper()
	sent := testservice.Eval[string](p.Page, `writes.map(({ method, path, status }) => method + " " + path + " " + status).join(", ")`)
	if strings.Count(sent, ",") > 0 || strings.Contains(sent, "-1") {
		t.Errorf("the page sent %s", sent)
	}
	said := testservice.Eval[string](p.Page, complaint)
	if refused && !strings.HasSuffix(said, ".") || !refused && said != "" || strings.Contains(said, "undefined") {
		t.Errorf("after %s, the page complains: %q", sent, said)
	}
}

func actInTurn(t *testing.T, s *testservice.Instance, pair [2]person, begin state, first, second action, heard bool) {
	firstRequest := first.request(begin)
	between, wanted, refused := begin, []string(nil), false
	if firstRequest != "" {
		between, wanted, _ = begin.after(firstRequest)
	}
	known := begin // what the second person sees
	if heard {
		known = between
	}
	secondRequest := second.request(known)
	if firstRequest == "" || secondRequest == "" {
		return
	}
	end, events, refused := between.after(secondRequest)
	if refused {
		end = between
	} else {
		wanted = append(wanted, events...)
	}
	t.Run(fmt.Sprintf("%s, then %s, heard %v", first.name, second.name, heard), func(t *testing.T) {
		id, since := prepare(t, s, begin)
		for _, p := range pair {
			p.visit(id, begin)
		}
		if !heard {
			testservice.Eval[bool](pair[1].Page, `(holdBack(), true)`)
		}
		pair[0].does(first)
		if heard {
			pair[1].Wait(between.shown(id))
		}
		pair[1].does(second)
		testservice.Eval[bool](pair[1].Page, `(letGo(), true)`)
		for i, p := range pair {
			p.Wait(end.shown(id))
			p.check(t, i == 1 && refused)
			closeAll(p)
		}
		if got := eventsSince(t, s, since); !slices.Equal(got, wanted) {
			t.Errorf("the store made the events %q, want %q", got, wanted)
		}
		if got := stored(t, s, id); got != end {
			t.Errorf("the store has %+v, want %+v", got, end)
		}
	})
}

// Somebody adopts, cancels or brings back, another person acts, and the first takes it back. If the other one has changed
// where the animal is, nothing is undone, and the page says so.
func TestAnUndoRespectsWhatSomebodyElseDidMeanwhile(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	pair := [2]person{sitDown(t, s), sitDown(t, s)}
	for name, begin := range begins {
		for _, first := range actions {
			if request := first.request(begin); request == "" || !slices.Contains([]string{completeOrder, cancelOrder, setAvailable, setSold}, request) || first.name == "edit the status" {
				continue
			}
			for _, second := range actions {
				t.Run(fmt.Sprintf("%s, %s, then %s", name, first.name, second.name), func(t *testing.T) { undoAfter(t, s, pair, begin, first, second) })
			}
		}
	}
}

func undoAfter(t *testing.T, s *testservice.Instance, pair [2]person, begin state, first, second action) {
	done, wanted, _ := begin.after(first.request(begin))
	if second.request(done) == "" {
		return
	}
	between, events, _ := done.after(second.request(done))
	end, undone, refused := between.undo(begin, done)
	wanted = append(append(wanted, events...), undone...)

	id, since := prepare(t, s, begin)
	for _, p := range pair {
		p.visit(id, begin)
	}
	pair[0].does(first)
	pair[0].Wait(`document.querySelector("#offer button")`)
	testservice.Eval[bool](pair[0].Page, `(holdBack(), true)`)
	pair[1].Wait(done.shown(id))
	pair[1].does(second)
	pair[0].Click("#offer button")
	testservice.Eval[bool](pair[0].Page, `(letGo(), true)`)
	if refused {
		pair[0].Wait(`notice.innerText.includes("Nothing was undone.")`)
	}
	for _, p := range pair {
		p.Wait(end.shown(id))
		closeAll(p)
	}
	if got := eventsSince(t, s, since); !slices.Equal(got, wanted) {
		t.Errorf("the store made the events %q, want %q", got, wanted)
	}
	if got := stored(t, s, id); got != end {
		t.Errorf("the store has %+v, want %+v", got, end)
	}
}

// undo is the model of an undo: it leads from s back to where the animal was in begin, unless s differs from done, which is
// what the action left, in more than the name.
func (s state) undo(begin, done state) (next state, events []string, refused bool) {
	if s.status != done.status || s.order == "open" {
		return s, nil, true
	}
	next = s
	if begin.order != "open" {
		next.status = begin.status
		return next, []string{"pet.updated"}, false
	}
	next.status, next.order, next.forWhom = "pending", "open", begin.forWhom
	if s.status != "available" {
		events = append(events, "pet.updated") // only an available animal can be reserved
	}
	return next, append(events, "order.placed", "pet.updated"), false
}

// closeAll closes the dialogs that a refusal left open.
func closeAll(p person) {
	testservice.Eval[bool](p.Page, `(document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close()), true)`)
}

// prepare adds an animal in a state. It returns the animal's number and the id of the latest event.
func prepare(t *testing.T, s *testservice.Instance, begin state) (id int64, since string) {
	t.Helper()
	status := begin.status
	if begin.order != "" {
		status = "available"
	}
	id = testservice.Decode[testservice.Pet](t, s.Ask(t, http.MethodPost, "/v1/pets", animal(begin.name, status)).Body).ID
	if begin.order != "" {
		s.Ask(t, http.MethodPost, "/v1/orders", fmt.Sprintf(`{"petId":%d,"reference":%q}`, id, begin.forWhom))
	}
	next := testservice.NextLink.FindStringSubmatch(s.Ask(t, http.MethodGet, "/v1/events?after=now", "").Header.Get("Link"))
	return id, next[1]
}

// eventsSince returns the types of the events after a link to them.
func eventsSince(t *testing.T, s *testservice.Instance, since string) (types []string) {
	t.Helper()
	for _, event := range testservice.Decode[[]struct{ Type string }](t, s.Ask(t, http.MethodGet, since, "").Body) {
		types = append(types, event.Type)
	}
	return types
}

// stored returns what the store has of an animal.
func stored(t *testing.T, s *testservice.Instance, id int64) (got state) {
	t.Helper()
	for _, pet := range testservice.Decode[[]testservice.Pet](t, s.Ask(t, http.MethodGet, fmt.Sprint("/v1/pets?id=", id), "").Body) {
		got.status, got.name = pet.Status, pet.Name
	}
	for _, order := range testservice.Decode[[]order](t, s.Ask(t, http.MethodGet, fmt.Sprintf("/v1/orders?limit=1&petId=%d", id), "").Body) {
		got.order, got.forWhom = order.Status, order.Reference
	}
	return got
}
