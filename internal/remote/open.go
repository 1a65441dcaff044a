package remote

import (
	"context"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Open is the command that opens the desk in a browser and signs the person in.
type Open struct{ profile.Flags }

// Help explains how the browser gets the key, and shows examples.
func (Open) Help() string {
	return "The browser in $BROWSER is used, or else the default browser. It gets the key from a file in your home folder that only you can read, and that is removed after 10 seconds. Without a browser, the command prints the address of the desk, without the key.\n\n" + examples(
		"petstore open",
		"petstore open --profile staging")
}

// Run opens the desk, or prints its address.
func (c *Open) Run(ctx context.Context, con *terminal.Console) error {
	p, err := c.Target(con)
	if err != nil {
		return err
	}
	desk := p.Server + "/"
	browser := findBrowser(con.Getenv)
	if browser == nil {
		con.Say("There is no browser on this machine. Open this address in another one, and sign in with your key:")
		_, err := fmt.Fprintln(con.Stdout, desk)
		return err
	}
	file, err := writeSignIn(desk + "#key=" + p.Key)
	if err != nil {
		return fmt.Errorf("the browser cannot get the key: %w; open %s and sign in with the key", err, desk)
	}
	defer os.Remove(file)
	con.Say("Opening %s in the browser.", desk)
	if err := browse(ctx, append(browser, file)); err != nil {
		return fmt.Errorf("%s cannot be started: %w; open %s and sign in with the key", browser[0], err, desk)
	}
	return nil
}

// findBrowser returns the command that opens a file in a browser, or nil if the machine has no such command.
func findBrowser(getenv func(string) string) []string {
	browser := strings.Fields(getenv("BROWSER"))
	switch {
	case len(browser) > 0:
	case runtime.GOOS == "windows":
		browser = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case runtime.GOOS == "darwin":
		browser = []string{"open"}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		browser = []string{"xdg-open"}
	default:
		return nil
	}
	if _, err := exec.LookPath(browser[0]); err != nil {
		return nil
	}
	return browser
}

// writeSignIn writes a web page that redirects to the address. It returns the name of the page's file.
//
// The address ends in #key= and the key. Browsers never send that part to a server, and the desk removes it from the address
// immediately. But the address must not be an argument of the browser, because all users of a machine can see the arguments
// of a process. The argument is this file instead, which only its owner can read. The file is in the home folder, under a
// name that does not begin with a dot, because browsers installed as snaps can read no other files.
func writeSignIn(address string) (name string, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	file, err := os.CreateTemp(home, "petstore-sign-in-*.html")
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(file, `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Petstore</title>`+
		`<meta http-equiv="refresh" content="0; url=`+html.EscapeString(address)+`"><p>Opening the desk…</p></html>`+"\n")
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return file.Name(), err
}

// startTimeout is how long a browser may take to read the file. The browser does not report when it has read the file.
const startTimeout = 10 * time.Second

// browse starts a browser. It returns when the browser has had time to read the file, or when ctx ends. The browser keeps
// running.
func browse(ctx context.Context, command []string) error {
	browser := exec.Command(command[0], command[1:]...)
	if err := browser.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- browser.Wait() }()
	for timeout := time.After(startTimeout); ; {
		select {
		case err := <-ended: // many browsers exit immediately, because a running browser shows the page
			if err != nil {
				return err
			}
		case <-timeout:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}
