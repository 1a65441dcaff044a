package main

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

	remote "petstore/client"
)

// defaultServer is where petstore serve listens by default.
const defaultServer = "http://localhost:8080"

// remoteFlags choose the server that a command calls and the key that it sends. The key is not a flag, because other
// users of the machine can see flags.
type remoteFlags struct {
	Server  string `placeholder:"URL" help:"The server to call, with the key in $$PETSTORE_API_KEY. By default it is the server of the profile, or else http://localhost:8080."`
	Profile string `placeholder:"NAME" help:"The profile of petstore login whose server and key to use. Without $$PETSTORE_API_KEY, it is the profile default."`
}

// keyError is a key that is missing or refused; it ends the process with status 4.
type keyError struct{ error }

func (e keyError) Unwrap() error { return e.error }

func noKey(format string, args ...any) error { return keyError{fmt.Errorf(format, args...)} }

// with calls do with a client of the chosen server, and explains its error.
func (f *remoteFlags) with(con *console, do func(*remote.Client) error) error {
	store, err := f.client(con)
	if err != nil {
		return err
	}
	return explain(do(store))
}

// change is like with, for a command that changes something on the server.
func (f *remoteFlags) change(con *console, do func(*remote.Client) error) error {
	store, err := f.client(con)
	if err != nil {
		return err
	}
	err = explain(do(store))
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("stopped; it may have been done, so check before you repeat it")
	case errors.As(err, new(*fs.PathError)): // of standard output
		return fmt.Errorf("it was done, but it could not be shown, so do not repeat it: %w", err)
	}
	return err
}

// client is a client of the chosen server. It sends nothing yet.
func (f *remoteFlags) client(con *console) (*remote.Client, error) {
	p, err := f.target(con)
	if err != nil {
		return nil, err
	}
	return con.clientOf(p)
}

func (con *console) clientOf(p profile) (*remote.Client, error) {
	options := []remote.Option{
		remote.WithUserAgent("petstore-cli/" + versionName()),
		remote.WithRetries(4, 2*time.Minute),
	}
	if isTerminal(con.stderr) {
		options = append(options, remote.WithWaitNotice(con.waitNotice()))
	}
	store, err := remote.New(p.Server, p.Key, options...)
	if err != nil {
		return nil, keyError{err}
	}
	return store, nil
}

// waitNotice says why nothing happens for a while. It says so once, however many calls wait.
func (con *console) waitNotice() func(time.Duration, error) {
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
		if errors.Is(because, remote.ErrRateLimited) {
			con.say("Waiting %d s for the rate limit.", seconds)
		} else {
			con.say("Trying again in %d s: %v", seconds, because)
		}
	}
}

// target returns the server to call and its key. A key that is stored for one server is never sent to another.
func (f *remoteFlags) target(con *console) (profile, error) {
	server, err := parseServer(f.Server)
	if err != nil {
		return profile{}, err
	}
	if key := con.getenv(variablePrefix + "API_KEY"); key != "" && f.Profile == "" {
		return profile{cmp.Or(server, defaultServer), key}, nil
	}
	name, stored, err := con.place(f.Profile)
	if err != nil {
		return profile{}, err
	}
	p, err := stored.read(name)
	missing := errors.Is(err, fs.ErrNotExist)
	other := err == nil && server != "" && server != p.Server
	switch {
	case missing && f.Profile != "":
		return profile{}, noKey("there is no profile %s; petstore login with the same --profile makes it, and petstore profiles lists all profiles", f.Profile)
	case (missing || other) && f.Profile == "":
		return profile{}, noKey("there is no key for %s; set PETSTORE_API_KEY, or run petstore login", cmp.Or(server, defaultServer))
	case other:
		return profile{}, wrongUsage("--server is %s, but the key of --profile %s is for %s; give one of the two", server, f.Profile, p.Server)
	}
	return p, err
}

// parseServer returns the address of a server without the version at its end. Addresses are stored and compared in this
// form.
func parseServer(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	if err != nil || !isAddress(u) || u.ForceQuery {
		return "", wrongUsage("--server is %q; it may be an address such as https://api.example.com", withoutUser(s))
	}
	u.Host = strings.ToLower(u.Host)
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}

// explain says why a call failed, and makes the server's text safe to print.
func explain(err error) error {
	var refused *remote.Error
	var unanswered *url.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &refused):
		err = reworded{err, harmless(refused.Error())}
		if refused.Code == remote.ErrUnauthorized {
			err = keyError{err}
		}
	case errors.As(err, &unanswered):
		server, _, _ := strings.Cut(unanswered.URL, "/v1/")
		cause := unanswered.Err
		if call := (*os.SyscallError)(nil); errors.As(err, &call) {
			cause = call.Err
		}
		if errors.As(err, new(*tls.CertificateVerificationError)) || errors.Is(err, http.ErrSchemeMismatch) {
			return reworded{err, fmt.Sprintf("what answers at %s is not the server, or has no certificate that this machine trusts: %v; --server may be wrong", server, cause)}
		}
		err = reworded{err, fmt.Sprintf("no server answers at %s: %v; petstore serve starts one here, and --server names another", server, cause)}
	}
	return err
}
