// Package database opens the storage that the flags of a command choose: an SQLite file or a PostgreSQL database. It is the
// only place that knows which of the two can do what.
package database

import (
	"context"
	"path/filepath"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/postgres"
	"petstore/internal/sqlite"
)

// Flags choose the storage that a command works on.
type Flags struct {
	Environment petstore.Environment `enum:"production,staging" default:"production" help:"production or staging. A database and its keys belong to one environment."`
	Database    string               `placeholder:"URL" help:"The database for animals, orders and keys: sqlite:FILE or postgres://user:password@host/name. The default is sqlite:petstore.db, in staging sqlite:petstore-staging.db."`
}

// UnusedRedis lets a command that does not count requests accept the --redis of the server and ignore it: scripts and
// containers give all commands the same settings.
type UnusedRedis struct {
	Redis string `hidden:"" placeholder:"URL" help:"Ignored, because only serve counts requests."`
}

// Purpose says what a command does with the storage, and what it may do to the schema.
type Purpose struct {
	alone   bool // if the storage is a file, no server may use it meanwhile
	create  bool // may create a missing file, and the schema of an empty storage
	migrate bool // may bring an older schema up to date; an empty PostgreSQL database counts as one
}

// What commands open a storage for. An import and a copy fill it.
var (
	ToServe      = Purpose{alone: true, create: true, migrate: true}
	ToMigrate    = Purpose{alone: true, migrate: true}
	ToFill       = Purpose{alone: true, create: true}
	ToCreateKeys = Purpose{create: true}
	ToUse        = Purpose{}
)

// Watch holds the functions with which the storage reports what it does. Each may be nil.
type Watch struct {
	petstore.Watch
	// Batched reports the number of creates in one commit.
	Batched func(creates int)
	// Lost reports that the SQLite file has been moved or deleted, and with nil that it is back.
	Lost func(problem error)
}

// Storage is an open storage. The embedded Database is what both kinds can do; the fields are what they do differently or
// what only one of them can do. A field is nil if this kind of storage cannot do it.
type Storage struct {
	petstore.Database
	// Identity returns a name that is the same however --database is written.
	Identity func(context.Context) (string, error)
	// Versioned is set for SQLite, where the server is the only writer.
	Versioned petstore.Versioned
	// WALSize returns the size of SQLite's write-ahead log in bytes.
	WALSize func() int64
	// LastBackup returns when petstore backup last backed up the SQLite file.
	LastBackup func(context.Context) (time.Time, error)
	// IndexWords stores the words of animals on PostgreSQL, where searches find animals before their words are stored.
	IndexWords func(context.Context) (left int64, err error)
	// SharedReads returns how many reads on PostgreSQL shared the query of another read.
	SharedReads func() int64
}

// Open opens the storage that the flags choose.
func (f Flags) Open(ctx context.Context, why Purpose, w Watch) (*Storage, error) {
	kind, path, err := f.Parse()
	switch {
	case err != nil:
		return nil, err
	case kind == Postgres:
		return f.openPostgres(ctx, why, w)
	}
	return f.openSQLite(ctx, path, why, w)
}

func (f Flags) openSQLite(ctx context.Context, path string, why Purpose, w Watch) (*Storage, error) {
	db, err := sqlite.Open(ctx, sqlite.Config{
		Path: path, Environment: f.Environment, Create: why.create, Migrate: why.migrate, Serve: why.alone,
		Batched: w.Batched, Watch: w.Watch, FileLost: w.Lost,
	})
	if err != nil {
		return nil, err
	}
	identity := func(context.Context) (string, error) {
		resolved, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", err
		}
		resolved, err = filepath.Abs(resolved)
		return "sqlite:" + resolved, err
	}
	return &Storage{Database: db, Identity: identity, Versioned: db, WALSize: db.WALSize, LastBackup: db.LastBackup}, nil
}

func (f Flags) openPostgres(ctx context.Context, why Purpose, w Watch) (*Storage, error) {
	db, err := postgres.Open(ctx, postgres.Config{
		URL: f.Database, Environment: f.Environment, Create: why.create || why.migrate, Migrate: why.migrate,
		Batched: w.Batched, Watch: w.Watch,
	})
	if err != nil {
		return nil, err
	}
	identity := func(ctx context.Context) (string, error) {
		place, err := db.Place(ctx)
		return "postgres://" + place, err
	}
	return &Storage{Database: db, Identity: identity, IndexWords: db.IndexWords, SharedReads: db.SharedReads}, nil
}

// With opens the storage that the flags choose, calls work, and closes the storage.
func (f Flags) With(ctx context.Context, why Purpose, work func(*Storage) error) error {
	storage, err := f.Open(ctx, why, Watch{})
	if err != nil {
		return err
	}
	defer storage.Close()
	return work(storage)
}

// CheckSchema returns the schema version of the storage, which is 0 if the storage is empty or missing, and the version that
// this program needs. It changes nothing.
func (f Flags) CheckSchema(ctx context.Context) (current, needed int, err error) {
	kind, path, err := f.Parse()
	switch {
	case err != nil:
		return 0, 0, err
	case kind == Postgres:
		return postgres.Check(ctx, postgres.Config{URL: f.Database, Environment: f.Environment})
	}
	return sqlite.Check(ctx, sqlite.Config{Path: path, Environment: f.Environment})
}
