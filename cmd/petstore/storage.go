package main

import (
	"context"
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

	lost func(problem error) // told when the embedded store's file is not in its place, and nil when it is back
}

// purpose is what a command wants of the store, and what it may do to its schema for that.
type purpose struct {
	alone   bool // no server may use the store meanwhile, if it is a file
	create  bool // makes a store that is missing, and fills one that is empty
	migrate bool // brings an older schema up to date
}

var (
	toServe  = purpose{alone: true, create: true, migrate: true}
	toLoad   = purpose{alone: true, create: true}
	toManage = purpose{create: true}
	toChange = purpose{}
)

// watch is told what the store does; nil functions are not.
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

// with does work on the store that the flags name.
func (f storeFlags) with(ctx context.Context, why purpose, work func(petstore.Storage) error) error {
	storage, err := f.open(ctx, why, watch{})
	if err != nil {
		return err
	}
	defer storage.Close()
	return work(storage)
}

// database splits --database into the kind of store and, of a file, its path.
func (f storeFlags) database() (kind, path string, err error) {
	url := f.Database
	if url == "" {
		url = "sqlite:petstore.db"
		if f.Environment == petstore.Staging {
			url = "sqlite:petstore-staging.db"
		}
	}
	scheme, rest, _ := strings.Cut(url, ":")
	switch {
	case scheme == "sqlite" && strings.TrimPrefix(rest, "//") != "":
		return "sqlite", strings.TrimPrefix(rest, "//"), nil
	case (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//"):
		if err := postgres.CheckURL(url); err != nil {
			return "", "", wrongUsage("--database: %w", err)
		}
		return "postgres", "", nil
	}
	// The rest of it may hold a password.
	return "", "", wrongUsage("--database begins with %q; it may be sqlite:FILE, such as sqlite:petstore.db, or postgres://user:password@host/name", scheme)
}
