package profile

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"petstore/client"
	"petstore/internal/terminal"
)

// DefaultServer is where petstore serve listens by default.
const DefaultServer = "http://localhost:8080"

// Flags choose the server that a command calls and the key that it sends. The key is not a flag, because other
// users of the machine can see flags.
type Flags struct {
	Server  string `placeholder:"URL" help:"The server to call, with the key in $$PETSTORE_API_KEY. By default it is the server of the profile, or else http://localhost:8080."`
	Profile string `placeholder:"NAME" help:"The profile of petstore login whose server and key to use. Without $$PETSTORE_API_KEY, it is the profile default."`
}

// With calls do with a client of the chosen server, and explains its error.
func (f *Flags) With(con *terminal.Console, do func(*client.Client) error) error {
	store, err := f.Client(con)
	if err != nil {
		return err
	}
	return Explain(do(store))
}

// Change is like With, for a command that changes something on the server.
func (f *Flags) Change(con *terminal.Console, do func(*client.Client) error) error {
	store, err := f.Client(con)
	if err != nil {
		return err
	}
	err = Explain(do(store))
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("stopped; it may have been done, so check before you repeat it")
	case errors.As(err, new(*fs.PathError)): // of standard output
		return fmt.Errorf("it was done, but it could not be shown, so do not repeat it: %w", err)
	}
	return err
}

// Client is a client of the chosen server. It sends nothing yet.
func (f *Flags) Client(con *terminal.Console) (*client.Client, error) {
	p, err := f.target(con)
	if err != nil {
		return nil, err
	}
	return NewClient(con, p)
}

// NewClient makes a client of the server of a profile.
func NewClient(con *terminal.Console, p Profile) (*client.Client, error) {
	options := []client.Option{
		client.WithUserAgent("petstore-cli/" + con.Version),
		client.WithRetries(4, 2*time.Minute),
	}
	if terminal.IsTerminal(con.Stderr) {
		options = append(options, client.WithWaitNotice(waitNotice(con)))
	}
	store, err := client.New(p.Server, p.Key, options...)
	if err != nil {
		return nil, terminal.KeyError{Err: err}
	}
	return store, nil
}

// waitNotice says why nothing happens for a while. It says so once, however many calls wait.
func waitNotice(con *terminal.Console) func(time.Duration, error) {
	var mu sync.Mutex
	var told time.Time
	return func(wait time.Duration, because error) {
		mu.Lock()
		defer mu.Unlock()
		end := time.Now().Add(wait)
		if wait < time.Second || end.Before(told.Add(time.Second)) {
			return
		}
		told = end
		seconds := int(math.Ceil(wait.Seconds()))
		if errors.Is(because, client.ErrRateLimited) {
			con.Say("Waiting %d s for the rate limit.", seconds)
		} else {
			con.Say("Trying again in %d s: %v", seconds, because)
		}
	}
}

// target returns the server to call and its key. A key that is stored for one server is never sent to another.
func (f *Flags) target(con *terminal.Console) (Profile, error) {
	server, err := ParseServer(f.Server)
	if err != nil {
		return Profile{}, err
	}
	if key := con.Getenv("PETSTORE_API_KEY"); key != "" && f.Profile == "" {
		return Profile{cmp.Or(server, DefaultServer), key}, nil
	}
	name, stored, err := Locate(con, f.Profile)
	if err != nil {
		return Profile{}, err
	}
	p, err := stored.Read(name)
	missing := errors.Is(err, fs.ErrNotExist)
	other := err == nil && server != "" && server != p.Server
	switch {
	case missing && f.Profile != "":
		return Profile{}, terminal.NoKey("there is no profile %s; petstore login with the same --profile makes it, and petstore profiles lists all profiles", f.Profile)
	case (missing || other) && f.Profile == "":
		return Profile{}, terminal.NoKey("there is no key for %s; set PETSTORE_API_KEY, or run petstore login", cmp.Or(server, DefaultServer))
	case other:
		return Profile{}, terminal.WrongUsage("--server is %s, but the key of --profile %s is for %s; give one of the two", server, f.Profile, p.Server)
	}
	return p, err
}

// ParseServer returns the address of a server without the version at its end. Addresses are stored and compared in this
// form.
func ParseServer(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	if err != nil || !terminal.IsWebAddress(u) || u.ForceQuery {
		return "", terminal.WrongUsage("--server is %q; it may be an address such as https://api.example.com", terminal.HideCredentials(s))
	}
	u.Host = strings.ToLower(u.Host)
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}

// Explain says why a call failed, and makes the server's text safe to print.
func Explain(err error) error {
	var refused *client.Error
	var unanswered *url.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &refused):
		err = terminal.Reworded{Err: err, Text: terminal.Escape(refused.Error())}
		if refused.Code == client.ErrUnauthorized {
			err = terminal.KeyError{Err: err}
		}
	case errors.As(err, &unanswered):
		server, _, _ := strings.Cut(unanswered.URL, "/v1/")
		cause := unanswered.Err
		if call := (*os.SyscallError)(nil); errors.As(err, &call) {
			cause = call.Err
		}
		if errors.As(err, new(*tls.CertificateVerificationError)) || errors.Is(err, http.ErrSchemeMismatch) {
			return terminal.Reworded{Err: err, Text: fmt.Sprintf("what answers at %s is not the server, or has no certificate that this machine trusts: %v; --server may be wrong", server, cause)}
		}
		err = terminal.Reworded{Err: err, Text: fmt.Sprintf("no server answers at %s: %v; petstore serve starts one here, and --server names another", server, cause)}
	}
	return err
}
