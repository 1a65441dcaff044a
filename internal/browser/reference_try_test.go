package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestTryItNamesTheStoreAndPrefillsNoChange(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--environment", "staging", "--store-name", `Paws & "Co"`)
	page := reference(t, s, "")
	want := fmt.Sprintf(`Acts on Paws & "Co" in staging, at %s`, strings.TrimPrefix(s.URL, "http://"))
	page.Wait(fmt.Sprintf(`((lines) => lines.length > 40 && lines.every((line) => line.textContent === %q))([...document.querySelectorAll(".try-store")])`, want))
	page.Wait(`[...document.querySelectorAll('.try form:not([data-method="GET"]) :is([data-in], textarea, [type=file])')].every(({ value }) => value === "")`)
	page.Wait(`document.getElementById("try-updatePet-petId").placeholder === "such as 1" && document.getElementById("try-createPet-body").placeholder.startsWith("such as\n{\n")`)

	// Nothing is sent, and nothing asked, while something is missing.
	page.Click("#operation-deletePet .try > summary")
	page.Fill("#try-deletePet-key", s.Key)
	page.Click("#operation-deletePet .primary")
	page.Wait(`document.querySelector("#try-deletePet-petId:invalid") && document.querySelector("#operation-deletePet .primary").innerText === "Send"`)
}

func TestAChangeTakesASecondPress(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := testservice.Browser(t)
	page.Before(`window.sent = 0; window.fetch = ((real) => (url, options) => { if (options?.method && options.method !== "GET") window.sent++; return real(url, options); })(fetch);
		window.setTimeout = ((real) => (task, wait, ...rest) => wait === 10000 ? (window.passTime = task, 0) : real(task, wait, ...rest))(setTimeout)`)
	page.Open(s.URL + "/docs#operation-deletePet")
	const (
		button   = "#operation-deletePet .primary"
		isCalm   = `document.querySelector("#operation-deletePet .primary").innerText === "Send" && window.sent === 0`
		isAsking = `document.querySelector("#operation-deletePet .primary").innerText === "Really send DELETE /v1/pets/1 to Petstore in production?" && window.sent === 0`
	)
	page.Click("#operation-deletePet .try > summary")
	page.Fill("#try-deletePet-key", s.Key)
	page.Fill("#try-deletePet-petId", "1")
	page.DoubleClick(button) // is one press
	page.Wait(isAsking + ` && said.textContent.startsWith("Really send DELETE /v1/pets/1")`)
	page.Accessible("the question before a change")

	// Whatever is done instead of the second press takes the question back.
	page.Press(escape)
	page.Wait(isCalm)
	page.Click(button)
	page.Wait(isAsking)
	testservice.Eval[bool](page, `(window.passTime(), true)`)
	page.Wait(isCalm)
	page.Click(button)
	page.Wait(isAsking)
	page.Click("#operation-deletePet h3")
	page.Wait(isCalm)
	page.Click(button)
	page.Wait(isAsking)
	page.Fill("#try-deletePet-petId", "12")
	page.Wait(isCalm)
	page.Fill("#try-deletePet-petId", "1")
	page.Press(enter)
	page.Wait(isAsking + ` && document.activeElement.matches(".primary")`)
	page.Press(enter)
	page.Wait(`document.querySelector("#operation-deletePet .outcome-head").innerText.startsWith("204 ") && window.sent === 1`)
	page.Wait(`document.querySelector("#operation-deletePet .primary").innerText === "Send"`)
	if got := s.EveryPet(t); len(got) != 0 {
		t.Errorf("the store has %+v", got)
	}
}

// The page writes the samples in JavaScript as the server writes them in Go.
func TestSamplesFollowTheFormAsTheServerWritesThem(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	page := reference(t, s, "")
	page.Wait(`document.querySelectorAll(".operation:has(.try)").length > 40`)
	type difference struct{ ID, Before, After string }
	// The script types the examples that the samples have, and compares the samples before and after.
	got := testservice.Eval[[]difference](page, `(() => {
		const text = (operation) => [...operation.querySelectorAll(".sample")].map((sample) => sample.textContent).join("\n\n");
		const differences = [];
		for (const operation of document.querySelectorAll(".operation:has(.try)")) {
			const before = text(operation);
			const url = new URL(before.match(/'(http[^']*)'/)[1]);
			for (const [name, value] of url.searchParams) operation.querySelector("[name=" + name + "]").value = value;
			for (const field of operation.querySelectorAll(".try [data-example]")) field.value = field.dataset.example;
			operation.querySelector("form").dispatchEvent(new InputEvent("input", { bubbles: true }));
			if (before !== text(operation)) differences.push({ ID: operation.id, Before: before, After: text(operation) });
		}
		return differences;
	})()`)
	for _, d := range got {
		t.Errorf("%s: the server writes\n%s\nthe page\n%s", d.ID, d.Before, d.After)
	}
}

func TestSamplesQuoteWhatIsTyped(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	add(t, s, animal("Olive", "available"))
	page := reference(t, s, "#operation-updatePet")
	page.Click("#operation-updatePet .try > summary")
	page.Fill("#try-updatePet-petId", "1")
	page.Fill("#try-updatePet-Idempotency-Key", `it's "mine" $1`)
	const name = "Bo's \"dog\" \\ `x` $HOME ${y} é 犬 <b>"
	page.Fill("#try-updatePet-body", fmt.Sprintf("{\n  \"name\": %q,\n  \"categoryId\": 9007199254740993\n}", name))
	for _, c := range []struct{ language, file, program, argument string }{
		{"curl", "sample.sh", "sh", "-e"}, {"go", "sample.go", "go", "run"}, {"js", "sample.mjs", "node", "--no-warnings"}, {"py", "sample.py", "python3", "-E"},
	} {
		if _, err := exec.LookPath(c.program); err != nil {
			testservice.Missing(t, c.program, err.Error())
		}
		code := testservice.Eval[string](page, fmt.Sprintf(`document.querySelector("#operation-updatePet .sample.%s").textContent`, c.language))
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, c.file), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		sample := exec.CommandContext(t.Context(), c.program, c.argument, c.file)
		sample.Env = append(os.Environ(), "PETSTORE_API_KEY="+s.Key)
		sample.Dir = folder
		if out, err := sample.CombinedOutput(); err != nil || !strings.Contains(string(out), `"id":1`) && !strings.Contains(string(out), "id: 1") {
			t.Errorf("%s: %v\n%s\n%s", c.language, err, code, out)
		}
		if pet := s.EveryPet(t)[0]; pet.Name != name || pet.CategoryID != 9007199254740993 {
			t.Errorf("%s made %+v of the animal with\n%s", c.language, pet, code)
		}
	}

	// Typed parameters are encoded, an optional body that is not typed is left out, and text that is not JSON stays as it is.
	sample := func(operation, language string) string {
		return testservice.Eval[string](page, fmt.Sprintf(`document.querySelector("#operation-%s .sample.%s").textContent`, operation, language))
	}
	page.Click("#operation-listPets .try > summary")
	page.Fill("#try-listPets-q", "bo's & co")
	if got := sample("listPets", "curl"); !strings.Contains(got, `/v1/pets?q=bo%27s+%26+co'`) || strings.Contains(got, "status=") {
		t.Errorf("the sample is\n%s", got)
	}
	page.Click("#operation-rotateKey .try > summary")
	page.Fill("#try-rotateKey-keyId", "key_7/8")
	if got := sample("rotateKey", "js"); !strings.Contains(got, "/v1/keys/key_7%2F8/rotate") || strings.Contains(got, "body") {
		t.Errorf("the sample is\n%s", got)
	}
	page.Fill("#try-rotateKey-body", "not\nJSON")
	if got := sample("rotateKey", "py"); !strings.Contains(got, `data="not\nJSON".encode()`) {
		t.Errorf("the sample is\n%s", got)
	}
}
