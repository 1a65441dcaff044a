package browser

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// newKey creates a key with petstore keys create and the given arguments.
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

func TestPetstoreOpenSignsInAtTheDesk(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	home, copies := t.TempDir(), t.TempDir()
	script, seen := filepath.Join(copies, "browser"), filepath.Join(copies, "seen.html")
	text := "#!/bin/sh\necho \"$@\" > " + copies + "/arguments\nstat -c %a \"$1\" > " + copies + "/mode\ncp \"$1\" " + seen + ".part && mv " + seen + ".part " + seen + "\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	command := testservice.Command(t, "open")
	command.Env = append(command.Env, "BROWSER="+script, "HOME="+home, "PETSTORE_SERVER="+s.URL, "PETSTORE_API_KEY="+s.Key)
	said := &testservice.Transcript{}
	command.Stdout, command.Stderr = said, said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	testservice.Eventually(t, "the browser is started", time.Minute, func() bool {
		_, err := os.Stat(seen)
		return err == nil
	})
	command.Process.Signal(os.Interrupt) // ends the command, which would wait for the browser to read the file
	if err := command.Wait(); err != nil || said.String() != "Opening "+s.URL+"/ in the browser.\n" {
		t.Errorf("petstore open: %v, %s", err, said)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the home folder has %v, %v", left, err)
	}
	for file, want := range map[string]string{"mode": "600", "arguments": home + "/petstore-sign-in-"} {
		if got, err := os.ReadFile(filepath.Join(copies, file)); err != nil || !strings.HasPrefix(string(got), want) || strings.Contains(string(got), s.Key) {
			t.Errorf("the browser's %s: %s, %v", file, got, err)
		}
	}

	page := testservice.Browser(t)
	page.Open(s.URL + "/docs")
	page.Open("file://" + seen)
	page.Wait(showsExactly("Olive") + ` && ` + kept + ` === "[1,0]"`)
	if address := testservice.Eval[string](page, "location.href"); address != s.URL+"/" {
		t.Errorf("the address is %s", address)
	}
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

	// When a person pastes the link into an open tab, only the fragment of the address changes.
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
	withoutPerson := is("Reserved") + ` && ` + readOnly + ` && order.innerText.includes("The hold ends") && !/Tanaka|reference/.test(order.innerText)`
	page.Wait(withoutPerson)
	page.Reload()
	page.Wait(withoutPerson)

	page.Click("#change-key")
	page.Fill("#key", s.Key)
	page.Press(enter)
	page.Wait(is("Reserved", "Mark as adopted", "Cancel the reservation", "Edit") + ` && !` + readOnly + ` && order.innerText.includes("J. Tanaka")`)
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
	testservice.Eval[bool](page, `(sessionStorage.setItem("petstore-api-key", "`+reader+`"), true)`) // changes the key as another tab would
	page.Click(act("adopt"))
	page.Wait(is("Available") + ` && notice.innerText.includes("may only read")`)
}

func TestThePanelForAnotherLinkDoesNotAskASignedInPersonToSignIn(t *testing.T) {
	t.Parallel()
	page := openAt(t, testservice.Serve(t), "")
	page.Wait(`document.getElementById("empty-add").checkVisibility()`)
	page.Click("#change-key")
	page.Wait(`document.getElementById("key-title").innerText === "Your link" && document.getElementById("key-panel").innerText.includes("You are signed in.")`)
	page.Click("#forget-key")
	page.Wait(`document.getElementById("key-title").innerText === "Sign in with your link" && !document.getElementById("key-panel").innerText.includes("You are signed in.")`)
}

func TestNothingOfAnAnimalStaysInThePageAfterSigningOut(t *testing.T) {
	s, page := openDesk(t, "", animal("Olive", "available"))
	s.Ask(t, http.MethodPatch, "/v1/pets/1/profile", `{"breed":"Secret breed","bornOn":"2021-03","description":"Secret words.","tags":["secret tag"],"notes":"Secret notes."}`)
	s.Ask(t, http.MethodPost, "/v1/orders", `{"petId":1,"reference":"Secret Ann"}`)
	page.Click(`[data-animal="1"]`)
	page.Wait(`order.checkVisibility()`)
	page.Choose("#photo-files", pictureFile(t, "one.jpg", 300, 200, 0), pictureFile(t, "two.jpg", 200, 300, 0))
	const left = `["Olive", "ecret", "Photo 1", "/photos/", "2021", "Order 1"].filter((part) => document.documentElement.outerHTML.includes(part)).join()`
	page.Wait(hasPhotos(2) + ` && order.checkVisibility() && timeline.children.length > 0 && ` + left + ` === "Olive,ecret,Photo 1,/photos/,2021,Order 1"`)
	page.Click("#cover")
	page.Wait(`viewer.open && document.getElementById("viewer-photo").naturalWidth > 0`)
	page.Press(escape)
	page.Click("#change-key")
	page.Click("#forget-key")
	page.Wait(asksForKey)
	if got := testservice.Eval[string](page, left+` + timeline.innerHTML`); got != "" {
		t.Errorf("the page still has %s", got)
	}
}
