package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// cluster watches the hosts of a URL that names several. The hosts are a primary and its standbys. A promotion begins a new
// timeline, so of two hosts that both say that they are the primary, the one with the higher timeline is right. The other one
// was deposed and does not know it yet: it still answers, without the changes since.
type cluster struct {
	members  []*member
	replaced func(problem error)
	stop     context.CancelFunc
	looks    sync.WaitGroup
	// newest is the highest timeline on which a primary was seen. It never falls, because a deposed primary may outlive the
	// one that replaced it.
	newest atomic.Uint32

	mu     sync.Mutex
	system string                    // the identifier of the cluster, which all its hosts share
	conns  map[*pgconn.PgConn]uint32 // the connections of the pool, each with the timeline of its primary
}

// member is a host of the cluster.
type member struct {
	address string
	config  *pgconn.Config
	conn    *pgconn.PgConn // of the goroutine that looks at this host
	standing
	err error // why the last look at this host failed
}

// standing is what a host says about itself.
type standing struct {
	system   string
	timeline uint32 // 0 if the host is not a primary
}

// selectStanding needs no rights, and holds right after a promotion: pg_control_checkpoint has the new timeline only after
// the next checkpoint.
const selectStanding = `
	SELECT system_identifier,
		CASE WHEN current_setting('transaction_read_only') = 'off' THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END
	FROM pg_control_system()`

// timelineKey is where a connection keeps the timeline of its primary.
const timelineKey = "petstore.timeline"

const (
	// lookEvery and lookTimeout bound how long a deposed primary goes unnoticed.
	lookEvery   = 500 * time.Millisecond
	lookTimeout = time.Second
)

// joinCluster looks at each host that the URL names, and makes the pool of config use the primary. It refuses hosts of
// different clusters. If the URL names a single host, joinCluster does nothing and returns nil.
func joinCluster(ctx context.Context, config *pgxpool.Config, replaced func(problem error)) (*cluster, error) {
	c := &cluster{members: members(config.ConnConfig), replaced: replaced, conns: make(map[*pgconn.PgConn]uint32)}
	if len(c.members) < 2 {
		return nil, nil
	}
	var all sync.WaitGroup
	for _, m := range c.members {
		all.Go(func() { c.look(ctx, m) })
	}
	all.Wait()
	for _, m := range c.members {
		if m.err == nil && m.system != c.system {
			c.close()
			return nil, unusable("has hosts that are not of one PostgreSQL cluster; name a primary and its standbys in --database")
		}
	}
	config.ConnConfig.ValidateConnect = c.check
	config.BeforeConnect = func(_ context.Context, conn *pgx.ConnConfig) error {
		c.order(conn)
		return nil
	}
	prepare := config.PrepareConn
	// A primary may be replaced after the check of a connection to it and before rise knows the connection.
	config.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
		if conn.PgConn().CustomData()[timelineKey] != c.newest.Load() {
			return false, nil
		}
		return prepare(ctx, conn)
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		c.enter(conn.PgConn())
		return nil
	}
	config.BeforeClose = func(conn *pgx.Conn) { c.leave(conn.PgConn()) }
	return c, nil
}

// members returns the hosts that a URL names. The driver lists a host twice if TLS is optional.
func members(config *pgx.ConnConfig) (all []*member) {
	ways := append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}}, config.Fallbacks...)
	for _, way := range ways {
		address := net.JoinHostPort(way.Host, strconv.Itoa(int(way.Port)))
		i := slices.IndexFunc(all, func(m *member) bool { return m.address == address })
		if i >= 0 {
			all[i].config.Fallbacks = append(all[i].config.Fallbacks, way)
			continue
		}
		own := config.Config.Copy()
		own.Host, own.Port, own.TLSConfig, own.Fallbacks, own.ValidateConnect = way.Host, way.Port, way.TLSConfig, nil, nil
		all = append(all, &member{address: address, config: own})
	}
	return all
}

// watch looks at every host until close.
func (c *cluster) watch() {
	if c == nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	for _, m := range c.members {
		c.looks.Go(func() {
			tick := time.NewTicker(lookEvery)
			defer tick.Stop()
			for ctx.Err() == nil {
				c.look(ctx, m)
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
			}
		})
	}
}

// close ends the watch and its connections.
func (c *cluster) close() {
	if c == nil {
		return
	}
	if c.stop != nil {
		c.stop()
		c.looks.Wait()
	}
	for _, m := range c.members {
		if m.conn != nil {
			abandon(m.conn)
		}
	}
}

// look asks a host about itself, on a connection that it keeps.
func (c *cluster) look(ctx context.Context, m *member) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if m.conn == nil || m.conn.IsClosed() {
		conn, err := pgconn.ConnectConfig(ctx, m.config)
		if err != nil {
			c.note(m, standing{}, err)
			return
		}
		m.conn = conn
	}
	s, err := ask(ctx, m.conn)
	c.note(m, s, err)
}

func ask(ctx context.Context, conn *pgconn.PgConn) (s standing, err error) {
	results, err := conn.Exec(ctx, selectStanding).ReadAll()
	if err != nil {
		return s, err
	}
	row := results[0].Rows[0]
	s.system = string(row[0])
	if row[1] != nil {
		timeline, err := strconv.ParseUint(string(row[1]), 16, 32)
		if err != nil {
			return s, err
		}
		s.timeline = uint32(timeline)
	}
	return s, nil
}

// note keeps what a look at a host showed. It reports a primary that it sees for the first time since another one has
// replaced it.
func (c *cluster) note(m *member, s standing, err error) {
	c.mu.Lock()
	before := c.deposed()
	m.standing, m.err = s, err
	if err == nil {
		c.system = cmp.Or(c.system, s.system)
	}
	c.rise(s)
	var problems []error
	for _, other := range c.deposed() {
		if !slices.Contains(before, other) {
			problems = append(problems, fmt.Errorf("the PostgreSQL at %s is still the primary of timeline %d, but timeline %d has another primary; stop it", other.address, other.timeline, c.newest.Load()))
		}
	}
	c.mu.Unlock()
	for _, problem := range problems {
		if c.replaced != nil {
			c.replaced(problem)
		}
	}
}

// rise closes all connections to primaries that the primary of a new timeline has replaced, also those in use.
func (c *cluster) rise(s standing) {
	if s.system != c.system || s.timeline <= c.newest.Load() {
		return
	}
	c.newest.Store(s.timeline)
	for conn, timeline := range c.conns {
		if timeline < s.timeline {
			abandon(conn)
		}
	}
}

// abandon closes a connection without waiting for the server. A call that uses the connection fails.
func abandon(conn *pgconn.PgConn) {
	network := conn.Conn()
	if encrypted, ok := network.(*tls.Conn); ok {
		network = encrypted.NetConn()
	}
	network.Close()
}

func (c *cluster) deposed() (all []*member) {
	for _, m := range c.members {
		if m.system == c.system && 0 < m.timeline && m.timeline < c.newest.Load() {
			all = append(all, m)
		}
	}
	return all
}

// check refuses a new connection unless it leads to the current primary.
func (c *cluster) check(ctx context.Context, conn *pgconn.PgConn) error {
	s, err := ask(ctx, conn)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.rise(s)
	newest, system := c.newest.Load(), c.system
	c.mu.Unlock()
	switch {
	case s.system != system:
		return fmt.Errorf("it belongs to another PostgreSQL cluster than the hosts that answered first (its system identifier is %s, theirs is %s); if that is right, restart petstore", s.system, system)
	case s.timeline == 0:
		return pgconn.ErrReadOnlyConnection
	case s.timeline < newest:
		return fmt.Errorf("it was the primary of timeline %d, which the primary of timeline %d has replaced", s.timeline, newest)
	}
	conn.CustomData()[timelineKey] = s.timeline
	return nil
}

// enter adds a connection of the pool to those that rise may close.
func (c *cluster) enter(conn *pgconn.PgConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns[conn] = conn.CustomData()[timelineKey].(uint32)
}

func (c *cluster) leave(conn *pgconn.PgConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, conn)
}

// order makes the driver try the primary first and then the hosts that do not answer. Hosts that would refuse the
// connection come last, because the driver tries no further host after some refusals, such as a database that does not
// exist on a standby yet.
func (c *cluster) order(config *pgx.ConnConfig) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rank := func(m *member) int {
		switch {
		case m.err != nil && sqlState(m.err) == "":
			return 1
		case m.err == nil && m.system == c.system && m.timeline == c.newest.Load() && m.timeline > 0:
			return 0
		}
		return 2
	}
	sorted := slices.SortedStableFunc(slices.Values(c.members), func(a, b *member) int { return rank(a) - rank(b) })
	var ways []*pgconn.FallbackConfig
	for _, m := range sorted {
		ways = append(ways, &pgconn.FallbackConfig{Host: m.config.Host, Port: m.config.Port, TLSConfig: m.config.TLSConfig})
		ways = append(ways, m.config.Fallbacks...)
	}
	config.Host, config.Port, config.TLSConfig, config.Fallbacks = ways[0].Host, ways[0].Port, ways[0].TLSConfig, ways[1:]
}
