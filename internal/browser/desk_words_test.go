package browser

import (
	"net/http"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestPeopleSignInWithTheirWholeLink(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := testservice.Browser(t)
	page.Open(s.URL + "/")
	page.Wait(`document.getElementById("key-panel").innerText.includes("Sign in with your link")`)
	for typed, says := range map[string]string{
		"":                        "Enter the link first.",
		"two words":               "The link has only plain letters, digits and symbols, without spaces.",
		s.URL + "/#key=" + "nope": "The link is not valid. Check that it was copied whole.",
	} {
		page.Fill("#key", typed)
		page.Click("#key-form .primary")
		page.Wait(`document.getElementById("key-error").innerText.endsWith("` + says + `")`)
	}
	page.Fill("#key", s.URL+"/?animal=1#key="+s.Key)
	page.Press(enter)
	page.Wait(showsExactly("Olive"))
}

func TestTheDeskSpeaksOfLinksAndTheConsoleOfKeys(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := testservice.Browser(t)
	page.Open(s.URL + "/")
	page.Wait(`document.activeElement.id === "key"`)
	if words := testservice.Eval[string](page, `document.querySelector("main").textContent`); strings.Contains(words, "API key") {
		t.Errorf("the desk says %s", words)
	}
	page.Open(s.URL + "/console")
	page.Click("#key-form .primary")
	page.Wait(`document.getElementById("key-error").innerText.endsWith("Enter the API key first.")`)
}

func TestRequestsLeftAreShownOnlyWhenTheyRunLow(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	add(t, s, animal("Olive", "available"))
	page := openAt(t, s, "")
	page.Wait(showsExactly("Olive"))
	few := newKey(t, database, "--plan", "enterprise", "--per-minute", "100", "--per-day", "100")
	spend := func(requests int) {
		for range requests {
			if _, err := testservice.Request(s.URL, few, http.MethodGet, "/v1/pets", ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	spend(60)
	page.Open(s.URL + "/#key=" + few)
	page.Wait(showsExactly("Olive") + ` && gauge.querySelector(".wide").textContent === "of 100 requests" && !gauge.checkVisibility()`)
	spend(25)
	page.Reload()
	page.Wait(`gauge.checkVisibility() && gauge.innerText.includes("of 100 requests left")`)
}

func TestAHoldIsNamedByItsLength(t *testing.T) {
	_, page := openDesk(t, "?animal=1", animal("Olive", "available"))
	page.Click(act("reserve"))
	page.Wait(`hold.checkVisibility() && hold.selectedOptions[0].text === "Three days (usual)" && hold.value === ""`)
	if got := testservice.Eval[string](page, `[...hold.options].map((option) => option.text).join()`); got != "One hour,One day,Three days (usual),One week,30 days" {
		t.Errorf("the holds are %s", got)
	}
}
