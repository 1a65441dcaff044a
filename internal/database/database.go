// Package database opens the storage that the flags of a command choose: an SQLite file or a PostgreSQL database. Only this
// package knows what each kind of storage can do.
package database

import (
	"context"
	"path/filepath"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/postgres"
	"petstore/internal/sqlite"
)

// Flags choose the storage for a command.
type Flags struct {
	Environment petstore.Environment `enum:"production,staging" default:"production" help:"production or staging. A database and its keys belong to one environment."`
	Database    string               `placeholder:"URL" help:"The database for animals, orders and keys: sqlite:FILE or postgres://user:password@host/name. The default is sqlite:petstore.db, in staging sqlite:petstore-staging.db."`
}

// UnusedRedis lets a command that does not count requests accept the server's flag --redis and ignore it. Scripts and
// containers give all commands the same settings.
type UnusedRedis struct {
	Redis string `hidden:"" placeholder:"URL" help:"Ignored, because only serve counts requests."`
}

// Purpose says what a command does with the storage, and how it may change the schema.
type Purpose struct {
	alone   bool // whether no server may be using the storage, if it is a file
	create  bool // whether the command may create a missing file, and the schema in an empty storage
	migrate bool // whether the command may migrate an older schema; an empty PostgreSQL database counts as older
	index   bool // whether the command indexes the words of animals, if the storage is a file
}

// The purposes for which commands open a storage. An import and a copy open it with ToFill.
var (
	ToServe      = Purpose{alone: true, create: true, migrate: true, index: true}
	ToMigrate    = Purpose{alone: true, migrate: true}
	ToFill       = Purpose{alone: true, create: true}
	ToRecover    = Purpose{alone: true}
	ToCreateKeys = Purpose{create: true}
	ToUse        = Purpose{}
)

// Watch holds the functions that a storage calls to report its work. Each function may be nil.
type Watch struct {
	petstore.Watch
	// Batched reports how many creates one commit contained.
	Batched func(creates int)
	// Lost reports that the SQLite file has been moved or deleted. A nil problem means that the file is back.
	Lost func(problem error)
	// Replaced reports that a PostgreSQL still answers as the primary after another one has become the primary.
	Replaced func(problem error)
	// Indexing reports how many animals of the SQLite file have to be indexed before a search finds them, if they are very
	// many, and 0 at the end.
	Indexing func(left int64)
}

// Storage is an open storage. Both kinds of storage provide the embedded Database. The fields are functions that differ
// between the kinds, or that only one kind has. A field is nil if this kind of storage does not have the function.
type Storage struct {
	petstore.Database
	// Identity returns a name for the database. The name is the same for all ways to write the database's URL.
	Identity func(context.Context) (string, error)
	// Versioned is set for SQLite, where only the server writes.
	Versioned petstore.Versioned
	// WALSize returns the size of SQLite's write-ahead log in bytes.
	WALSize func() int64
	// LastBackup returns the time when petstore backup last made a backup of the SQLite file.
	LastBackup func(context.Context) (time.Time, error)
	// IndexWords stores the words of animals on PostgreSQL, where searches find animals before their words are stored.
	IndexWords func(context.Context) (left int64, err error)
	// SharedReads returns how many reads on PostgreSQL shared the query of another read.
	SharedReads func() int64
	// Memory says how useful the animals are that PostgreSQL's replicas keep in memory.
	Memory func() petstore.Memory
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
		Path: path, Environment: f.Environment, Create: why.create, Migrate: why.migrate, Serve: why.alone, LeaveIndex: !why.index,
		Batched: w.Batched, Watch: w.Watch, FileLost: w.Lost, Indexing: w.Indexing,
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
		Batched: w.Batched, Watch: w.Watch, Replaced: w.Replaced,
	})
	if err != nil {
		return nil, err
	}
	identity := func(ctx context.Context) (string, error) {
		place, err := db.Place(ctx)
		return "postgres://" + place, err
	}
	return &Storage{Database: db, Identity: identity, IndexWords: db.IndexWords, SharedReads: db.SharedReads, Memory: db.Memory}, nil
}

// With opens the storage that the flags choose, calls the function work, and closes the storage.
func (f Flags) With(ctx context.Context, why Purpose, work func(*Storage) error) error {
	storage, err := f.Open(ctx, why, Watch{})
	if err != nil {
		return err
	}
	defer storage.Close()
	return work(storage)
}

// CheckSchema returns the storage's schema version and the version that this program needs. The current version is 0 if the
// storage is empty or missing. CheckSchema changes nothing.
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
