// Package postgres keeps the store in a PostgreSQL database, which any number of replicas share.
//
// [Open] returns a [DB], which is a petstore.Storage. The file calls.go says how a call uses a connection, timeouts.go how
// long it may take, and errors.go what its error promises. The SQL of each noun is in the file of that name; the folder
// migrations has the schema.
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
	// URL has the form postgres://user:password@host:port/name. It may name several hosts, as host:port,host:port, in any
	// order. The primary is used, so a failover needs no restart. The URL may set everything that pgx reads from it, such as
	// sslmode, pool_max_conns and statement_timeout.
	URL         string
	Environment petstore.Environment
	// Create fills an empty database. Without Create, Open refuses it.
	Create bool
	// Migrate brings an older schema up to date. Without Migrate, Open refuses it.
	Migrate bool
	// Batched, if not nil, is called after each statement that creates animals, with their number.
	Batched func(creates int)
	// Replaced, if not nil, is called when a host of the URL still answers as the primary after another host has become the
	// primary.
	Replaced func(problem error)
	Watch    petstore.Watch
	// timeout bounds every call. Zero means callTimeout. Only tests set it.
	timeout time.Duration
}

// DB is a petstore.Storage in a PostgreSQL database. Every read asks the primary, so that every replica sees at once what
// another replica has acknowledged.
type DB struct {
	pool     *pgxpool.Pool
	cluster  *cluster
	timeouts timeouts
	batched  func(creates int)
	watch    petstore.Watch
	creates  *batch.Writer[create, petstore.Pet]
	changes  *batch.Writer[change, any]
	gets     *batch.Writer[int64, petstore.Pet]
	pages    *batch.Shared[petstore.PetQuery, []petstore.Pet]
	lanes    [laneCount]*batch.Writer[petstore.PetQuery, []petstore.Pet]
	nextLane atomic.Uint32
	recent   *recent
	// wordsVersion is petstore.WordsVersion, unless a test changes it.
	wordsVersion int
	// searches has an element for each search that uses a connection.
	searches    chan struct{}
	inventories *batch.Shared[struct{}, petstore.Inventory]
	// expiries takes the animals of overdue orders.
	expiries *batch.Writer[[]int64, struct{}]
	// numbering gives numbers to events, and feedStates says whether there are any to number.
	numbering  *batch.Shared[struct{}, struct{}]
	feedStates *batch.Shared[struct{}, feedState]
	// numbered is when this process last numbered, in nanoseconds since 1970, and durable is the sequence of the newest event
	// that is known to keep its number.
	numbered, durable atomic.Int64
	// counterMaker creates the counter of categories, unless stop ends it.
	counterMaker *batch.Grouped[struct{}, struct{}]
	stop         context.CancelFunc
}

var _ petstore.Database = (*DB)(nil)

const (
	// maxConns is the size of a replica's pool, unless pool_max_conns in the URL sets another. Eight are enough, because a
	// whole group of calls needs one connection, and ten replicas fit into PostgreSQL's default limit of 100 connections.
	maxConns = 8
	// maxBatch bounds the calls that share a statement. Fewer calls than that wait at any time. So if the database hangs, no
	// call waits for more than the running group and the next one.
	maxBatch = 4096
	// maxChanges bounds the changes of one transaction, which must end before the timeout.
	maxChanges = 1024
	// laneCount is how many groups of pages are read at once, so that the database can use several processors.
	laneCount = 4
)

// session returns the settings of every connection, unless the URL sets others.
func session(t timeouts) map[string]string {
	return map[string]string{
		"application_name":  "petstore",
		"statement_timeout": fmt.Sprintf("%dms", t.statement.Milliseconds()),
		// If this process vanishes in the middle of a transaction, the server releases the locks.
		"idle_in_transaction_session_timeout": "10s",
		// Each statement of a group of changes sees what others have committed meanwhile.
		"default_transaction_isolation": "read committed",
		// Every query walks an index to a few rows. It is planned once, without arguments, so that stale or missing statistics
		// cannot lead to a bad plan.
		"plan_cache_mode": "force_generic_plan",
		"enable_seqscan":  "off",
		"enable_sort":     "off",
		"jit":             "off",
	}
}

// Open connects to the database and makes sure that it has the schema of this program. If Open refuses the database, it
// changes nothing, and the error says what to do.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	config, err := poolConfig(cfg)
	if err != nil {
		return nil, err
	}
	cluster, err := joinCluster(ctx, config, cfg.Replaced)
	if err != nil {
		return nil, refusal(config.ConnConfig, err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		cluster.close()
		return nil, err
	}
	if err := migrate(ctx, pool, cfg); err != nil {
		pool.Close()
		cluster.close()
		return nil, refusal(config.ConnConfig, err)
	}
	cluster.watch()
	db := &DB{pool: pool, cluster: cluster, timeouts: cfg.timeouts(), batched: cfg.Batched, watch: cfg.Watch}
	db.creates = batch.NewWriter(maxBatch, db.createBatch)
	db.changes = batch.NewWriter(maxChanges, db.changeBatch)
	db.gets = batch.NewWriter(maxBatch, db.getBatch)
	db.pages = batch.NewShared(db.listPage)
	for i := range db.lanes {
		db.lanes[i] = batch.NewWriter(maxBatch, db.listBatch)
	}
	db.recent = newRecent(db)
	db.wordsVersion = petstore.WordsVersion
	db.searches = make(chan struct{}, max(1, config.MaxConns/2))
	db.inventories = batch.NewShared(db.sumInventory)
	db.expiries = batch.NewWriter(maxChanges, db.expireBatch)
	db.numbering = batch.NewShared(db.numberAll)
	db.feedStates = batch.NewShared(db.readFeedState)
	running, stop := context.WithCancel(context.Background())
	db.counterMaker = batch.NewGrouped(func(struct{}, int) (none struct{}, err error) { return none, db.createCounter(running) })
	db.stop = stop
	return db, nil
}

// CheckURL says what is wrong with a URL. It does not connect to it.
func CheckURL(url string) error {
	_, err := poolConfig(Config{URL: url})
	return err
}

func poolConfig(cfg Config) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		// The cause would show parts of the URL, and perhaps of the password.
		return nil, errors.New("the database URL cannot be read; write it as postgres://user:password@host:port/name?sslmode=require, with special characters in the password percent-encoded")
	}
	conn, t := config.ConnConfig, cfg.timeouts()
	if !strings.Contains(cfg.URL, "pool_max_conns=") {
		config.MaxConns = maxConns
	}
	conn.ConnectTimeout = cmp.Or(conn.ConnectTimeout, t.connect)
	// Whatever the URL says, petstore needs the primary, because it writes, and reads what was just written.
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

// SharedReads returns how many lists and inventories have shared the query of another call so far.
func (db *DB) SharedReads() int64 {
	return db.pages.Joined() + db.recent.queries.Joined() + db.inventories.Joined()
}

// selectSchema returns the PostgreSQL schema in which the search path finds the tables.
const selectSchema = "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'pets'::regclass"

// Place returns where the store is, such as host:5432/name, without user and password. The result is the same whether the
// URL, its query or variables such as PGHOST name the place.
func (db *DB) Place(ctx context.Context) (string, error) {
	var schema string
	err := db.read(ctx, func(ctx context.Context) error { return db.pool.QueryRow(ctx, selectSchema).Scan(&schema) })
	config := db.pool.Config().ConnConfig
	place := strings.Join(hosts(config), ",") + "/" + cmp.Or(config.Database, config.User) // by default PostgreSQL uses the user's name
	if schema != "public" {
		place += "?schema=" + schema
	}
	return place, err
}

// Ping checks that the primary answers.
func (db *DB) Ping(ctx context.Context) error {
	return db.read(ctx, func(ctx context.Context) error { return db.pool.Ping(ctx) })
}

// Close finishes the accepted changes and closes the connections. If the server hangs, Close does not wait for the
// connections to close, which would take the driver 15 s. Closing again does nothing.
func (db *DB) Close() error {
	db.stop()
	db.creates.Close()
	db.changes.Close()
	db.gets.Close()
	db.expiries.Close()
	for _, lane := range db.lanes {
		lane.Close()
	}
	db.cluster.close()
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
