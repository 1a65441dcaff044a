package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// catchPrint makes the page keep what it would print in the global variable printed, and the widths of its photos in widths.
const catchPrint = `(window.printed = undefined, window.print = () => {
	window.printed = paper.cloneNode(true);
	window.widths = [...paper.querySelectorAll("img")].map((photo) => photo.naturalWidth).join();
}, true)`

// catchFile makes the page keep the text and the name of a file that it would save, in the global variables saved and named.
const catchFile = `(window.saved = undefined,
	URL.createObjectURL = (blob) => (blob.text().then((text) => window.saved = text), "#"),
	HTMLAnchorElement.prototype.click = function () { window.named = this.download; }, true)`

// take opens the dialog and takes what was found in that shape.
func take(page *testservice.Page, shape string) {
	page.Click("#open-take")
	page.Click(fmt.Sprintf(`#take label:has([value=%s])`, shape))
	page.Click("#send-take")
}

func TestEverythingThatWasFoundIsPrinted(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--store-name", "Paws & Co")
	add(t, s, numbered(60)...)
	describe(t, s, 60, `{"breed":"Beagle <b>mix</b>","bornOn":"2020-01"}`)
	s.Ask(t, http.MethodPatch, "/v1/pets/3", `{"status":"sold"}`)
	givePhoto(t, s) // to an animal that the page does not show yet
	page := openAt(t, s, "?status=available")
	page.Wait(`document.querySelectorAll(".card").length === 24`)
	testservice.Eval[bool](page, catchPrint)
	take(page, "list")
	page.Wait(`window.printed && !document.getElementById("take").open`)
	page.Wait(`printed.querySelector("h1").textContent === "Available animals · Paws & Co" && printed.querySelector("p").textContent.startsWith("59 animals. ")`)
	page.Wait(`printed.querySelectorAll("tbody tr").length === 59 && printed.querySelector("tbody tr").cells[3].textContent === "Beagle <b>mix</b>"`)
	checkPaper(t, page, "the printed list")

	testservice.Eval[bool](page, catchPrint)
	take(page, "cards")
	page.Wait(`window.printed?.querySelectorAll(".kennel").length === 59 && widths === "3"`)
	first := testservice.Eval[string](page, `[...printed.querySelectorAll(".kennel:first-child :is(h1, p)")].map((e) => e.textContent).join("|")`)
	if !strings.HasPrefix(first, "Animal 60|Beagle <b>mix</b> · ") || !strings.HasSuffix(first, " years|No.\u00a060|Paws & Co") {
		t.Errorf("the first kennel card says %s", first)
	}
	page.Wait(`printed.querySelector(".kennel .portrait").childElementCount > 2`)
	checkPaper(t, page, "the kennel cards")
	testservice.Eval[bool](page, `dispatchEvent(new Event("afterprint"))`)
	page.Wait(`!paper.checkVisibility() && document.querySelector("main").checkVisibility()`)
}

// checkPaper checks what the page prints, also if the screen is dark.
func checkPaper(t *testing.T, page *testservice.Page, what string) {
	t.Helper()
	page.Media("print")
	page.Wait(`paper.checkVisibility() && !document.querySelector("main").checkVisibility()`)
	page.Accessible(what)
	page.Media("print", "prefers-color-scheme", "dark")
	page.Legible(what + " from a dark screen")
	page.Media("screen")
}

// The keys for printing open the dialog, because the browser would print only what is loaded.
func TestTheKeysForPrintingOpenTheDialog(t *testing.T) {
	_, page := openDesk(t, "?q=oli", animal("Olive", "available"))
	page.Wait(showsExactly("Olive"))
	if !press(page, `key: "p", ctrlKey: true`) {
		t.Error("the browser's own dialog would open")
	}
	page.Wait(`document.getElementById("take").open && document.getElementById("take-title").innerText === "All animals found by “oli”"`)
	page.Press(escape)
	page.Wait(`!document.getElementById("take").open`)
}

// The menu of the browser prints what the page shows.
func TestAListThatGoesOnSaysSoOnPaper(t *testing.T) {
	_, page := openDesk(t, "", numbered(30)...)
	page.Size(1000, 300)
	page.Wait(`document.querySelectorAll(".card").length === 24`)
	page.Media("print")
	page.Wait(`document.querySelector(".partly").checkVisibility() && document.querySelector(".partly").innerText.includes("“Print or export”")`)
	page.Media("screen")
	page.Wait(`!document.querySelector(".partly").checkVisibility()`)
	page.Click("#more")
	page.Wait(showsExactly(down(30, 1)...))
	page.Media("print")
	page.Wait(`!document.querySelector(".partly").checkVisibility() && document.querySelector("main").checkVisibility()`)
}

func TestALongListSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	importAnimals(t, database, 5010)
	s := testservice.Serve(t, "--database", database)
	page := openAt(t, s, "")
	page.Wait(`document.querySelectorAll(".card").length === 24`)
	testservice.Eval[bool](page, catchPrint)
	take(page, "list")
	page.Wait(`window.printed?.querySelectorAll("tbody tr").length === 500`)
	page.Wait(`printed.querySelector("p").textContent.startsWith("These are the newest 500 animals; the store has more.")`)
	page.Wait(`said.innerText === "These are the newest 500 animals; the store has more."`)
	testservice.Eval[bool](page, catchFile)
	take(page, "csv")
	page.Wait(`window.saved && saved.split("\r\n").length === 5002`) // the names of the columns, the rows, and nothing after the last line
	page.Wait(`said.innerText === "The file was saved. These are the newest 5,000 animals; the store has more."`)
}

func TestAFileHasNoFormulas(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	s.Ask(t, http.MethodPut, "/v1/categories/-3", `{"name":"@cats"}`)
	for _, name := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\\t=1", "＝1", " =1", "Olive, \\\"the\\\" cat", "O'Hara"} {
		add(t, s, fmt.Sprintf(`{"name":"%s","categoryId":-3}`, name))
	}
	describe(t, s, 1, `{"breed":"=2","sex":"female","bornOn":"2024-05","arrivedOn":"2026-11-02","description":"-one\nline","tags":["shy","old, but fit"],"notes":"secret"}`)
	page := openAt(t, s, "")
	page.Wait(`document.querySelectorAll(".card").length === 9`)
	testservice.Eval[bool](page, catchFile)
	take(page, "csv")
	page.Wait(`window.saved`)
	want := "\ufeffid,name,categoryId,category,status,breed,sex,bornOn,arrivedOn,description,tags\r\n" +
		"9,O'Hara,-3,'@cats,available,,,,,,\r\n" +
		"8,\"Olive, \"\"the\"\" cat\",-3,'@cats,available,,,,,,\r\n" +
		"7,' =1,-3,'@cats,available,,,,,,\r\n" +
		"6,'＝1,-3,'@cats,available,,,,,,\r\n" +
		"5,'\t=1,-3,'@cats,available,,,,,,\r\n" +
		"4,'@SUM(A1),-3,'@cats,available,,,,,,\r\n" +
		"3,'-1,-3,'@cats,available,,,,,,\r\n" +
		"2,'+1,-3,'@cats,available,,,,,,\r\n" +
		"1,'=1+1,-3,'@cats,available,'=2,female,2024-05,2026-11-02,\"'-one\nline\",\"shy, \"\"old, but fit\"\"\"\r\n"
	// A blob's text method drops the mark of UTF-8, so it is not compared.
	if got := "\ufeff" + strings.TrimPrefix(testservice.Eval[string](page, "saved"), "\ufeff"); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	page.Wait(`/^animals-\d{4}-\d\d-\d\d\.csv$/.test(named) && said.innerText === "The file was saved, with 9 animals."`)
}

func TestTakingWaitsForTheStoreAndCanBeCancelled(t *testing.T) {
	_, page := openDesk(t, "", numbered(5)...)
	page.Wait(showsExactly(down(5, 1)...))
	testservice.Eval[bool](page, catchFile)
	answerAll(page, `String(url).includes("limit=100")`, `asked > 1 ? sent() : `+refusedBusy)
	take(page, "csv")
	page.Wait(`document.getElementById("take-notice").innerText.includes("Trying again")`)
	page.Wait(`window.saved`)

	testservice.Eval[bool](page, catchFile)
	answerAll(page, `String(url).includes("limit=100")`, lost)
	take(page, "csv")
	page.Wait(`document.getElementById("take-notice").innerText.includes("Nothing was printed or saved")`)
	answerAll(page, `String(url).includes("limit=100")`, onRelease)
	page.Click("#send-take")
	page.Wait("window.release")
	page.Click("#cancel-take")
	testservice.Eval[bool](page, "("+putBack+", release(), true)")
	page.Wait(`!document.getElementById("take").open`)
	if testservice.Eval[bool](page, `Boolean(window.saved)`) {
		t.Error("a cancelled export was saved")
	}
}
