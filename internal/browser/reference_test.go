package browser

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/jpeg"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// reference opens the API reference of a server. If fragment is not empty, it opens the page at that fragment.
func reference(t *testing.T, s *testservice.Instance, fragment string) *testservice.Page {
	t.Helper()
	page := testservice.Browser(t)
	page.Open(s.URL + "/docs" + fragment)
	page.Wait(`document.querySelector("#menu [aria-current]")`) // waits until the page's script has started
	return page
}

func TestTheReferenceSendsARealRequest(t *testing.T) {
	s, page := openDesk(t, "", animal("Olive", "pending"), animal("Duke", "sold"))
	page.Wait(showsExactly("Duke", "Olive"))
	page.Open(s.URL + "/docs")
	page.Click("#operation-listPets .try > summary")
	testservice.Eval[bool](page, `(document.getElementById("try-listPets-status").value = "pending", true)`)
	page.Click("#operation-listPets .primary")
	page.Wait(`document.querySelector("#operation-listPets .outcome-head").innerText.startsWith("200 OK")`)
	page.Wait(`document.querySelector("#operation-listPets .outcome-body").innerText.includes('"name": "Olive"')`)
	page.Wait(`!document.querySelector("#operation-listPets .outcome-body").innerText.includes("Duke")`)
	page.Wait(`document.querySelector("#operation-listPets .sent").innerText === "GET /v1/pets?status=pending"`)
	page.Wait(`document.querySelector("#operation-listPets .outcome-headers").textContent.includes("x-ratelimit-remaining: ")`)
}

// sendChange sends the request of an operation that changes the store, which takes two presses.
func sendChange(page *testservice.Page, operation string) {
	button := "#operation-" + operation + " .primary"
	page.Click(button)
	page.Wait(fmt.Sprintf(`document.querySelector(%q).innerText.startsWith("Really send ")`, button))
	page.Click(button)
}

func TestSendingTwiceCreatesTwoAnimals(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := reference(t, s, "#operation-createPet")
	page.Click("#operation-createPet .try > summary")
	page.Fill("#try-createPet-key", s.Key)
	page.Fill("#try-createPet-body", `{"name": "Biscuit", "categoryId": 1}`)
	for id := 1; id <= 2; id++ {
		sendChange(page, "createPet")
		page.Wait(fmt.Sprintf(`document.querySelector("#operation-createPet .outcome-body").innerText.includes('"id": %d,')`, id))
		page.Wait(`document.querySelector("#operation-createPet .outcome-head").innerText.startsWith("201 Created")`)
	}
	page.Wait(`!document.querySelector("#operation-createPet .outcome-headers").textContent.includes("idempotency-replayed")`)
	if got := s.EveryPet(t); len(got) != 2 || got[0].Name != got[1].Name {
		t.Errorf("the store has %+v", got)
	}

	// The page sends a typed idempotency key unchanged. Sending it twice shows a replay.
	page.Fill("#try-createPet-Idempotency-Key", "mine")
	for range 2 {
		sendChange(page, "createPet")
		page.Wait(`document.querySelector("#operation-createPet .sent").innerText.endsWith("Idempotency-Key mine") && !document.querySelector("#operation-createPet .primary").ariaDisabled`)
	}
	page.Wait(`document.querySelector("#operation-createPet .outcome-headers").textContent.includes("idempotency-replayed: true")`)
	if got := s.EveryPet(t); len(got) != 3 {
		t.Errorf("the store has %+v", got)
	}

	if address := testservice.Eval[string](page, `location.href`); strings.Contains(address, s.Key) {
		t.Errorf("the key is in the address %s", address)
	}
	page.Fill("#try-createPet-body", `{"name": 7}`)
	sendChange(page, "createPet")
	page.Wait(`document.querySelector("#operation-createPet .outcome-head .code-no")?.innerText === "400 Bad Request"`)
	page.Wait(`document.querySelector("#operation-createPet .outcome-body").innerText.includes('"code": "missing_field"')`)
	s.Kill()
	sendChange(page, "createPet")
	page.Wait(`document.querySelector("#operation-createPet .outcome-head").innerText.startsWith("No answer")`)
}

func TestAPhotoIsChosenAndSent(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Biscuit", "available"))
	page := reference(t, s, "#operation-addPhoto")
	page.Click("#operation-addPhoto .try > summary")
	page.Fill("#try-addPhoto-key", s.Key)
	page.Fill("#try-addPhoto-petId", "1")
	page.Click("#operation-addPhoto .primary")
	page.Wait(`document.querySelector("#try-addPhoto-body:invalid") && document.querySelector("#operation-addPhoto .outcome").hidden`) // nothing is sent without a file

	page.Choose("#try-addPhoto-body", photo(t))
	sendChange(page, "addPhoto")
	page.Wait(`document.querySelector("#operation-addPhoto .outcome-head").innerText.startsWith("201 Created")`)
	page.Wait(`document.querySelector("#operation-addPhoto .outcome-body").innerText.includes('"width": 3,')`)
	page.Wait(`document.querySelector("#operation-addPhoto .sent").innerText.startsWith("POST /v1/pets/1/photos with Idempotency-Key ")`)
	if got := s.Ask(t, http.MethodGet, "/v1/pets/1/profile", ""); strings.Count(got.Body, `"thumbnailUrl"`) != 1 {
		t.Errorf("the profile is %s", got.Body)
	}

	other := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(other, []byte("Bites."), 0o600); err != nil {
		t.Fatal(err)
	}
	page.Choose("#try-addPhoto-body", other)
	sendChange(page, "addPhoto")
	page.Wait(`document.querySelector("#operation-addPhoto .outcome-head .code-no")?.innerText.startsWith("415 ")`)
	page.Wait(`document.querySelector("#operation-addPhoto .outcome-body").innerText.includes("Send image/jpeg, image/png or image/webp.")`)
}

// photo writes the file of a photo that is 3 pixels wide, and returns its path.
func photo(t *testing.T) string {
	t.Helper()
	var content bytes.Buffer
	if err := jpeg.Encode(&content, image.NewGray(image.Rect(0, 0, 3, 2)), nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "photo.jpg")
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLongNumbersAreShownExactly(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, `{"name":"Olive, [\"tabby\"] {x}","categoryId":9223372036854775807}`)
	page := reference(t, s, "")
	page.Click("#operation-listPets .try > summary")
	page.Fill("#try-listPets-key", s.Key)
	page.Click("#operation-listPets .primary")
	want := "[\n  {\n    \"id\": 1,\n    \"name\": \"Olive, [\\\"tabby\\\"] {x}\",\n    \"categoryId\": 9223372036854775807,\n    \"status\": \"available\"\n  }\n]"
	page.Wait(fmt.Sprintf(`document.querySelector("#operation-listPets .outcome-body").textContent === %q`, want))
}

func TestSamplesAreCopiedInTheChosenLanguage(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := reference(t, s, "")
	testservice.Eval[bool](page, `(navigator.clipboard.writeText = async (text) => { window.copied = text; }, true)`)
	page.Click("#operation-createPet .copy")
	page.Wait(fmt.Sprintf(`window.copied?.startsWith("curl -X POST '%s/v1/pets'")`, s.URL)) // the sample has the server's address
	page.Wait(`document.querySelector("#operation-createPet .copy").innerText.startsWith("Copied") && said.textContent === "Copied"`)

	page.Click("#operation-createPet .languages label:nth-of-type(4)")
	page.Click("#operation-listPets .copy")
	page.Wait(`window.copied.startsWith("import os") && window.copied.includes("/v1/pets?status=available")`)

	// Without a clipboard, the page selects the sample instead.
	testservice.Eval[bool](page, `(navigator.clipboard.writeText = async () => { throw new Error(); }, true)`)
	page.Click("#operation-createPet .copy")
	page.Wait(`getSelection().toString().includes("uuid.uuid4()")`)
}

func TestDeepLinksScrollToTheirSectionAndTheMenuFollows(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	inView := func(id string) string {
		return fmt.Sprintf(`(({ top }) => top >= 0 && top < innerHeight / 2)(document.querySelector("#%s :is(h2, h3)").getBoundingClientRect()) &&
			document.querySelector("#menu [aria-current]").hash === "#%[1]s"`, id)
	}
	page := reference(t, s, "#operation-getPet")
	page.Wait(inView("operation-getPet"))
	page.Click(`#operation-getPet .deprecated a`)
	page.Wait(inView("leaving-getPet"))

	page.Size(375, 800)
	page.Click(".open-menu")
	page.Wait(`menu.matches(":popover-open")`)
	page.Click(`#menu [href="#operation-createPet"]`)
	page.Wait(`!menu.matches(":popover-open")`)
	page.Wait(inView("operation-createPet"))
}

func TestTheReferenceIsUsableByKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := reference(t, s, "")
	page.Press(tab)
	page.Wait(`document.activeElement.matches(".skip")`)
	page.Press(enter)
	reach := func(selector string) {
		t.Helper()
		for range 60 {
			page.Press(tab)
			if testservice.Eval[bool](page, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
				return
			}
		}
		t.Fatalf("%s is not reached with the Tab key", selector)
	}
	testservice.Eval[bool](page, `(document.getElementById("operation-listPets").focus(), true)`)
	reach("#operation-listPets .languages input")
	page.Press(arrowUp) // the arrow leads from the first of four tabs to the last
	page.Wait(`document.querySelector("#operation-createPet .sample.py").checkVisibility()`)
	reach("#operation-listPets .try > summary")
	page.Press(enter)
	reach("#try-listPets-key")
	page.Press(s.Key + enter)
	page.Wait(`document.querySelector("#operation-listPets .outcome-head").innerText.startsWith("200 OK")`)
}

func TestTheReferenceHasNoAccessibilityFault(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := reference(t, s, "")
	page.Size(1440, 900)
	testservice.Eval[bool](page, `(document.querySelectorAll("details").forEach((part) => { part.open = true; }), true)`)
	page.Accessible("the reference")

	// All operations look alike, so the rest of the test needs only one operation with a body, one with a file and one
	// deprecated operation.
	testservice.Eval[bool](page, `(document.querySelectorAll("section[id^=operation-]:not(#operation-createPet, #operation-addPhoto, #operation-getPet)").forEach((operation) => operation.remove()), true)`)
	page.Size(375, 900)
	page.Accessible("the reference on a phone")
	page.Scheme("dark")
	page.Wait(`document.getAnimations().length === 0`) // waits for the end of the color change
	page.Legible("the reference in the dark")          // only the colors differ in dark mode
	page.Click(".open-menu")
	page.Accessible("the contents on a phone")
	page.Media("screen", "forced-colors", "active")
	page.Legible("the contents in forced colors")
	page.Press(escape)
	page.Legible("the reference in forced colors")
}

func TestTheSamplesOfTheReferenceRunUnchanged(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := string(s.Ask(t, http.MethodGet, "/docs", "").Body)
	for _, operation := range []struct{ id, prints, counts, things string }{
		{"createPet", "Biscuit, beagle mix", "/v1/pets", `"id":`}, {"addPhoto", "thumbnailUrl", "/v1/pets/1/profile", `"thumbnailUrl":`},
	} {
		_, section, _ := strings.Cut(page, `<section id="operation-`+operation.id+`"`)
		for _, c := range []struct{ language, file, program, argument string }{
			{"curl", "sample.sh", "sh", "-e"}, {"go", "sample.go", "go", "run"}, {"js", "sample.mjs", "node", "--no-warnings"}, {"py", "sample.py", "python3", "-E"},
		} {
			t.Run(operation.id+"/"+c.language, func(t *testing.T) {
				if _, err := exec.LookPath(c.program); err != nil {
					testservice.Missing(t, c.program, err.Error())
				}
				code := regexp.MustCompile(`(?s)<pre class="sample ` + c.language + `"><code>(.*?)</code></pre>`).FindStringSubmatch(section)
				if code == nil {
					t.Fatal("there is no sample")
				}
				text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(code[1], ""))
				text = strings.ReplaceAll(text, "http://localhost:8080", s.URL)
				folder := filepath.Dir(photo(t)) // the samples that send a file send photo.jpg
				if err := os.WriteFile(filepath.Join(folder, c.file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				count := func() int {
					return strings.Count(s.Ask(t, http.MethodGet, operation.counts, "").Body, operation.things)
				}
				before := count()
				sample := exec.CommandContext(t.Context(), c.program, c.argument, c.file)
				sample.Env = append(os.Environ(), "PETSTORE_API_KEY="+s.Key)
				sample.Dir = folder
				out, err := sample.CombinedOutput()
				if err != nil || !strings.Contains(string(out), operation.prints) {
					t.Errorf("%v\n%s", err, out)
				}
				if after := count(); after != before+1 {
					t.Errorf("it added %d, want 1", after-before)
				}
			})
		}
	}
}
