// Package postgres keeps the store in a PostgreSQL database, which any number of replicas share.
//
// [Open] returns a [DB], which is a petstore.Storage. calls.go says how a call uses a connection, and errors.go what its
// error promises. The SQL of each noun is in the file of that name; migrations has the schema.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// URL has the form postgres://user:password@host:port/name. It may name several hosts, as host:port,host:port. They
	// are tried in that order, and the primary is used, so a failover needs no restart. The URL may set all that pgx
	// reads from it, such as sslmode, pool_max_conns and statement_timeout.
	URL         string
	Environment petstore.Environment
	// Create fills an empty database. Without Create, Open refuses it.
	Create bool
	// Migrate brings the schema of an older version up to date. Without Migrate, Open refuses it.
	Migrate bool
	// Batched, if not nil, is called after each statement with the number of its creates.
	Batched func(creates int)
	Watch   petstore.Watch
	// timeout bounds every call. Zero means callTimeout; only tests set another.
	timeout time.Duration
}

// DB is a petstore.Storage in a PostgreSQL database. All reads go to the primary, so that every replica sees at once
// what another one has acknowledged.
type DB struct {
	pool     *pgxpool.Pool
	timeouts timeouts
	batched  func(creates int)
	watch    petstore.Watch
	creates  *batch.Writer[petstore.NewPet, petstore.Pet]
	changes  *batch.Writer[change, bool]
	gets     *batch.Writer[int64, petstore.Pet]
	pages    *batch.Shared[petstore.PetQuery, []petstore.Pet]
	lanes    [lanes]*batch.Writer[petstore.PetQuery, []petstore.Pet]
	turn     atomic.Uint32
	counts   *batch.Shared[struct{}, petstore.Inventory]
	// expiries gets the animals of orders that have expired.
	expiries *batch.Writer[[]int64, struct{}]
	// counting makes the counter of categories, unless stop ends it.
	counting *batch.Grouped[struct{}, struct{}]
	stop     context.CancelFunc
}

var _ petstore.Database = (*DB)(nil)

const (
	// maxConns is the size of a replica's pool, unless pool_max_conns in the URL sets another. Grouped calls need one
	// connection for a whole group, and twelve replicas fit into the 100 connections that PostgreSQL allows by default.
	maxConns = 8
	// maxBatch bounds a statement. It is more than the number of calls that ever wait at once. So if the database hangs,
	// nobody waits for longer than the running group and the next one.
	maxBatch = 4096
	// maxChanges bounds the changes of one transaction. Each is a statement of its own, and all of them must end in time.
	maxChanges = 1024
	// lanes is how many groups of pages are read at once, so that the database can use several processors.
	lanes = 4
)

// session returns the settings of every connection, unless the URL sets others.
func session(t timeouts) map[string]string {
	return map[string]string{
		"application_name":  "petstore",
		"statement_timeout": fmt.Sprintf("%dms", t.statement.Milliseconds()),
		// If this process vanishes in the middle of a transaction, the server releases its locks.
		"idle_in_transaction_session_timeout": "10s",
		// A group of changes sees what others have committed in the meantime.
		"default_transaction_isolation": "read committed",
		// Every query walks an index to a few rows. It is planned only once, so that stale or missing statistics cannot lead
		// to a bad plan.
		"plan_cache_mode": "force_generic_plan",
		"enable_seqscan":  "off",
		"enable_sort":     "off",
		"jit":             "off",
	}
}

// Open connects to the database and makes sure that it has the schema of this program. If Open refuses the database, it
// leaves the database as it was, and the error says what to do.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	config, err := poolConfig(cfg)
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
	db := &DB{pool: pool, timeouts: cfg.timeouts(), batched: cfg.Batched, watch: cfg.Watch}
	db.creates = batch.NewWriter(maxBatch, db.insert)
	db.changes = batch.NewWriter(maxChanges, db.apply)
	db.gets = batch.NewWriter(maxBatch, db.fetch)
	db.pages = batch.NewShared(db.page)
	for i := range db.lanes {
		db.lanes[i] = batch.NewWriter(maxBatch, db.list)
	}
	db.counts = batch.NewShared(db.count)
	db.expiries = batch.NewWriter(maxChanges, db.expire)
	running, stop := context.WithCancel(context.Background())
	db.counting = batch.NewGrouped(func(struct{}, int) (none struct{}, err error) { return none, db.makeCounter(running) })
	db.stop = stop
	return db, nil
}

// CheckURL says what is wrong with a URL, without connecting to it.
func CheckURL(url string) error {
	_, err := poolConfig(Config{URL: url})
	return err
}

func poolConfig(cfg Config) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		// The cause would show parts of the URL, and so of the password.
		return nil, errors.New("the database URL cannot be read: it is written postgres://user:password@host:port/name?sslmode=require, with special characters in the password percent-encoded")
	}
	conn, t := config.ConnConfig, cfg.timeouts()
	if !strings.Contains(cfg.URL, "pool_max_conns=") {
		config.MaxConns = maxConns
	}
	conn.ConnectTimeout = cmp.Or(conn.ConnectTimeout, t.connect)
	// Whatever the URL says, only a primary will do, because petstore writes, and reads what was just written.
	conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	for name, value := range session(t) {
		if _, given := conn.RuntimeParams[name]; !given {
			conn.RuntimeParams[name] = value
		}
	}
	config.PingTimeout = cmp.Or(config.PingTimeout, t.ping)
	config.PrepareConn = t.leaveTime
	return config, nil
}

// SharedReads is how many lists and inventories have needed no query of their own so far.
func (db *DB) SharedReads() int64 { return db.pages.Joined() + db.counts.Joined() }

// selectSchema finds the schema in which the search path finds the tables.
const selectSchema = "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'pets'::regclass"

// Place says where the store is, such as host:5432/name, without the user and the password. It is the same whether the
// URL, its query or variables such as PGHOST say so.
func (db *DB) Place(ctx context.Context) (string, error) {
	var schema string
	err := db.read(ctx, func(ctx context.Context) error { return db.pool.QueryRow(ctx, selectSchema).Scan(&schema) })
	config := db.pool.Config().ConnConfig
	place := strings.Join(hosts(config), ",") + "/" + cmp.Or(config.Database, config.User) // PostgreSQL's default is the name of the user
	if schema != "public" {
		place += "?schema=" + schema
	}
	return place, err
}

// Ping asks the primary.
func (db *DB) Ping(ctx context.Context) error {
	return db.read(ctx, func(ctx context.Context) error { return db.pool.Ping(ctx) })
}

// Close finishes the accepted changes and releases the connections. It leaves the connections to a server that hangs:
// the driver would wait for it for 15 s. Closing again does nothing.
func (db *DB) Close() error {
	db.stop()
	db.creates.Close()
	db.changes.Close()
	db.gets.Close()
	db.expiries.Close()
	for _, lane := range db.lanes {
		lane.Close()
	}
	released := make(chan struct{})
	go func() {
		db.pool.Close()
		close(released)
	}()
	select {
	case <-released:
	case <-time.After(db.timeouts.call):
	}
	return nil
}
