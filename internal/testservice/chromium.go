package testservice

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// pageTimeout is how long a test in the browser may take. Only a broken page needs that long.
const pageTimeout = 5 * time.Minute

// chromiumNames are the names of the programs to look for, fastest first.
var chromiumNames = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// Browser opens a window of a headless Chromium for the test. The window has its own storage, cookies and cache. All tests
// of a process share one Chromium.
func Browser(t testing.TB) *Page {
	t.Helper()
	if program(chromiumNames...) == "" {
		Missing(t, "Chromium", "install the package chromium, or Google Chrome")
	}
	browser, err := chromium()
	if err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	window, closeWindow := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(closeWindow)
	window, cancel := context.WithTimeout(window, pageTimeout)
	t.Cleanup(cancel)
	return newPage(t, window)
}

// chromium starts the Chromium that all tests of this process share. Chromium ends when the process ends.
var chromium = sync.OnceValues(func() (context.Context, error) {
	parent, err := scratch()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "chromium-")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program(chromiumNames...)),
		chromedp.UserDataDir(dir),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium cannot use its sandbox as root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	browser, _ := chromedp.NewContext(allocator)
	if err := chromedp.Do(browser); err != nil {
		stop()
		return nil, err
	}
	return browser, nil
})
