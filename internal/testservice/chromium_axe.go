package testservice

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

// axeFile is the file in which scripts/test-services.sh installs axe-core, relative to the user's cache folder.
const axeFile = "petstore-test/node_modules/axe-core/axe.min.js"

// runAxe is a script that runs some rules of axe. The promise of the script returns one line for each fault.
const runAxe = `axe.run(document, { runOnly: %s, resultTypes: ["violations"] })
	.then(({ violations }) => violations.flatMap(({ id, help, nodes }) => nodes.map((node) => id + ": " + help + ": " + node.html + " " + node.failureSummary)))`

const (
	everyRule  = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`
	colorRules = `{ type: "rule", values: ["color-contrast", "link-in-text-block"] }`
)

// Accessible fails the test for each accessibility fault that axe finds on the page in its current state. The messages
// begin with view, which is a name for that state.
func (p *Page) Accessible(view string) {
	p.t.Helper()
	p.axe(view, everyRule)
}

// Legible is like Accessible, but checks only the rules about colors. Use it for a view that Accessible has already checked
// in another color scheme.
func (p *Page) Legible(view string) {
	p.t.Helper()
	p.axe(view, colorRules)
}

func (p *Page) axe(view, rules string) {
	p.t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		p.t.Fatal(err)
	}
	axe, err := os.ReadFile(filepath.Join(cache, axeFile))
	if err != nil {
		Missing(p.t, "axe-core", "run scripts/test-services.sh, which installs it with npm")
	}
	if Eval[bool](p, "!window.axe") {
		Eval[bool](p, string(axe)+";true") // the page's content security policy does not apply to this script
	}
	faults, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](fmt.Sprintf(runAxe, rules), chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: axe does not run: %v", view, err)
	}
	for _, fault := range faults {
		p.t.Errorf("%s: %s", view, fault)
	}
}
