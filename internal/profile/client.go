package profile

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"petstore/client"
	"petstore/internal/terminal"
)

// DefaultServer is the address of a server that petstore serve starts with its default settings.
const DefaultServer = "http://localhost:8080"

// Flags choose the server that a command calls and the key that the command sends. No flag contains the key itself, because
// other users of the machine can see the flags of a process.
type Flags struct {
	Server  string `placeholder:"URL" help:"The server to call with the key in $$PETSTORE_API_KEY. The default is the server of the profile; without a profile, http://localhost:8080."`
	Profile string `placeholder:"NAME" help:"The profile of petstore login whose server and key to use. If $$PETSTORE_API_KEY is not set, the default is the profile named default."`
}

// With calls the function work with a client for the chosen server. It explains the error that work returns.
func (f *Flags) With(con *terminal.Console, work func(*client.Client) error, options ...client.Option) error {
	store, err := f.Client(con, options...)
	if err != nil {
		return err
	}
	return Explain(work(store))
}

// Change is like With, but for work that changes something on the server. Its errors say whether the server made the change.
func (f *Flags) Change(con *terminal.Console, work func(*client.Client) error) error {
	store, err := f.Client(con)
	if err != nil {
		return err
	}
	err = Explain(work(store))
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("stopped; the change may have been made, so check before you repeat the command")
	case errors.As(err, new(*fs.PathError)): // the command cannot write to standard output
		return fmt.Errorf("the change was made, so do not repeat the command, but the result could not be shown: %w", err)
	}
	return err
}

// Client returns a client for the chosen server. It sends no request.
func (f *Flags) Client(con *terminal.Console, options ...client.Option) (*client.Client, error) {
	p, err := f.Target(con)
	if err != nil {
		return nil, err
	}
	return NewClient(con, p, options...)
}

// NewClient returns a client that calls the server in a profile with the key in the profile.
func NewClient(con *terminal.Console, p Profile, options ...client.Option) (*client.Client, error) {
	all := []client.Option{
		client.WithUserAgent("petstore-cli/" + con.Version),
		client.WithRetries(4, 2*time.Minute),
	}
	if terminal.IsTerminal(con.Stderr) {
		all = append(all, client.WithWaitNotice(waitNotice(con)))
	}
	store, err := client.New(p.Server, p.Key, append(all, options...)...)
	if err != nil {
		return nil, terminal.KeyError{Err: err}
	}
	return store, nil
}

// waitNotice returns a function that says why the client waits. If several calls wait at the same time, the function says so
// once.
func waitNotice(con *terminal.Console) func(time.Duration, error) {
	var mu sync.Mutex
	var announcedUntil time.Time
	return func(wait time.Duration, reason error) {
		mu.Lock()
		defer mu.Unlock()
		until := time.Now().Add(wait)
		if wait < time.Second || until.Before(announcedUntil.Add(time.Second)) {
			return
		}
		announcedUntil = until
		if errors.Is(reason, client.ErrRateLimited) {
			con.Say("Waiting %s for the rate limit.", terminal.Rough(wait))
		} else {
			con.Say("Trying again in %s: %v", terminal.Rough(wait), reason)
		}
	}
}

// Target returns the server to call and the key for it. The key for one server is never sent to another server.
func (f *Flags) Target(con *terminal.Console) (Profile, error) {
	server, err := ParseAddress("--server", f.Server)
	if err != nil {
		return Profile{}, err
	}
	if key := con.Getenv("PETSTORE_API_KEY"); key != "" && f.Profile == "" {
		return Profile{cmp.Or(server, DefaultServer), key}, nil
	}
	name, profiles, err := Locate(con, f.Profile)
	if err != nil {
		return Profile{}, err
	}
	p, err := profiles.Read(name)
	missing := errors.Is(err, fs.ErrNotExist)
	otherServer := err == nil && server != "" && server != p.Server
	switch {
	case missing && f.Profile != "":
		return Profile{}, terminal.NoKey("there is no profile %s; run petstore login with the same --profile to create it, or petstore profiles to list all profiles", f.Profile)
	case (missing || otherServer) && f.Profile == "":
		return Profile{}, terminal.NoKey("there is no key for %s; set PETSTORE_API_KEY, or run petstore login", cmp.Or(server, DefaultServer))
	case otherServer:
		return Profile{}, terminal.WrongUsage("--server is %s, but the key of --profile %s is for %s; give only one of the two flags", server, f.Profile, p.Server)
	}
	return p, err
}

// ParseAddress checks the address of a server in a flag and removes the API version at its end. Profiles store addresses in
// this form, so that commands can compare them.
func ParseAddress(flag, s string) (string, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	if err != nil || !terminal.IsWebAddress(u) || u.ForceQuery {
		return "", terminal.WrongUsage("%s is %q; it must be an address such as https://api.example.com", flag, terminal.HideCredentials(s))
	}
	u.Host = strings.ToLower(u.Host)
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}

// Explain turns an error of the client into a message for the terminal. It escapes the server's text.
func Explain(err error) error {
	var refused *client.Error
	var noAnswer *url.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &refused):
		err = terminal.Reworded{Err: err, Text: terminal.Escape(refused.Error())}
		if refused.Code == client.ErrUnauthorized {
			err = terminal.KeyError{Err: err}
		}
	case errors.As(err, &noAnswer):
		server, _, _ := strings.Cut(noAnswer.URL, "/v1/")
		cause := noAnswer.Err
		if call := (*os.SyscallError)(nil); errors.As(err, &call) {
			cause = call.Err
		}
		if errors.As(err, new(*tls.CertificateVerificationError)) || errors.Is(err, http.ErrSchemeMismatch) {
			return terminal.Reworded{Err: err, Text: fmt.Sprintf("either the program at %s is not a petstore server, or this machine does not trust its certificate: %v; check --server", server, cause)}
		}
		err = terminal.Reworded{Err: err, Text: fmt.Sprintf("no server answers at %s: %v; start one with petstore serve, or choose another with --server", server, cause)}
	}
	return err
}
