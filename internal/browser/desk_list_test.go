package browser

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// add creates animals through the API, oldest first.
func add(t *testing.T, s *testservice.Instance, animals ...string) {
	t.Helper()
	for _, animal := range animals {
		if got := s.Ask(t, http.MethodPost, "/v1/pets", animal); got.Status != http.StatusCreated {
			t.Fatalf("%s: %d %s", animal, got.Status, got.Body)
		}
	}
}

func animal(name, status string) string {
	return fmt.Sprintf(`{"name":%q,"categoryId":1,"status":%q}`, name, status)
}

// signIn opens the desk of a server and types the key.
func signIn(t *testing.T, s *testservice.Instance, key string) *testservice.Page {
	t.Helper()
	page := testservice.Browser(t)
	page.Open(s.URL + "/")
	page.Fill("#key", key)
	page.Press(enter)
	return page
}

const (
	tab     = "\t"
	enter   = "\r"
	escape  = "\u001b"
	arrowUp = "\u0304"
)

// shown is a JavaScript expression for the names of the listed animals, in order.
const shown = `[...document.querySelectorAll(".card .name")].map(name => name.textContent)`

func showsExactly(names ...string) string {
	return fmt.Sprintf(`JSON.stringify(%s) === JSON.stringify(%s)`, shown, "["+strings.Join(quoted(names), ",")+"]")
}

func quoted(names []string) []string {
	q := make([]string, len(names))
	for i, name := range names {
		q[i] = fmt.Sprintf("%q", name)
	}
	return q
}

func TestTheDeskListsTheNewestAnimalFirst(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "pending"), animal("Biscuit", "available"), animal("Duke", "sold"))
	page := signIn(t, s, s.Key)
	page.Wait(showsExactly("Duke", "Biscuit", "Olive"))
	page.Wait(`[...document.querySelectorAll(".card .status")].map(e => e.innerText).join() === "Adopted,Available,Reserved"`)
	page.Wait(`[...document.querySelectorAll(".card .status use")].map(e => e.getAttribute("href")).join() === "#sold,#available,#pending"`)

	if address := testservice.Eval[string](page, `location.href`); strings.Contains(address, s.Key) {
		t.Errorf("the key is in the address %s", address)
	}
	if kept := testservice.Eval[string](page, `document.cookie + JSON.stringify(localStorage)`); kept != "{}" {
		t.Errorf("the browser stores %s beyond the session", kept)
	}
	page.Reload()
	page.Wait(showsExactly("Duke", "Biscuit", "Olive"))
}

func TestTheFilterIsPartOfTheAddress(t *testing.T) {
	_, page := openDesk(t, "", animal("Olive", "pending"), animal("Biscuit", "available"), animal("Maple", "pending"))
	page.Wait(showsExactly("Maple", "Biscuit", "Olive"))
	page.Click(`.filter [data-status="pending"]`)
	page.Wait(showsExactly("Maple", "Olive") + ` && location.search === "?status=pending"`)
	page.Reload()
	page.Wait(showsExactly("Maple", "Olive") + ` && document.querySelector(".filter [aria-current]").textContent === "Reserved 2"`)
	page.Click(`.filter [data-status="sold"]`)
	page.Wait(`empty.innerText.includes("No animal is adopted") && location.search === "?status=sold"`)
	page.Back()
	page.Wait(showsExactly("Maple", "Olive"))
	page.Back()
	page.Wait(showsExactly("Maple", "Biscuit", "Olive") + ` && location.search === ""`)
}

// openDemo starts the command petstore demo and opens the desk of the demo.
func openDemo(t *testing.T) (*testservice.Instance, *testservice.Page) {
	t.Helper()
	s := testservice.Launch(t, testservice.Command(t, "demo", "--listen", "127.0.0.1:0"))
	return s, signIn(t, s, s.Key)
}

func TestAnAnimalIsAdded(t *testing.T) {
	s, page := openDesk(t, "", animal("Olive", "available"))
	page.Click("#open-add")
	page.Fill("#name", "Zoë “the cat” 🐈")
	page.Fill("#categoryId", "-3")
	page.Click(`#status label:nth-child(2)`)
	page.Click("#send-add")
	page.Wait(showsExactly("Zoë “the cat” 🐈", "Olive") + ` && !add.open && said.textContent.endsWith("was added.")`)
	if got := s.EveryPet(t); len(got) != 2 || got[0] != (testservice.Pet{ID: 2, Name: "Zoë “the cat” 🐈", CategoryID: -3, Status: "pending"}) {
		t.Errorf("the store has %+v", got)
	}
}

func TestMessagesOfTheServerAreShownAtTheirFields(t *testing.T) {
	_, page := openDesk(t, "")
	message := func(field string) string {
		return fmt.Sprintf(`document.getElementById("%s-error").textContent`, field)
	}

	page.Click("#open-add")
	page.Click("#send-add")
	page.Wait(message("name") + ` === "Name is required." && ` + message("categoryId") + ` === "Category is required."`)
	page.Wait(`document.activeElement.id === "name" && document.activeElement.ariaInvalid === "true"`)

	page.Fill("#name", "   ")
	page.Fill("#categoryId", "99999999999999999999")
	page.Click("#send-add")
	page.Wait(message("name") + ` === "Name must not be only white space." && ` + message("categoryId") + `.startsWith("Category must be a whole number")`)

	page.Fill("#name", "Olive")
	page.Fill("#categoryId", strings.Repeat("long ", 21))
	page.Click("#send-add")
	page.Wait(message("name") + ` === "" && ` + message("categoryId") + `.startsWith("Category must be at most 100") && document.activeElement.id === "categoryId"`)
	page.Fill("#categoryId", "2")
	page.Click("#send-add")
	page.Wait(showsExactly("Olive"))
}

func TestTheDeskAsksAgainAfterAWrongKey(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := signIn(t, s, s.Key+"x")
	page.Wait(`document.getElementById("key-error").innerText.includes("not valid") && document.activeElement.id === "key"`)
	page.Wait(`sessionStorage.length === 0 && document.querySelectorAll(".card").length === 0`)
	page.Fill("#key", "schlüssel")
	page.Press(enter)
	page.Wait(`document.getElementById("key-error").innerText.includes("plain letters")`)
	page.Fill("#key", "  "+s.Key+" ")
	page.Press(enter)
	page.Wait(showsExactly("Olive"))
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Wait(`sessionStorage.length === 0 && document.querySelectorAll(".card").length === 0 && document.activeElement.id === "key"`)
}

func TestTheDeskCountsDownARateLimitAndContinues(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s := testservice.Serve(t, "--database", database)
	add(t, s, animal("Olive", "available"))
	used := newKey(t, database, "--plan", "enterprise", "--per-minute", "1", "--per-day", "1")
	for {
		got, err := testservice.Request(s.URL, used, http.MethodGet, "/v1/pets", "")
		if err != nil {
			t.Fatal(err)
		}
		if got.Status == http.StatusTooManyRequests {
			break
		}
	}
	page := signIn(t, s, used)
	page.Wait(`notice.innerText.includes("A short pause") && /^[\d:]+:\d\d$/.test(document.querySelector(".clock").textContent)`)
	page.Wait(`gauge.innerText.replace(/\s+/g, " ") === "0 of 1 requests left"`)
	clock := testservice.Eval[string](page, `document.querySelector(".clock").textContent`)
	page.Wait(fmt.Sprintf(`document.querySelector(".clock").textContent !== %q`, clock))

	// The test cannot wait a day, so it moves the page's clock forward and gives the page a key with requests left.
	testservice.Eval[bool](page, fmt.Sprintf(`(sessionStorage.setItem("petstore-api-key", %q), Date.now = () => 8e15, true)`, s.Key))
	page.Wait(showsExactly("Olive") + ` && notice.textContent === ""`)
}

func TestAScriptInANameIsShownAsText(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	names := []string{
		`<script>document.title = "taken"</script>`,
		`<img src=x onerror="document.title = 'taken'">`,
		`"><svg/onload=document.title="taken">`,
		`javascript:document.title="taken"`,
		`{{7*7}}${7*7}`,
		`&lt;b&gt;`,
	}
	for _, name := range names {
		add(t, s, animal(name, "available"))
	}
	page := signIn(t, s, s.Key)
	slices.Reverse(names)
	page.Wait(showsExactly(names...))
	page.Wait(`!document.title.includes("taken") && !document.querySelector(".cards script, .cards img, .cards [onerror], .cards [onload]")`)
	page.Wait(`document.querySelectorAll(".name a *").length === 0`)
}

func TestTheDeskContinuesWhenAServerComesBack(t *testing.T) {
	t.Parallel()
	database, address := "sqlite:"+filepath.Join(t.TempDir(), "pets.db"), testservice.FreeAddress(t)
	s := testservice.Serve(t, "--database", database, "--listen", address)
	add(t, s, animal("Olive", "pending"), animal("Biscuit", "available"))
	page := signIn(t, s, s.Key)
	page.Wait(showsExactly("Biscuit", "Olive"))
	s.Kill()
	page.Click(`.filter [data-status="pending"]`)
	page.Wait(`notice.innerText.includes("cannot be reached")`)
	testservice.Serve(t, "--database", database, "--listen", address)
	page.Click("#notice button")
	page.Wait(showsExactly("Olive"))
}
