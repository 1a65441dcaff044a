package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func TestTwoPeopleSeeEachOthersChanges(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"), animal("Biscuit", "available"))
	mine, theirs, list := openAt(t, s, "?animal=1"), openAt(t, s, "?animal=1"), openAt(t, s, "")
	list.Wait(showsExactly("Biscuit", "Olive"))
	theirs.Wait(isAvailable)
	testservice.Eval[bool](list, `(document.querySelector("[data-animal='1']").focus(), true)`)

	mine.Click(act("reserve"))
	mine.Fill("#reference", "Ms Lindqvist")
	mine.Click("#send-reserve")
	theirs.Wait(is("Reserved", "Mark as adopted", "Cancel the reservation", "Edit") + ` && order.innerText.includes("Ms Lindqvist") && said.innerText === "Olive is now reserved."`)
	list.Wait(`[...document.querySelectorAll(".card .status")].map(e => e.innerText).join() === "Available,Reserved" && document.querySelectorAll(".count")[2].innerText === "1"`)

	theirs.Click(act("adopt"))
	mine.Wait(isAdopted)
	mine.Click(act("edit"))
	mine.Fill("#name", "Olivia")
	mine.Fill("#categoryId", "Cats")
	mine.Click("#send-add")
	theirs.Wait(`document.getElementById("animal-name").innerText === "Olivia"`)
	add(t, s, animal("Maple", "available"))
	list.Wait(showsExactly("Maple", "Biscuit", "Olivia"))
	if !testservice.Eval[bool](list, `document.activeElement.dataset.animal === "1"`) {
		t.Error("a change by somebody else moved the focus")
	}

	theirs.Click(act("delete"))
	theirs.Click("#ask-yes")
	mine.Wait(`animal.innerText.includes("There is no animal 1")`)
	list.Wait(showsExactly("Maple", "Biscuit"))
}

func TestOfTwoReservationsOfTheSameAnimalOneIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	pages := []*testservice.Page{openAt(t, s, "?animal=1"), openAt(t, s, "?animal=1")}
	for i, page := range pages {
		page.Click(act("reserve"))
		page.Fill("#reference", fmt.Sprint("number ", i))
	}
	for _, page := range pages {
		page.Click("#send-reserve")
	}
	testservice.Eventually(t, "an order is placed", time.Minute, func() bool { return len(ordersOf(t, s)) > 0 })
	placed := ordersOf(t, s)
	for i, page := range pages {
		page.Wait(fmt.Sprintf(`order.innerText.includes("For %s")`, placed[0].Reference))
		if fmt.Sprint("number ", i) != placed[0].Reference {
			page.Wait(`notice.innerText.includes("This animal is pending, not available")`)
		}
	}
	if placed := ordersOf(t, s); len(placed) != 1 {
		t.Errorf("the store has %+v", placed)
	}
}

// openPolling is like openDesk, but the page gets no stream and polls. The page counts its requests in asked.
func openPolling(t *testing.T, query string, animals ...string) (*testservice.Instance, *testservice.Page) {
	t.Helper()
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animals...)
	page := testservice.Browser(t)
	page.Before(`window.asked = 0; window.fetch = new Proxy(fetch, {apply: (f, self, [url, options]) => (asked++,
		String(url).includes("/v1/events") ? Promise.resolve(new Response("", {status: 404})) : f(url, options))})`)
	page.Open(s.URL + "/" + query + "#key=" + s.Key)
	return s, page
}

func TestAHiddenPageDoesNotPoll(t *testing.T) {
	s, page := openPolling(t, "", animal("Olive", "available"))
	page.Wait(showsExactly("Olive"))
	loaded := testservice.Eval[int](page, `asked`)
	page.Wait(fmt.Sprintf(`asked >= %d`, loaded+4)) // the page has polled twice
	hide(page, true)
	page.Wait(`!animals.ariaBusy`)
	add(t, s, animal("Maple", "available"))
	before := testservice.Eval[int](page, `asked`)
	testservice.Eval[bool](page, `(setTimeout(() => window.later = asked, 8000), true)`) // a visible page would poll twice
	page.Wait(`window.later !== undefined`)
	if later := testservice.Eval[int](page, `later`); later > before {
		t.Errorf("a hidden page sent %d requests", later-before)
	}
	hide(page, false)
	page.Wait(showsExactly("Maple", "Olive"))
}

func TestTheDeskNoticesThatAServerIsBack(t *testing.T) {
	t.Parallel()
	database, address := "sqlite:"+filepath.Join(t.TempDir(), "pets.db"), testservice.FreeAddress(t)
	s := testservice.Serve(t, "--database", database, "--listen", address)
	page := openAt(t, s, "")
	page.Wait(`empty.checkVisibility()`)
	s.Kill()
	page.Wait(`notice.innerText.includes("This page keeps trying")`)
	again := testservice.Serve(t, "--database", database, "--listen", address)
	again.Key = s.Key
	add(t, again, animal("Olive", "available"))
	page.Wait(showsExactly("Olive") + ` && notice.innerText === ""`)
}

// Refreshing uses at most half of the requests that are left in the day and in the minute.
func TestRefreshingUsesAtMostHalfOfTheRequestsLeft(t *testing.T) {
	_, page := openDesk(t, "")
	testservice.Eval[bool](page, `(import("./assets/desk/watch.js").then((module) => window.watching = module), true)`)
	page.Wait(`window.watching`)
	const noon = `Date.UTC(2030, 0, 1, 12)`
	for _, c := range []struct {
		name, limits string
		used         int
		seconds      float64 // the expected pause after a refresh that takes two requests
	}{
		{"plenty is left", `{limit: 1e8, remaining: 1e8, reset: now + 30_000, now}`, 0, 3},
		{"the plan Free, 500 of its 1,000 in 12 hours", `{limit: 60, remaining: 58, reset: now + 30_000, now}`, 0, 12 * 3600 * 2 / 500.},
		{"the same with half of the day's requests used", `{limit: 60, remaining: 58, reset: now + 30_000, now}`, 500, 12 * 3600 * 2 / 250.},
		{"the day has less left than the minute", `{limit: 1000, remaining: 40, reset: now + 43_200_000, now}`, 960, 12 * 3600 * 2 / 20.},
		{"nothing is left of the day", `{limit: 1000, remaining: 0, reset: now + 43_200_000, now}`, 1000, 12*3600 + 1},
		{"nothing is left of the minute", `{limit: 1e6, remaining: 0, reset: now + 30_000, now}`, 0, 31},
		{"limits of no published plan", `{limit: 100, remaining: 90, reset: now + 30_000, now}`, 0, 12 * 3600 * 2 / 800.},
	} {
		got := testservice.Eval[float64](page, fmt.Sprintf(`((now) => watching.pauseFor(2, %s, %d) / 1000)(%s)`, c.limits, c.used, noon))
		if got < c.seconds-0.01 || got > c.seconds+0.01 {
			t.Errorf("%s: the pause is %v seconds, want %v", c.name, got, c.seconds)
		}
	}
}

// importAnimals adds n animals to a database.
func importAnimals(t *testing.T, database string, n int) {
	t.Helper()
	rows := new(strings.Builder)
	rows.WriteString("name,categoryId\n")
	for i := range n {
		fmt.Fprintf(rows, "Animal %d,%d\n", i, i%7)
	}
	command := testservice.Command(t, "import", "-", "--database", database)
	command.Stdin = strings.NewReader(rows.String())
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
