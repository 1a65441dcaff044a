// Screenshots takes the pictures in docs/img with a headless Chromium. screenshots.sh starts it, with the link to a running
// demo and the folder of the pictures.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// shot is a picture of a page. The page is ready when a JavaScript expression is true.
type shot struct {
	name          string
	width, height int64
	medium        string
	scheme        string
	page          string
	first         string // a script that does what a person would do first, once the list is there
	ready         string
}

const (
	list    = `document.querySelectorAll(".card").length > 4 && !document.getElementById("animals").ariaBusy`
	olive   = `document.getElementById("animal-name").innerText === "Olive" && !document.getElementById("animal").ariaBusy`
	keys    = `document.querySelectorAll("main tbody tr, main li").length > 3`
	holds   = `document.querySelector("#reservations li") && !document.getElementById("reservations").ariaBusy`
	kennels = `document.querySelectorAll(".kennel").length > 3`
)

// printCards prints what was found as kennel cards, without the browser's dialog.
const printCards = `(() => {
	window.print = () => {};
	document.getElementById("open-take").click();
	const timer = setInterval(() => {
		if (!document.getElementById("take").open) return;
		clearInterval(timer);
		document.querySelector("#take [value=cards]").click();
		document.getElementById("send-take").click();
	}, 50);
	return true;
})()`

var shots = []shot{
	{name: "store-front", width: 1280, height: 900, ready: list},
	{name: "store-front-dark", width: 1280, height: 620, scheme: "dark", page: "?q=ta", ready: `document.querySelectorAll(".card").length > 1`},
	{name: "animal", width: 1280, height: 900, page: "?animal=59", ready: olive},
	{name: "reservations", width: 1280, height: 780, page: "?view=reservations", ready: holds},
	{name: "list-phone", width: 390, height: 844, ready: list},
	{name: "animal-phone", width: 390, height: 844, page: "?animal=59", ready: olive},
	{name: "kennel-cards", width: 794, height: 560, medium: "print", page: "?status=available", first: printCards, ready: kennels},
	{name: "console", width: 1280, height: 740, page: "console", ready: keys},
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: screenshots LINK FOLDER")
	}
	options := chromedp.DefaultExecAllocatorOptions[:]
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			options = append(options, chromedp.ExecPath(path))
			break
		}
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	browser, _ := chromedp.NewContext(allocator)
	if err := chromedp.Do(browser); err != nil {
		log.Fatal(err)
	}
	for _, s := range shots {
		file := filepath.Join(os.Args[2], s.name+".png")
		if err := s.take(browser, os.Args[1], file); err != nil {
			log.Fatalf("%s: %v", s.name, err)
		}
		fmt.Println(file)
	}
}

func (s shot) take(browser context.Context, link, file string) error {
	window, closeWindow := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	defer closeWindow()
	ctx, cancel := context.WithTimeout(window, time.Minute)
	defer cancel()
	media := emulation.SetEmulatedMediaParams{Media: s.medium, Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: s.scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		return err
	}
	base, key, _ := strings.Cut(link, "#")
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(s.width, s.height), chromedp.Navigate(base+s.page+"#"+key)); err != nil {
		return err
	}
	if s.first != "" {
		if err := wait(ctx, list); err != nil {
			return err
		}
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](s.first)); err != nil {
			return err
		}
	}
	if err := wait(ctx, s.ready); err != nil {
		return err
	}
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(file, picture, 0o644)
}

// wait waits until a JavaScript expression is true and the photos are there.
func wait(ctx context.Context, ready string) error {
	for {
		done, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+ready+") && [...document.images].every((image) => image.complete)"))
		if err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
