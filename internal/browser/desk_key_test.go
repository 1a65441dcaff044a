package browser

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// newKey creates a key with the given arguments of petstore keys create.
func newKey(t *testing.T, database string, args ...string) string {
	t.Helper()
	return testservice.NewKey(t, testservice.Build(t), database, args...)
}

// newReadOnlyKey creates a key that may only read.
func newReadOnlyKey(t *testing.T, database string) string {
	t.Helper()
	return newKey(t, database, "--access", "read", "--plan", "enterprise", "--per-minute", "100000000", "--per-day", "1000000000000")
}

var printedLink = regexp.MustCompile(`http\S+#key=\S+`)

const kept = `JSON.stringify([sessionStorage.length, localStorage.length])`

func TestTheKeyIsRememberedOnlyIfChosen(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := signIn(t, s, s.Key)
	page.Wait(showsExactly("Olive") + ` && ` + kept + ` === "[1,0]"`)
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Wait(kept + ` === "[0,0]"`)
	page.Fill("#key", s.Key)
	page.Click("#remember")
	page.Press(enter)
	page.Wait(showsExactly("Olive") + ` && ` + kept + ` === "[0,1]"`)
	page.Reload()
	page.Wait(showsExactly("Olive"))
	page.Click("#change-key")
	page.Press(escape)
	page.Wait(`document.activeElement.id === "change-key" && !document.getElementById("key-panel").checkVisibility()`)
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Wait(kept + ` === "[0,0]"`)
}

func TestTheFirstStartPrintsALinkThatSignsIn(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	link := printedLink.FindString(s.Stdout.String())
	if link != s.URL+"/#key="+s.Key {
		t.Fatalf("the link is %q", link)
	}
	page := testservice.Browser(t)
	page.Open(link)
	page.Wait(showsExactly("Olive") + ` && location.href === "` + s.URL + `/" && ` + kept + ` === "[1,0]"`)
	if strings.Contains(s.Stderr.String(), s.Key) {
		t.Error("the log of the server has the key")
	}

	// If the link is pasted into an open tab, only the fragment changes.
	page.Click("#change-key")
	page.Click("#forget-key")
	testservice.Eval[bool](page, `(location.href = "`+link+`", true)`)
	page.Wait(showsExactly("Olive") + ` && location.hash === ""`)
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Open(s.URL + "/#key=wrong")
	page.Wait(`document.getElementById("key-error").innerText.includes("not valid") && location.hash === ""`)
}

func TestStagingHasABadge(t *testing.T) {
	t.Parallel()
	const badge = `document.querySelector(".staging").checkVisibility()`
	staging := testservice.Serve(t, "--environment", "staging", "--api-key", "a-key-without-a-prefix")
	page := testservice.Browser(t)
	page.Open(staging.URL + "/")
	page.Wait(badge)
	production := testservice.Serve(t)
	page.Open(production.URL + "/")
	page.Wait(`document.activeElement.id === "key" && !` + badge)
}

func TestAReadOnlyKeyHasNoButtonsForChanges(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s := testservice.Serve(t, "--database", database)
	reader := newReadOnlyKey(t, database)
	const readOnly = `document.querySelector(".reads").checkVisibility()`
	page := signIn(t, s, reader)
	page.Wait(`empty.checkVisibility() && ` + readOnly + ` && !document.getElementById("empty-add").checkVisibility()`)
	add(t, s, animal("Olive", "available"))
	page.Wait(showsExactly("Olive") + ` && !document.getElementById("open-add").checkVisibility()`)
	page.Click(".card a")
	page.Wait(is("Available"))
	s.Ask(t, "POST", "/v1/orders", `{"petId":1,"reference":"J. Tanaka"}`)
	page.Wait(is("Pending") + ` && order.innerText.includes("J. Tanaka")`)
	page.Reload()
	page.Wait(is("Pending") + ` && ` + readOnly)

	page.Click("#change-key")
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Wait(is("Pending", "Mark as adopted", "Cancel the reservation", "Edit") + ` && !` + readOnly)
	page.Open(s.URL + "/#key=" + reader)
	page.Wait(showsExactly("Olive") + ` && ` + readOnly)
}

func TestAKeyThatMayNoLongerWriteGetsAMessage(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s := testservice.Serve(t, "--database", database)
	reader := newReadOnlyKey(t, database)
	add(t, s, animal("Olive", "available"))
	page := openAt(t, s, "?animal=1")
	page.Wait(isAvailable)
	testservice.Eval[bool](page, `(sessionStorage.setItem("petstore-api-key", "`+reader+`"), true)`) // as if another tab had changed the key
	page.Click(act("adopt"))
	page.Wait(is("Available") + ` && notice.innerText.includes("may only read")`)
}
