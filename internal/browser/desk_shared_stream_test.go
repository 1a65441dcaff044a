package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// hasStreams waits until the server has that many streams.
func hasStreams(t *testing.T, s *testservice.Instance, n int) {
	t.Helper()
	testservice.Eventually(t, fmt.Sprintf("the server has %d streams", n), time.Minute, func() bool {
		return strings.Contains(s.Scrape(t), fmt.Sprintf("\npetstore_event_streams %d\n", n))
	})
}

// openWindows opens the desk in several windows of one browser. All of them are visible.
func openWindows(t *testing.T, s *testservice.Instance, n int, scripts ...string) []*testservice.Page {
	t.Helper()
	windows := []*testservice.Page{testservice.Browser(t)}
	for len(windows) < n {
		windows = append(windows, windows[0].NewTab())
	}
	for _, window := range windows {
		window.Before(recorder + strings.Join(scripts, ""))
		window.Open(s.URL + "/#key=" + s.Key)
		window.Wait(showsExactly("Olive"))
	}
	return windows
}

// A browser opens at most six connections to a server over HTTP/1.1.
func TestSevenWindowsOfOneBrowserShareOneStream(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--admin-listen", "127.0.0.1:0")
	add(t, s, animal("Olive", "available"))
	windows := openWindows(t, s, 7)
	hasStreams(t, s, 1)
	add(t, s, animal("Maple", "available"))
	for _, window := range windows {
		window.Wait(showsExactly("Maple", "Olive"))
	}

	last := windows[6]
	last.Click(".card a")
	last.Wait(isAvailable)
	last.Click(act("adopt"))
	for _, window := range windows[:6] {
		window.Wait(`document.querySelector(".card .status").dataset.status === "sold"`)
	}
	hasStreams(t, s, 1)

	hide(windows[0], true) // the window that reads the stream
	add(t, s, animal("Biscuit", "available"))
	for _, window := range windows[1:6] {
		window.Wait(showsExactly("Biscuit", "Maple", "Olive"))
	}
	hasStreams(t, s, 1)
	hide(windows[0], false)
	windows[0].Wait(showsExactly("Biscuit", "Maple", "Olive"))
	hasStreams(t, s, 1)
	for i, window := range windows {
		if testservice.Eval[bool](window, `asked.filter(({ path }) => path === "/v1/events?after=now").length > 1`) {
			t.Errorf("window %d lost its place in the stream", i)
		}
	}
}

// A window that crashes cannot say that its frames end.
func TestAWindowReadsTheStreamItselfWhenTheOtherOneCrashes(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--admin-listen", "127.0.0.1:0")
	add(t, s, animal("Olive", "available"))
	const impatient = `window.setTimeout = new Proxy(setTimeout, { apply: (real, self, [task, pause]) => real(task, task.name === "connect" ? 500 : pause) });`
	windows := openWindows(t, s, 2, impatient)
	hasStreams(t, s, 1)
	testservice.Eval[bool](windows[0], `(BroadcastChannel.prototype.postMessage = () => {}, true)`)
	add(t, s, animal("Maple", "available"))
	windows[0].Wait(showsExactly("Maple", "Olive"))
	windows[1].Wait(showsExactly("Maple", "Olive"))
	if got := testservice.Eval[string](windows[1], `asked.filter(({ path }) => path.startsWith("/v1/events")).map(({ last }) => last ? "resumed" : "new").join()`); got != "new,resumed" {
		t.Errorf("the second window asked for the streams %s", got)
	}
}

// Another key may see other events.
func TestWindowsWithOtherKeysShareNoStream(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database, "--admin-listen", "127.0.0.1:0")
	add(t, s, animal("Olive", "available"))
	windows := openWindows(t, s, 2)
	hasStreams(t, s, 1)
	reader := windows[0].NewTab()
	reader.Before(recorder)
	reader.Open(s.URL + "/#key=" + newReadOnlyKey(t, database))
	reader.Wait(showsExactly("Olive") + ` && ` + isOpen(1))
	hasStreams(t, s, 2)
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"J. Tanaka"}`)
	for _, page := range append(windows, reader) {
		page.Wait(`document.querySelector(".card .status").dataset.status === "pending"`)
	}
	reader.Wait(`streamed.includes("order.placed") && !streamed.includes("Tanaka")`)
	hasStreams(t, s, 2)
}
