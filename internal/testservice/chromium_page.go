package testservice

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Page is a window of the browser. Its methods do what a person does in a browser. If an action is impossible, the test
// fails immediately. The test also fails if the page logs an error or a warning in the console, or if the page calls a host
// other than the one it was opened on.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu      sync.Mutex
	hosts   map[string]bool
	missing map[string]bool // the addresses that OpenMissing opened
	faults  []string
}

func newPage(t testing.TB, ctx context.Context) *Page {
	t.Helper()
	p := &Page{t: t, ctx: ctx, hosts: make(map[string]bool), missing: make(map[string]bool)}
	// Only one window can be in front, but each window must act as if it had the focus.
	focus := emulation.SetFocusEmulationEnabledParams{Enabled: true}
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, focus); err != nil {
		t.Fatalf("Chromium opens no window: %v", err)
	}
	messages, requests := chromedp.Console(ctx), chromedp.Events(ctx, network.RequestWillBeSent)
	go func() {
		for message, err := range messages {
			if err == nil {
				p.recordComplaint(message)
			}
		}
	}()
	go func() {
		for request, err := range requests {
			if err == nil {
				p.recordHost(request.Request.URL)
			}
		}
	}()
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, fault := range p.faults {
			t.Error(fault)
		}
	})
	return p
}

// recordComplaint records an error or a warning in the console. The browser also prints API refusals and failed connections
// to the console; these do not count.
func (p *Page) recordComplaint(message chromedp.ConsoleMessage) {
	refused := message.Source == "network" && (strings.Contains(message.URL, "/v1/") || strings.Contains(message.Text, "ERR_CONNECTION"))
	if refused || (message.Type != "error" && message.Type != "warning" && !message.IsException()) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.missing[message.URL] && message.Source == "network" {
		return
	}
	p.faults = append(p.faults, fmt.Sprintf("the console says: %s (%s)", message, message.URL))
}

// recordHost records a fault if the page calls a host other than its own.
func (p *Page) recordHost(address string) {
	u, err := url.Parse(address)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || (u.Host != "" && !p.hosts[u.Host]) {
		p.faults = append(p.faults, "the page called another host: "+address)
	}
}

// Before makes every page that is opened from now on run the given script before its own scripts.
func (p *Page) Before(script string) {
	p.t.Helper()
	params := page.AddScriptToEvaluateOnNewDocumentParams{Source: script}
	if _, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, params); err != nil {
		p.t.Fatal(err)
	}
}

// Open loads the page at an address.
func (p *Page) Open(address string) {
	p.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.hosts[u.Host] = true
	p.mu.Unlock()
	p.do(chromedp.Navigate(address))
}

// OpenMissing loads the page of an address at which there is nothing. The browser says so in the console.
func (p *Page) OpenMissing(address string) {
	p.t.Helper()
	p.mu.Lock()
	p.missing[address] = true
	p.mu.Unlock()
	p.Open(address)
}

// Reload loads the page again.
func (p *Page) Reload() {
	p.t.Helper()
	p.do(chromedp.Reload())
}

// Back goes back in the browser's history.
func (p *Page) Back() {
	p.t.Helper()
	p.do(chromedp.NavigateBack())
}

// Size sets the size of the window in pixels.
func (p *Page) Size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// Scheme sets the color scheme that a person prefers: light or dark.
func (p *Page) Scheme(scheme string) {
	p.t.Helper()
	p.Media("screen", "prefers-color-scheme", scheme)
}

// Media sets the medium (screen or print) and media features. The features are names, each followed by its value.
func (p *Page) Media(media string, features ...string) {
	p.t.Helper()
	params := emulation.SetEmulatedMediaParams{Media: media}
	for i := 0; i < len(features); i += 2 {
		params.Features = append(params.Features, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, params); err != nil {
		p.t.Fatal(err)
	}
}

// Click waits until the first element that matches a CSS selector is visible, and clicks on it with the mouse.
func (p *Page) Click(selector string) {
	p.t.Helper()
	x, y := p.find(selector)
	p.do(chromedp.MouseClickXY(x, y))
}

// DoubleClick clicks twice at the same place, even if another element moves under the pointer in between.
func (p *Page) DoubleClick(selector string) {
	p.t.Helper()
	x, y := p.find(selector)
	p.do(chromedp.MouseClickXY(x, y), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
}

// find waits until an element is visible, scrolls it into view, and returns its center.
func (p *Page) find(selector string) (x, y float64) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("document.querySelector(%q)?.checkVisibility({ visibilityProperty: true })", selector))
	center := Eval[[]float64](p, fmt.Sprintf(`(() => {
		const element = document.querySelector(%q);
		element.scrollIntoView({ block: "center", behavior: "instant" });
		const { x, y, width, height } = element.getBoundingClientRect();
		return [x + width / 2, y + height / 2];
	})()`, selector))
	return center[0], center[1]
}

// Fill pastes text over the content of an input.
func (p *Page) Fill(selector, text string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf("document.querySelector(%q)?.checkVisibility()", selector))
	Eval[bool](p, fmt.Sprintf("(document.querySelector(%q).focus(), document.querySelector(%[1]q).select(), true)", selector))
	if _, err := chromedp.Call(p.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		p.t.Fatal(err)
	}
}

// Choose chooses files in an input for files, as a person does in the dialog of the browser.
func (p *Page) Choose(selector string, files ...string) {
	p.t.Helper()
	p.do(chromedp.SetUploadFiles(chromedp.CSS(selector), files))
}

// Press sends keys to the element that has the focus.
func (p *Page) Press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// Wait waits until a JavaScript expression is true. An expression that fails is not true yet: the page may still be loading
// what it names. The pauses between checks grow, because each check makes the browser lay out the page.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	pause := 5 * time.Millisecond
	for deadline := time.Now().Add(serviceTimeout); ; time.Sleep(pause) {
		isTrue, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if isTrue && err == nil {
			return
		}
		pause = min(2*pause, 160*time.Millisecond)
		if time.Now().After(deadline) {
			p.t.Fatalf("after %v this is still not true: %s (%v)\nThe page says:\n%s", serviceTimeout, expression, err, Eval[string](p, "document.body.innerText"))
		}
	}
}

// Eval returns the value of a JavaScript expression on the page.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func (p *Page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// NewTab opens another tab of the same window, which shares storage with the page.
func (p *Page) NewTab() *Page {
	p.t.Helper()
	ctx, closeTab := chromedp.NewContext(p.ctx)
	p.t.Cleanup(closeTab)
	return newPage(p.t, ctx)
}
