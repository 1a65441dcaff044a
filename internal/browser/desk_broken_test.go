package browser

import (
	"net/http"
	"path/filepath"
	"syscall"
	"testing"

	"petstore/internal/testservice"
)

const host = len("http://")

// resumed is a JavaScript expression that is true if the page has begun one stream and resumed it after that.
const resumed = `["", ...asked].reduce((kinds, { path, last }) => (path.startsWith("/v1/events") && !path.includes("petId") ? kinds + (last ? "r" : "n") : kinds)).match(/^nr+$/)`

// keepMessages makes the page keep every message about a failure in the global variable messages.
const keepMessages = `(window.messages = [], new MutationObserver(() => notice.innerText && messages.push(notice.innerText)).observe(notice, { childList: true }), true)`

// Clients change to another replica when theirs is restarted.
func TestARollingRestartIsNotNoticedAtTheDesk(t *testing.T) {
	t.Parallel()
	database := testservice.Postgres(t)
	first := testservice.Serve(t, "--database", database)
	second := testservice.Serve(t, "--database", database)
	second.Key = first.Key
	add(t, first, animal("Olive", "available"))
	link := testservice.StartLink(t, first.URL[host:])
	page := openRecorded(t, first, "http://"+link.Address, "?animal=1")
	page.Wait(isAvailable + ` && ` + isOpen(1) + ` && document.documentElement.dataset.access`)
	testservice.Eval[bool](page, keepMessages)

	link.To(second.URL[host:])
	first.Signal(syscall.SIGTERM)
	second.Ask(t, http.MethodPatch, "/v1/pets/1", `{"status":"sold"}`) // while the page has no stream, or the first server still sends it
	page.Wait(isAdopted)
	<-first.Ended
	page.Wait(isOpen(2) + ` && ` + resumed)
	page.Click(act("bring-back"))
	page.Wait(isAvailable + ` && said.innerText.includes("available again")`)
	if got := testservice.Eval[[]string](page, `messages`); len(got) > 0 {
		t.Errorf("the restart was noticed: %q", got)
	}
}

func TestTheDeskGoesOnWhereItWasWhenItsServerIsRestarted(t *testing.T) {
	t.Parallel()
	database, address := "sqlite:"+filepath.Join(t.TempDir(), "pets.db"), testservice.FreeAddress(t)
	s := testservice.Serve(t, "--database", database, "--listen", address)
	add(t, s, animal("Olive", "available"))
	page := openRecorded(t, s, s.URL, "")
	page.Wait(showsExactly("Olive") + ` && ` + isOpen(1) + ` && document.documentElement.dataset.access`)
	if status := s.Stop(t); status != 0 {
		t.Errorf("with an open stream, the server ended with status %d", status)
	}
	again := testservice.Serve(t, "--database", database, "--listen", address)
	again.Key = s.Key
	add(t, again, animal("Maple", "available"))
	page.Wait(showsExactly("Maple", "Olive") + ` && notice.innerText === "" && ` + isOpen(2) + ` && ` + resumed)
}

// The connection breaks first when the server has a part of the photo, and then when it has all of it but has not answered.
func TestAnUploadWhoseConnectionBreaksIsSentAgain(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	proxy := testservice.StartProxy(t, s.URL[host:])
	link := testservice.StartLink(t, proxy.Address)
	page := openAt(t, &testservice.Instance{URL: "http://" + link.Address, Key: s.Key}, "?animal=1")
	page.Wait(isAvailable + ` && document.documentElement.dataset.access`)

	link.Halve()
	page.Choose("#photo-files", pictureFile(t, "phone.jpg", 2400, 1200, 0))
	page.Wait(`uploads.innerText.includes("The store cannot be reached") && uploads.innerText.includes("never added twice")`)
	if got := photosOf(t, s); len(got) != 0 {
		t.Errorf("the store has %d photos of a part of a file", len(got))
	}
	link.Mend()
	answered := proxy.Break("POST /v1/pets/1/photos")
	page.Click("#uploads .notice button")
	<-answered
	if got := photosOf(t, s); len(got) != 1 {
		t.Errorf("the store has %d photos", len(got))
	}
	page.Wait(`(document.querySelector("#uploads .notice button")?.click(), true) && ` + hasPhotos(1)) // unless the browser itself has sent it again
	if got := photosOf(t, s); len(got) != 1 {
		t.Errorf("after the repetition, the store has %d photos", len(got))
	}
}
