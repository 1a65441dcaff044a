package browser

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// badNetwork is a proxy that drops, delays and repeats requests. The seed decides what happens to which request; without a
// seed, the network is perfect. The pages themselves always arrive.
type badNetwork struct {
	server *url.URL
	stream *httputil.ReverseProxy
	seed   int

	mu   sync.Mutex
	seen map[string]int // how many requests with that method and path have come
	late *http.Request  // a change that the network repeats after the next change
	hits map[fault]int
}

type fault string

const (
	none         fault = "none"
	dropRequest  fault = "drop the request"
	dropAnswer   fault = "drop the answer"
	delay        fault = "delay"
	repeatNow    fault = "repeat at once"
	repeatLate   fault = "repeat after the next change"
	longestDelay       = 300 * time.Millisecond
)

// startBadNetwork starts a proxy to a server, and returns its address.
func startBadNetwork(t *testing.T, s *testservice.Instance, seed int) (*badNetwork, string) {
	t.Helper()
	server, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	n := &badNetwork{server: server, stream: httputil.NewSingleHostReverseProxy(server), seed: seed, seen: map[string]int{}, hits: map[fault]int{}}
	n.stream.FlushInterval = -1
	n.stream.ErrorLog = log.New(io.Discard, "", 0)
	n.stream.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	n.stream.ModifyResponse = func(answer *http.Response) error {
		if seed != 0 && answer.Header.Get("Content-Type") == "text/event-stream" {
			answer.Body = cutOff{answer.Body, io.LimitReader(answer.Body, int64(500+n.roll("length", answer.Request)%2000))}
		}
		return nil
	}
	proxy := httptest.NewServer(n)
	t.Cleanup(proxy.Close)
	return n, proxy.URL
}

// cutOff is a body that breaks off.
type cutOff struct {
	io.Closer
	rest io.Reader
}

func (c cutOff) Read(b []byte) (int, error) {
	read, err := c.rest.Read(b)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return read, err
}

// roll returns a number that depends only on the seed and on how many such requests have come.
func (n *badNetwork) roll(purpose string, r *http.Request) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	what := purpose + " " + r.Method + " " + r.URL.Path
	n.seen[what]++
	h := fnv.New32a()
	fmt.Fprint(h, n.seed, " ", what, " ", n.seen[what])
	return int(h.Sum32() >> 8)
}

func (n *badNetwork) fate(r *http.Request) fault {
	if n.seed == 0 || !strings.HasPrefix(r.URL.Path, "/v1/") {
		return none
	}
	fates := []fault{none, none, none, dropRequest, dropAnswer, delay}
	if r.Method != http.MethodGet {
		fates = []fault{none, dropRequest, dropAnswer, delay, repeatNow, repeatLate}
	}
	fate := fates[n.roll("fate", r)%len(fates)]
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hits[fate]++
	return fate
}

func (n *badNetwork) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fate := n.fate(r)
	if fate == dropRequest {
		panic(http.ErrAbortHandler) // closes the connection
	}
	if r.Header.Get("Accept") == "text/event-stream" || !strings.HasPrefix(r.URL.Path, "/v1/") {
		n.stream.ServeHTTP(w, r)
		return
	}
	again, err := n.outgoing(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	answer, body, err := send(again)
	if err != nil || fate == dropAnswer {
		panic(http.ErrAbortHandler)
	}
	switch fate {
	case delay:
		time.Sleep(time.Duration(n.roll("delay", r)) % longestDelay)
	case repeatNow:
		send(again)
	}
	if r.Method != http.MethodGet {
		n.repeat(fate == repeatLate, again)
	}
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	w.Write(body)
}

// repeat sends the change that is to be repeated after this one, and keeps this one if it is to be repeated itself.
func (n *badNetwork) repeat(late bool, change *http.Request) {
	n.mu.Lock()
	earlier := n.late
	n.late = nil
	if late {
		n.late = change
	}
	n.mu.Unlock()
	if earlier != nil {
		send(earlier)
	}
}

// outgoing returns the request as the server gets it. Unlike the request from the browser, it can be sent twice.
func (n *badNetwork) outgoing(r *http.Request) (*http.Request, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	out, err := http.NewRequest(r.Method, n.server.JoinPath(r.URL.Path).String()+"?"+r.URL.RawQuery, bytes.NewReader(body))
	if err == nil {
		out.Header = r.Header.Clone()
		out.Header.Set("Accept-Encoding", "identity")
	}
	return out, err
}

func send(r *http.Request) (*http.Response, []byte, error) {
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		again.Body, _ = r.GetBody()
	}
	answer, err := testservice.Client.Do(again)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer, body, err
}

// step is a part of a day at the desk. The person presses "Try again", or sends the form again, until the step is done.
type step struct {
	does   string
	do     func(*testservice.Page)
	stored string // what the feed of events then ends with
	shown  string // a JavaScript expression that is then true
}

// day is a day at the desk.
func day(t *testing.T) []step {
	t.Helper()
	photo := pictureFile(t, "olive.jpg", 40, 30, 0)
	create := func(name, category string) func(*testservice.Page) {
		return func(page *testservice.Page) {
			page.Click("#open-add")
			page.Fill("#name", name)
			page.Fill("#categoryId", category)
			page.Click("#send-add")
		}
	}
	visit := func(query string) func(*testservice.Page) {
		return func(page *testservice.Page) {
			testservice.Eval[bool](page, fmt.Sprintf(`(import("./assets/shared/address.js").then(({ go }) => go(%q)), true)`, query))
		}
	}
	named := func(name string) string {
		return fmt.Sprintf(`document.getElementById("animal-name").innerText === %q`, name)
	}
	status := func(word string) string {
		return fmt.Sprintf(`document.getElementById("animal-status").innerText === %q`, word)
	}
	reserveFor := func(whom string) func(*testservice.Page) {
		return func(page *testservice.Page) {
			page.Click(act("reserve"))
			page.Fill("#reference", whom)
			page.Click("#send-reserve")
		}
	}
	category := func(opener, name string) func(*testservice.Page) {
		return func(page *testservice.Page) {
			page.Click(opener)
			page.Fill("#category-name", name)
			page.Click("#send-category")
		}
	}
	return []step{
		{"add an animal and its category", create("Olive", "Cats"), "pet.created Olive available", showsExactly("Olive")},
		{"add another animal", create("Duke", "1"), "pet.created Duke available", showsExactly("Duke", "Olive")},
		{"open it", visit("?animal=1"), "", named("Olive") + ` && ` + status("Available")},
		{"rename it", edit(func(page *testservice.Page) { page.Fill("#name", "Olivia") }), "pet.updated Olivia available", named("Olivia")},
		{"add a photo", func(page *testservice.Page) { page.Choose("#photo-files", photo) }, "profile.updated", `document.querySelector("#cover:not([hidden])") && !document.querySelector("#uploads li")`},
		{"reserve it", reserveFor("Ms Lindqvist"), "pet.updated Olivia pending", `document.getElementById("order").innerText.includes("For Ms Lindqvist")`},
		{"correct and prolong that", correctAndProlong, "order.updated Mr Okafor open", `document.getElementById("order").innerText.includes("For Mr Okafor")`},
		{"adopt it", click(act("adopt")), "pet.updated Olivia sold", status("Adopted")},
		{"bring it back", click(act("bring-back")), "pet.updated Olivia available", status("Available")},
		{"reserve it again", reserveFor("Sam"), "pet.updated Olivia pending", `document.getElementById("order").innerText.includes("For Sam")`},
		{"cancel that", click(act("bring-back")), "pet.updated Olivia available", status("Available")},
		{"open the other one", visit("?animal=2"), "", named("Duke") + ` && ` + status("Available")},
		{"delete it", click(act("delete"), "#ask-yes"), "pet.deleted Duke available", showsExactly("Olivia")},
		{"open the categories", visit("?view=categories"), "", categories("Cats 1")},
		{"create a category", category("#open-category", "Dogs"), "category.created Dogs", categories("Cats 1", "Dogs 2")},
		{"rename a category", category(`#category-list [data-id="1"] [data-category="rename"]`, "Kittens"), "category.updated Kittens", categories("Kittens 1", "Dogs 2")},
		{"delete a category", click(`#category-list [data-id="2"] [data-category="delete"]`, "#ask-yes"), "category.deleted Dogs", categories("Kittens 1")},
		{"open the reservations", visit("?view=reservations"), "", `document.getElementById("no-reservations").checkVisibility()`},
	}
}

func correctAndProlong(page *testservice.Page) {
	page.Click("#change-order")
	page.Fill("#reference", "Mr Okafor")
	testservice.Eval[bool](page, `(document.getElementById("hold").value = "604800", true)`)
	page.Click("#send-reserve")
}

// countSending is a script that counts the changes without an answer. The page shows a change before it is answered.
const countSending = `
	window.sending = 0;
	window.fetch = new Proxy(fetch, { apply: async (send, self, [address, options = {}]) => {
		const changes = (options.method ?? "GET") !== "GET" ? 1 : 0;
		sending += changes;
		try {
			return await send.call(self, address, options);
		} finally {
			sending -= changes;
		}
	} });`

// insist presses the button that the page offers after a failure.
const insist = `(() => {
	const button = document.querySelector("#notice button, #uploads .notice button") ?? [...document.querySelectorAll("dialog[open]")].filter((dialog) => dialog.querySelector(".notice:not(:empty)"))[0]?.querySelector("button.primary");
	button?.click();
	return true;
})()`

// A day at the desk behind a network that drops, delays and repeats requests ends as it does behind a perfect one, and each
// change was made once.
func TestABadNetworkLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	var wanted []string
	perfect := func(t *testing.T) { wanted = spendDay(t, 0) }
	if !t.Run("perfect", perfect) {
		return
	}
	for seed := 1; seed <= 4; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			got := spendDay(t, seed)
			if strings.Join(got, "\n") != strings.Join(wanted, "\n") {
				t.Errorf("the store made these events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(wanted, "\n"))
			}
		})
	}
}

// spendDay spends a day at the desk, and returns the events that the store made.
func spendDay(t *testing.T, seed int) []string {
	t.Helper()
	s := testservice.Serve(t)
	network, address := startBadNetwork(t, s, seed)
	page := testservice.Browser(t)
	page.Before(countSending)
	page.Open(address + "/#key=" + s.Key)
	persist(t, page, "sign in", func() bool {
		return testservice.Eval[bool](page, `Boolean(document.documentElement.dataset.access && document.getElementById("empty").checkVisibility())`)
	})
	for _, step := range day(t) {
		step.do(page)
		persist(t, page, step.does, func() bool {
			events := storedEvents(t, s)
			return (step.stored == "" || events[len(events)-1] == step.stored) && testservice.Eval[bool](page, "sending === 0 && Boolean("+step.shown+")")
		})
	}
	network.mu.Lock()
	defer network.mu.Unlock()
	if seed != 0 {
		t.Logf("the network did this: %v", network.hits)
	}
	return storedEvents(t, s)
}

// persist tries again, as the page offers it, until something is done.
func persist(t *testing.T, page *testservice.Page, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		testservice.Eval[bool](page, insist)
		if time.Now().After(deadline) {
			t.Fatalf("to %s takes too long. The page says:\n%s", what, testservice.Eval[string](page, "document.body.innerText"))
		}
	}
}

// storedEvents returns all events of the store, each as its type and the name and status of what it is about.
func storedEvents(t *testing.T, s *testservice.Instance) []string {
	t.Helper()
	events := []string{"nothing"}
	for _, event := range testservice.Decode[[]struct {
		Type string
		Data struct{ Name, Status, Reference string }
	}](t, s.Ask(t, http.MethodGet, "/v1/events?limit=1000", "").Body) {
		events = append(events, strings.Join(strings.Fields(event.Type+" "+event.Data.Name+" "+event.Data.Reference+" "+event.Data.Status), " "))
	}
	return events
}
