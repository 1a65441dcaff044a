// Package postgres keeps the store in a PostgreSQL database, which any number of replicas share.
package postgres

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/batch"
	"petstore/internal/petstore"
)

// Config says which database to open, and for what.
type Config struct {
	// URL is written postgres://user:password@host:port/name. Several hosts, host:port,host:port, are tried in their
	// order, and the one that is primary is used: a failover needs no restart. What pgx reads in a URL may be given,
	// such as sslmode, pool_max_conns and statement_timeout.
	URL         string
	Environment petstore.Environment
	// Create fills the database if it is empty; otherwise an empty one is refused.
	Create bool
	// Migrate brings the schema of an older version up to date; otherwise it is refused.
	Migrate bool
	// Batched, if not nil, is told how many creates each statement had.
	Batched func(creates int)
	Watch   petstore.Watch
}

// DB is a petstore.Storage in a PostgreSQL database. All reads go to the primary, so that what one replica has
// acknowledged is seen on every other at once.
type DB struct {
	pool    *pgxpool.Pool
	batched func(creates int)
	watch   petstore.Watch
	creates *batch.Writer[petstore.NewPet, petstore.Pet]
	changes *batch.Writer[change, bool]
	gets    *batch.Writer[int64, petstore.Pet]
	pages   *batch.Shared[petstore.PetQuery, []petstore.Pet]
	lanes   [lanes]*batch.Writer[petstore.PetQuery, []petstore.Pet]
	turn    atomic.Uint32
	counts  *batch.Shared[struct{}, petstore.Inventory]
}

var (
	_ petstore.Storage  = (*DB)(nil)
	_ petstore.Measured = (*DB)(nil)
)

const (
	// maxConns is the size of a replica's pool unless pool_max_conns in the URL says another. Grouped calls need one
	// connection for a whole group, and twelve replicas fit into the 100 connections that PostgreSQL allows by default.
	maxConns = 8
	// maxBatch bounds a statement. It is more than ever wait at once, so that a database that hangs keeps nobody for
	// longer than the group that runs and the next.
	maxBatch = 4096
	// maxChanges bounds the changes of one transaction, each a statement of its own, so that they end in time.
	maxChanges = 1024
	// lanes is how many groups of pages are read at once, so that the database can use several processors for them.
	lanes = 4
	// patience bounds every call, its wait for a connection included: a database that hangs makes refusals, not
	// hanging requests.
	patience = 3 * time.Second
	// connectTimeout bounds the attempt to reach one host, so that there is time for another.
	connectTimeout = 2 * time.Second
	// pingTimeout bounds the check of a connection that was idle, so that one call can discard several.
	pingTimeout = 500 * time.Millisecond
)

// session is how every connection is set unless the URL says otherwise.
var session = map[string]string{
	"application_name": "petstore",
	// The server gives up a little before patience ends, so that the connection can be used again.
	"statement_timeout": "2500ms",
	// If this process vanishes in the middle of a transaction, its locks do not stay.
	"idle_in_transaction_session_timeout": "10s",
	// Every query walks an index to a few rows. It is planned once, and no statistics, stale or missing, lead it astray.
	"plan_cache_mode": "force_generic_plan",
	"enable_seqscan":  "off",
	"enable_sort":     "off",
	"jit":             "off",
}

// Open connects to the database, which has this version's schema then. What it refuses it leaves as it was, and says what
// to do.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	config, err := poolConfig(cfg.URL)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, pool, cfg); err != nil {
		pool.Close()
		return nil, refusal(config.ConnConfig, err)
	}
	db := &DB{pool: pool, batched: cfg.Batched, watch: cfg.Watch}
	db.creates = batch.NewWriter(maxBatch, db.insert)
	db.changes = batch.NewWriter(maxChanges, db.apply)
	db.gets = batch.NewWriter(maxBatch, db.fetch)
	db.pages = batch.NewShared(db.page)
	for i := range db.lanes {
		db.lanes[i] = batch.NewWriter(maxBatch, db.list)
	}
	db.counts = batch.NewShared(db.count)
	return db, nil
}

// CheckURL says what is wrong with a URL, without asking who is there.
func CheckURL(url string) error {
	_, err := poolConfig(url)
	return err
}

func poolConfig(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The cause would show parts of the URL, and of the password with them.
		return nil, errors.New("the database URL cannot be read: it is written postgres://user:password@host:port/name?sslmode=require, with special characters in the password percent-encoded")
	}
	conn := config.ConnConfig
	if !strings.Contains(url, "pool_max_conns=") {
		config.MaxConns = maxConns
	}
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTimeout
	}
	// Whatever the URL says, only a primary will do: a replica writes, and reads what was just written.
	conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	for name, value := range session {
		if _, given := conn.RuntimeParams[name]; !given {
			conn.RuntimeParams[name] = value
		}
	}
	if config.PingTimeout == 0 {
		config.PingTimeout = pingTimeout
	}
	return config, nil
}

// SharedReads is how many lists and inventories so far needed no query of their own.
func (db *DB) SharedReads() int64 { return db.pages.Joined() + db.counts.Joined() }

// Ping asks the primary.
func (db *DB) Ping(ctx context.Context) error {
	return db.read(ctx, func(ctx context.Context) error { return db.pool.Ping(ctx) })
}

// Close finishes what was accepted and releases the connections. Closing again does nothing.
func (db *DB) Close() error {
	db.creates.Close()
	db.changes.Close()
	db.gets.Close()
	for _, lane := range db.lanes {
		lane.Close()
	}
	db.pool.Close()
	return nil
}
