package main

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"petstore/internal/petstore"
	"petstore/internal/postgres"
	"petstore/internal/sqlite"
)

// storeFlags say which store a command works on.
type storeFlags struct {
	Environment petstore.Environment `enum:"production,staging" default:"production" help:"The environment: production or staging. A database and its keys belong to one."`
	Database    string               `placeholder:"URL" help:"Where animals and keys are kept: sqlite:FILE or postgres://user:password@host/name. By default sqlite:petstore.db, in staging sqlite:petstore-staging.db."`
	Redis       string               `placeholder:"URL" help:"Where serve counts requests when there are several replicas: redis://host:6379. By default each process counts for itself. Other commands accept it and do not use it."`

	lost func(problem error) // called when the embedded store's file is not in its place, and with nil when it is back
}

// purpose says what a command does with the store, and what it may do to the schema.
type purpose struct {
	alone   bool // if the store is a file, no server may use it meanwhile
	create  bool // may create a missing store, and the schema of an empty one
	migrate bool // may bring an older schema up to date
}

var (
	toServe  = purpose{alone: true, create: true, migrate: true}
	toFill   = purpose{alone: true, create: true} // by an import or a copy
	toManage = purpose{create: true}
	toChange = purpose{}
)

// watch holds functions that the store calls to report what it does. Each may be nil.
type watch struct {
	petstore.Watch
	batched func(creates int)
}

// open opens the store that the flags name.
func (f storeFlags) open(ctx context.Context, why purpose, w watch) (petstore.Copyable, error) {
	kind, path, err := f.database()
	if err != nil {
		return nil, err
	}
	if kind == "sqlite" {
		return sqlite.Open(ctx, sqlite.Config{Path: path, Environment: f.Environment, Create: why.create, Migrate: why.migrate, Serve: why.alone, Batched: w.batched, Watch: w.Watch, Lost: f.lost})
	}
	return postgres.Open(ctx, postgres.Config{URL: f.Database, Environment: f.Environment, Create: why.create, Migrate: why.migrate, Batched: w.batched, Watch: w.Watch})
}

// with opens the store that the flags name, does work on it, and closes it.
func (f storeFlags) with(ctx context.Context, why purpose, work func(petstore.Storage) error) error {
	storage, err := f.open(ctx, why, watch{})
	if err != nil {
		return err
	}
	defer storage.Close()
	return work(storage)
}

// database splits --database into the kind of store and, if it is a file, its path.
func (f storeFlags) database() (kind, path string, err error) {
	address := f.Database
	if address == "" {
		address = "sqlite:petstore.db"
		if f.Environment == petstore.Staging {
			address = "sqlite:petstore-staging.db"
		}
	}
	scheme, rest, _ := strings.Cut(address, ":")
	switch {
	case scheme == "sqlite" && strings.TrimPrefix(rest, "//") != "":
		return "sqlite", strings.TrimPrefix(rest, "//"), nil
	case (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//"):
		if torn(address) {
			return "", "", tornURL("--database")
		}
		if err := postgres.CheckURL(address); err != nil {
			return "", "", wrongUsage("--database: %w", err)
		}
		return "postgres", "", nil
	}
	began := "is of no kind that is known here" // the text itself may hold a password
	if !strings.ContainsAny(scheme, "@= ") {
		began = fmt.Sprintf("begins with %q", scheme)
	}
	return "", "", wrongUsage("--database %s; it may be sqlite:FILE, such as sqlite:petstore.db, or postgres://user:password@host/name", began)
}

// torn reports whether a character that is not percent-encoded splits a URL in the middle of its password. Then part of
// the password would be taken for a host or a name, and error messages would show it.
func torn(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false // the code that opens the URL refuses it
	}
	parameter, _, _ := strings.Cut(u.RawQuery, "=")
	return u.Fragment != "" || strings.Contains(u.Path+parameter, "@")
}

func tornURL(flag string) error {
	return wrongUsage("%s has a special character that is not percent-encoded; in a password, write %%40 for @, %%2F for /, %%3F for ? and %%23 for #", flag)
}

var untilHost = regexp.MustCompile(`//.*@`)

// withoutUser removes the user and the password from a URL, so that it can be shown.
func withoutUser(address string) string { return untilHost.ReplaceAllString(address, "//…@") }
