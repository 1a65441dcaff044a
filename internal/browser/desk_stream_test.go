package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// recorder is a script that records the requests of a page in asked, each with its method, its path and its Last-Event-ID,
// and everything that arrives on its streams in streamed. The request is {method, path, last}.
const recorder = `
	window.asked = [];
	window.streamed = "";
	{
		const real = window.fetch;
		window.fetch = async (url, options) => {
			const { pathname, search } = new URL(url);
			asked.push({ method: options?.method ?? "GET", path: pathname + search, last: options?.headers?.["Last-Event-ID"] });
			const answer = await real(url, options);
			if (!answer.headers.get("Content-Type")?.startsWith("text/event-stream")) return answer;
			const [mine, theirs] = answer.body.tee();
			const decoder = new TextDecoder();
			(async () => {
				for await (const piece of mine) window.streamed += decoder.decode(piece, { stream: true });
			})().catch(() => {});
			return new Response(theirs, answer);
		};
	}`

// countAsked is a JavaScript expression for the number of requests whose path contains a text.
func countAsked(path string) string {
	return fmt.Sprintf(`asked.filter(({path}) => path.includes(%q)).length`, path)
}

// openRecorded opens a view of the desk at an address, and records its requests.
func openRecorded(t *testing.T, s *testservice.Instance, address, query string) *testservice.Page {
	t.Helper()
	page := testservice.Browser(t)
	page.Before(recorder)
	page.Open(address + "/" + query + "#key=" + s.Key)
	return page
}

// isOpen is a JavaScript expression that is true when the page has read the beginning of n streams.
func isOpen(n int) string { return fmt.Sprintf(`streamed.split("retry: 3000").length > %d`, n) }

func TestFramesAreFoundHoweverTheTextIsSplit(t *testing.T) {
	_, page := openDesk(t, "")
	testservice.Eval[bool](page, `(import("./assets/shared/stream.js").then((module) => window.stream = module), true)`)
	page.Wait(`window.stream`)
	const read = `((pieces) => { const parser = new stream.FrameParser(); return JSON.stringify(pieces.flatMap((piece) => parser.push(piece))); })`
	for _, c := range []struct{ name, text, want string }{
		{"a bookmark", "id: evt_a_1\n\n", `[{"id":"evt_a_1"}]`},
		{"a retry and a bookmark", "retry: 3000\n\nid: evt_a_1\n\n", `[{"retry":3000},{"id":"evt_a_1"}]`},
		{"an event", "id: evt_a_2\nevent: pet.created\ndata: {\"id\":\"evt_a_2\"}\n\n", `[{"id":"evt_a_2","event":"pet.created","data":"{\"id\":\"evt_a_2\"}"}]`},
		{"the stream of a server that drains", "id: evt_a_2\n\nretry: 4211\n\n", `[{"id":"evt_a_2"},{"retry":4211}]`},
		{"a frame without its end", "id: evt_a_2\n\nid: evt_a_3\ndata: {}\n", `[{"id":"evt_a_2"}]`},
		{"comments and blank lines", ": hello\n\n\n\n:\nid: a\n: more\ndata: b\n\n", `[{"id":"a","data":"b"}]`},
		{"two lines of data", "data: one\ndata: two\ndata\n\n", `[{"data":"one\ntwo\n"}]`},
		{"values without a space, with two, and with colons", "id:a:b\ndata:  c\n\n", `[{"id":"a:b","data":" c"}]`},
		{"fields that nobody knows, and a retry that is no number", "name: a\nretry: soon\nid: a\u0000b\n\nid: c\n\n", `[{"id":"c"}]`},
	} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			text := strings.ReplaceAll(c.text, "\n", end)
			// Every way of splitting the text into three pieces, and every character by itself.
			got := testservice.Eval[[]string](page, fmt.Sprintf(`((text, read) => {
				const found = new Set([read([...text])]);
				for (let i = 0; i <= text.length; i++) for (let j = i; j <= text.length; j++) found.add(read([text.slice(0, i), text.slice(i, j), text.slice(j)]));
				return [...found];
			})(%s, %s)`, jsString(text), read))
			if len(got) != 1 || got[0] != c.want {
				t.Errorf("%s, lines that end with %q: got %q, want %s", c.name, end, got, c.want)
			}
		}
	}
}

func jsString(text string) string {
	return `"` + strings.NewReplacer("\n", `\n`, "\r", `\r`, `"`, `\"`, "\x00", `\0`).Replace(text) + `"`
}

func TestAStreamKeepsLettersThatArriveInTwoPieces(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := openRecorded(t, s, s.URL, "")
	page.Wait(isOpen(1))
	testservice.Eval[bool](page, `(import("./assets/shared/stream.js").then(({ readStream }) => {
		const bytes = new TextEncoder().encode("id: a\ndata: Zoë 🐈\n\n");
		const body = new ReadableStream({ start(to) { for (const byte of bytes) to.enqueue(Uint8Array.of(byte)); to.close(); } });
		const real = window.fetch;
		window.fetch = async () => new Response(body, { headers: { "Content-Type": "text/event-stream" } });
		window.frames = [];
		readStream("v1/events", { signal: new AbortController().signal }, (frame) => frames.push(frame)).then(() => (window.ended = true));
		window.fetch = real;
	}), true)`)
	page.Wait(`window.ended && JSON.stringify(window.frames) === '[{"id":"a","data":"Zoë 🐈"}]'`)
}

func TestAnIdleTabSendsNothingButItsStream(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	for _, query := range []string{"", "?animal=1"} {
		page := openRecorded(t, s, s.URL, query)
		page.Wait(isOpen(1) + ` && document.documentElement.dataset.access`)
		before := testservice.Eval[int](page, `asked.length`)
		// The server sends a bookmark after 15 quiet seconds. A page that polls would have sent requests by then.
		page.Wait(`streamed.split("id: ").length > 2`)
		if after := testservice.Eval[int](page, `asked.length`); after != before {
			t.Errorf("%q: an idle tab sent %s", query, testservice.Eval[string](page, fmt.Sprintf(`JSON.stringify(asked.slice(%d))`, before)))
		}
		if first := testservice.Eval[string](page, `asked[0].path`); first != "/v1/events?after=now" {
			t.Errorf("%q: the first request is %s, so changes during the load may be missed", query, first)
		}
		lists := testservice.Eval[int](page, countAsked("/v1/events?petId=1")) // of the animal's events, for its timeline
		if n := testservice.Eval[int](page, countAsked("/v1/events")) - lists; n != 1 || lists > 1 {
			t.Errorf("%q: the tab opened %d streams and read the events of the animal %d times", query, n, lists)
		}
	}
}

func TestAChangeDuringTheFirstLoadIsShown(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := testservice.Browser(t)
	page.Before(recorder + `
		window.fetch = new Proxy(fetch, { apply: async (real, self, args) => {
			const answer = await real(...args);
			if (!window.release && String(args[0]).includes("/v1/pets")) await new Promise((resolve) => (window.release = resolve));
			return answer;
		} });`)
	page.Open(s.URL + "/#key=" + s.Key)
	page.Wait(`window.release`)
	add(t, s, animal("Maple", "available"))
	page.Wait(`streamed.includes("Maple")`)
	testservice.Eval[bool](page, `(release(), true)`)
	page.Wait(showsExactly("Maple", "Olive"))
}

func TestAViewLooksOnlyAtEventsThatConcernIt(t *testing.T) {
	_, page := openDesk(t, "?animal=7")
	testservice.Eval[bool](page, `(Promise.all(["animal", "list"].map((name) => import("./assets/desk/" + name + ".js")))
		.then(([animal, list]) => window.views = { animal: animal.view, list: list.listView }), true)`)
	page.Wait(`window.views`)
	for _, c := range []struct {
		event        string
		animal, list bool
	}{
		{`{type: "pet.updated", data: {id: 7}}`, true, true},
		{`{type: "pet.updated", data: {id: 77}}`, false, true},
		{`{type: "pet.deleted", data: {id: 7}}`, true, true},
		{`{type: "pet.created", data: {id: 8}}`, false, true},
		{`{type: "profile.updated", data: {petId: 7}}`, true, true},
		{`{type: "profile.updated", data: {petId: 8}}`, false, true},
		{`{type: "order.placed", data: {id: 3, petId: 7}}`, true, false},
		{`{type: "order.placed", data: {id: 7, petId: 3}}`, false, false},
		{`{type: "category.updated", data: {id: 1}}`, true, true},
	} {
		for view, want := range map[string]bool{"animal": c.animal, "list": c.list} {
			if got := testservice.Eval[bool](page, fmt.Sprintf(`views.%s.concerns(%s)`, view, c.event)); got != want {
				t.Errorf("the view of the %s and %s: got %v, want %v", view, c.event, got, want)
			}
		}
	}
}

func TestABusyStoreCausesFewLoads(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := openRecorded(t, s, s.URL, "")
	page.Wait(isOpen(1) + ` && document.documentElement.dataset.access`)
	var names []string
	for i := range 20 {
		add(t, s, animal(fmt.Sprint("Animal ", i), "available"))
		names = append([]string{fmt.Sprint("Animal ", i)}, names...)
	}
	page.Wait(showsExactly(names...))
	loads, passed := testservice.Eval[int](page, countAsked("/v1/pets")), testservice.Eval[float64](page, `performance.now() / 1000`)
	if most := 2 + passed/3; float64(loads) > most {
		t.Errorf("20 changes caused %d loads in %.1f seconds, want at most %.1f", loads, passed, most)
	}
}

func TestAHiddenTabHasNoStreamAndMissesNothing(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--admin-listen", "127.0.0.1:0")
	add(t, s, animal("Olive", "available"))
	page := openRecorded(t, s, s.URL, "")
	page.Wait(showsExactly("Olive") + ` && ` + isOpen(1))
	streams := func(n string) {
		t.Helper()
		testservice.Eventually(t, "the server has "+n+" streams", 30*time.Second, func() bool {
			return strings.Contains(s.Scrape(t), "\npetstore_event_streams "+n+"\n")
		})
	}
	streams("1")
	hide(page, true)
	streams("0")
	before := testservice.Eval[int](page, `asked.length`)
	add(t, s, animal("Maple", "available"))
	add(t, s, animal("Biscuit", "available"))
	if sent := testservice.Eval[int](page, `asked.length`) - before; sent > 0 {
		t.Errorf("the hidden tab sent %d requests", sent)
	}
	hide(page, false)
	page.Wait(showsExactly("Biscuit", "Maple", "Olive") + ` && streamed.includes("Maple") && streamed.includes("Biscuit")`)
	if !testservice.Eval[bool](page, `asked.filter(({path, last}) => path === "/v1/events" && last?.startsWith("evt_")).length === 1`) {
		t.Errorf("the stream was not resumed: %s", testservice.Eval[string](page, `JSON.stringify(asked)`))
	}
	streams("1")
	page.Click(".card a")
	page.Wait(isAvailable)
	streams("1") // another view uses the same stream
}

func TestATabBeginsAnewWhenTheServerNoLongerHasItsEvents(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := openRecorded(t, s, s.URL, "")
	page.Wait(showsExactly("Olive") + ` && ` + isOpen(1))
	hide(page, true)
	testservice.Eval[bool](page, `(window.fetch = new Proxy(fetch, { apply: (real, self, [url, options]) => {
		if (options?.headers?.["Last-Event-ID"]) options.headers["Last-Event-ID"] = "evt_gone_1";
		return real(url, options);
	} }), true)`)
	add(t, s, animal("Maple", "available"))
	hide(page, false)
	page.Wait(showsExactly("Maple", "Olive") + ` && ` + isOpen(2))
	if !testservice.Eval[bool](page, `asked.filter(({path, last}) => path.startsWith("/v1/events")).map(({path, last}) => last ?? path).join() === "/v1/events?after=now,evt_gone_1,/v1/events?after=now"`) {
		t.Errorf("the page asked for %s", testservice.Eval[string](page, `JSON.stringify(asked)`))
	}
}

func TestALoadThatFailsIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := openAt(t, s, "")
	page.Wait(showsExactly("Olive") + ` && document.documentElement.dataset.access`)
	answerAll(page, `method === "GET"`, `Promise.resolve(new Response("", {status: 502}))`)
	add(t, s, animal("Maple", "available"))
	page.Wait(mayHave)
	testservice.Eval[bool](page, putBack)
	page.Wait(`notice.innerText === "" && ` + showsExactly("Maple", "Olive"))
}

func TestWithoutAStreamTheDeskPolls(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {},
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
	}
	behind := func(events http.HandlerFunc) string {
		mux := http.NewServeMux()
		mux.Handle("/", forward)
		mux.HandleFunc("/v1/events", events)
		server := httptest.NewServer(mux)
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		return server.URL
	}
	addresses := map[string]string{
		"an older server": behind(http.NotFound),
		"a proxy that buffers": behind(func(w http.ResponseWriter, r *http.Request) {
			request, err := http.NewRequestWithContext(r.Context(), r.Method, s.URL+r.URL.RequestURI(), nil)
			if err != nil {
				return
			}
			request.Header = r.Header
			answer, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				return
			}
			defer answer.Body.Close()
			whole, err := io.ReadAll(answer.Body)
			if err == nil {
				w.Header().Set("Content-Type", "text/event-stream")
				w.Write(whole)
			}
		}),
		"a proxy that answers with its own page": behind(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<p>Welcome") }),
	}
	pages := map[string]*testservice.Page{}
	for name, address := range addresses {
		pages[name] = openRecorded(t, s, address, "")
	}
	for _, page := range pages {
		page.Wait(`empty.checkVisibility()`)
	}
	for i, name := range []string{"Olive", "Maple"} {
		add(t, s, animal(name, "available"))
		for kind, page := range pages {
			page.Wait(shown + fmt.Sprintf(`.length === %d`, i+1))
			if n := testservice.Eval[int](page, countAsked("/v1/events")); n != 1 {
				t.Errorf("%s: the page asked for a stream %d times", kind, n)
			}
		}
	}

	// A page that cannot have a stream stops waiting for it after a while.
	page := pages["a proxy that buffers"]
	testservice.Eval[bool](page, `(import("./assets/shared/stream.js").then(({ readStream, Silent }) =>
		readStream(new URL("v1/events", document.baseURI), { signal: new AbortController().signal, silence: 100 }, () => {})
			.catch((error) => (window.silent = error instanceof Silent))), true)`)
	page.Wait(`window.silent === true`)
}

func TestTheDeskPollsWhenTheOwnerHasTooManyStreams(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	for range 10 {
		testservice.OpenStream(t, http.DefaultClient, s.URL+"/v1/events", s.Key)
	}
	page := openRecorded(t, s, s.URL, "")
	page.Wait(`empty.checkVisibility()`)
	for i, name := range []string{"Olive", "Maple"} {
		add(t, s, animal(name, "available"))
		page.Wait(shown + fmt.Sprintf(`.length === %d`, i+1))
	}
	if n := testservice.Eval[int](page, countAsked("/v1/events")); n != 1 {
		t.Errorf("the page asked for a stream %d times", n)
	}
}

func TestTheStreamFollowsTheKey(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database, "--admin-listen", "127.0.0.1:0")
	reader := newReadOnlyKey(t, database)
	add(t, s, animal("Olive", "available"))
	page := openRecorded(t, s, s.URL, "")
	page.Wait(isOpen(1) + ` && ` + showsExactly("Olive"))
	page.Click("#change-key")
	page.Fill("#key", reader)
	page.Press(enter)
	page.Wait(isOpen(2) + ` && document.querySelector(".reads").checkVisibility()`)
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"J. Tanaka"}`)
	page.Wait(`streamed.includes("order.placed")`)
	if testservice.Eval[bool](page, `streamed.includes("Tanaka")`) {
		t.Error("the stream still uses the previous key")
	}
	page.Click("#change-key")
	page.Click("#forget-key")
	testservice.Eventually(t, "the server has no stream", 30*time.Second, func() bool {
		return strings.Contains(s.Scrape(t), "\npetstore_event_streams 0\n")
	})
}

func TestAnAnimalDeletedBySomebodyElseLeavesNoOtherMessage(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "sold"))
	page.Wait(isAdopted)
	s.Ask(t, http.MethodPatch, "/v1/pets/1", `{"status":"available"}`)
	page.Wait(`said.innerText === "Olive is now available."`)
	s.Ask(t, http.MethodDelete, "/v1/pets/1", "")
	page.Wait(`animal.innerText.includes("There is no animal 1") && said.innerText === "Somebody has deleted Olive."`)
}

func TestASuccessRemovesTheMessageOfAnEarlierRefusal(t *testing.T) {
	s, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Wait(isAvailable)
	refuse := func() {
		t.Helper()
		answerOnce(page, "PATCH", `Promise.resolve(new Response('{"code":"conflict","message":"Not this time."}', {status: 409}))`)
		page.Click(act("adopt"))
		page.Wait(`notice.innerText.includes("Not this time.")`)
	}
	refuse()
	page.Click(act("edit"))
	page.Fill("#name", "Olivia")
	page.Click("#send-add")
	page.Wait(`said.innerText === "Olivia was saved." && notice.innerText === ""`)
	refuse()
	page.Click(act("adopt"))
	page.Wait(isAdopted + ` && notice.innerText === ""`)
	testservice.Eventually(t, "the animal is adopted", 30*time.Second, func() bool { return s.EveryPet(t)[0].Status == "sold" })
}
