package ratelimit

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"petstore/internal/batch"
	"petstore/internal/petstore"
)

//go:embed take.lua
var takeScript string

var takeLua = rueidis.NewLuaScript(takeScript)

// Redis is a Limiter that counts in Redis or Valkey, by the clock of that server. Its counts are exact for any number of
// replicas. A decision takes one round trip. Equal requests that wait at the same time share it.
type Redis struct {
	client rueidis.Client
	prefix string
	clock  func() time.Time            // nil for the clock of Redis
	local  func() time.Time            // the clock of this process
	known  func(*petstore.Ask) counter // the counter as this process knows it; nil if this process keeps none
	asks   *batch.Grouped[petstore.Ask, state]
}

var _ petstore.Limiter = (*Redis)(nil)

// NewRedis connects to the server, the Sentinels or the Cluster at url. Several environments may share it.
func NewRedis(url string, env petstore.Environment) (*Redis, error) {
	option, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	return connect(option, env)
}

func connect(option rueidis.ClientOption, env petstore.Environment) (*Redis, error) {
	client, err := rueidis.NewClient(option)
	if err != nil {
		if client != nil {
			client.Close()
		}
		return nil, fmt.Errorf("Redis at %v cannot be reached: %w", option.InitAddress, err)
	}
	r := &Redis{client: client, prefix: "petstore:" + string(env) + ":", local: time.Now}
	r.asks = batch.NewGrouped(r.decide)
	return r, nil
}

// CheckURL returns an error if a Redis URL cannot be used. It does not connect.
func CheckURL(url string) error {
	_, err := parseURL(url)
	return err
}

func parseURL(text string) (rueidis.ClientOption, error) {
	option, err := rueidis.ParseURL(text)
	if err != nil {
		// The cause would reveal parts of the URL, and so of the password.
		return option, errors.New("the Redis URL cannot be used; write it as redis://user:password@host:6379/0, with special characters in the password percent-encoded, with ?addr=host:port for each further node of a Cluster, or ?master_set=name for Sentinels")
	}
	option.DisableCache = true // the client cannot cache what the script reads
	// With pipelining, a request that gives up does not close the connection, which others use too, and a lost connection
	// is noticed before the next request needs it.
	option.AlwaysPipelining = true
	option.Dialer.Timeout = cmp.Or(option.Dialer.Timeout, time.Second)
	option.ConnWriteTimeout = cmp.Or(option.ConnWriteTimeout, time.Second)
	option.Sentinel.Dialer = option.Dialer
	option.Sentinel.TLSConfig = option.TLSConfig
	option.Sentinel.TopologyRefreshInterval = 5 * time.Second
	return option, nil
}

// Take implements petstore.Limiter. It fails if Redis does not answer before ctx ends. Redis may then have counted the
// request all the same.
func (r *Redis) Take(ctx context.Context, ask petstore.Ask) (petstore.Decision, error) {
	a, err := r.await(ctx, ask, r.begin(ask))
	return a.decision, err
}

// GiveBack implements petstore.Limiter. It fails if Redis does not answer before ctx ends.
func (r *Redis) GiveBack(ctx context.Context, ask petstore.Ask, taken petstore.Decision) error {
	_, err := r.giveBack(ctx, ask, taken)
	return err
}

// giveBack gives a request back and returns the counter after it.
func (r *Redis) giveBack(ctx context.Context, ask petstore.Ask, taken petstore.Decision) (state, error) {
	minute := minuteOf(taken)
	found, err := r.runScript(ctx, r.key(ask.Subject), &ask, -1, minute)
	if err != nil {
		return state{}, fmt.Errorf("Redis did not take a request back: %w", err)
	}
	found.counter.giveBack(minute)
	return found, nil
}

// answer is a decision of Redis and the counter after it.
type answer struct {
	decision petstore.Decision
	counter  counter
	came     time.Time // when it arrived, by the clock of this process
}

// begin asks Redis for a decision, together with equal requests that arrive at the same time.
func (r *Redis) begin(ask petstore.Ask) batch.Begun[state] { return r.asks.Begin(ask) }

// await waits for the answer to a request that begin started.
func (r *Redis) await(ctx context.Context, ask petstore.Ask, begun batch.Begun[state]) (answer, error) {
	found, place, err := begun.Wait(ctx)
	if err != nil {
		return answer{}, fmt.Errorf("Redis did not decide: %w", err)
	}
	if found.sharedEnd > 0 {
		ask.BannedFrom, ask.BannedUntil = time.Time{}, time.UnixMilli(found.sharedEnd)
	}
	c := found.counter.after(int64(place), &ask, found.now)
	decision := c.take(&ask, found.now)
	return answer{decision, c, found.came}, nil
}

// state is what Redis answers: a counter just before Redis decided about a group of requests.
type state struct {
	now       int64 // the time of the decision, by the clock of Redis
	counter   counter
	sharedEnd int64     // the end of a ban that another replica has shared, or 0
	came      time.Time // when the answer arrived, by the clock of this process
}

// groupTimeout ends a decision for which nobody waits any longer.
const groupTimeout = 2 * time.Second

func (r *Redis) decide(ask petstore.Ask, n int) (state, error) {
	ctx, cancel := context.WithTimeout(context.Background(), groupTimeout)
	defer cancel()
	if ask.Peek {
		n = 0
	}
	return r.runScript(ctx, r.key(ask.Subject), &ask, n, 0)
}

// runScript counts n requests and returns the counter before them. If n is negative, it gives requests back that were
// counted in that minute. Redis may have lost counts that it returned earlier, so the script first merges the counts that
// this process knows into the counter in Redis.
func (r *Redis) runScript(ctx context.Context, key string, ask *petstore.Ask, n int, minute int64) (state, error) {
	var known counter
	if r.known != nil {
		known = r.known(ask)
	}
	now := ""
	if r.clock != nil {
		now = decimal(r.clock().UnixMilli())
	}
	args := []string{
		decimal(ask.Limits.PerMinute), decimal(ask.Limits.PerDay), decimal(banStart(ask)), decimal(banEnd(ask)), strconv.Itoa(n), now,
		decimal(known.minute), decimal(known.passed), decimal(known.rejected), decimal(known.today), decimal(known.returned),
	}
	if ask.ShareBan > 0 || n < 0 {
		args = append(args, decimal(ask.ShareBan.Milliseconds()), decimal(minute))
	}
	reply, err := takeLua.Exec(ctx, r.client, []string{key}, args).AsIntSlice()
	if err == nil && len(reply) != 7 {
		err = fmt.Errorf("%d numbers instead of 7", len(reply))
	}
	if err != nil {
		return state{}, err
	}
	c := counter{minute: reply[1], passed: reply[2], rejected: reply[3], today: reply[4], returned: reply[5]}
	return state{reply[0], c, reply[6], r.local()}, nil
}

// probe lets Redis make a decision that affects nobody, on the node that decides about the subject.
func (r *Redis) probe(ctx context.Context, subject string) error {
	_, err := r.runScript(ctx, r.key(subject)+":probe", &petstore.Ask{Limits: petstore.Limits{PerMinute: petstore.MaxLimit}}, 1, 0)
	return err
}

// Try lets Redis make a decision that affects nobody.
func (r *Redis) Try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, groupTimeout)
	defer cancel()
	return r.probe(ctx, "try")
}

// key puts all keys of a subject into one hash slot.
func (r *Redis) key(subject string) string { return r.prefix + "{" + subject + "}" }

// Close ends the connections.
func (r *Redis) Close() { r.client.Close() }

// isReplica reports whether Redis refused to decide because it follows another server, and not for a reason that passes by
// itself, such as LOADING. The first word of an error that Redis sends is its code.
func isReplica(err error) bool {
	refusal, ok := errors.AsType[*rueidis.RedisError](err)
	if !ok {
		return false
	}
	code, _, _ := strings.Cut(refusal.Error(), " ")
	return code == "READONLY" || code == "MASTERDOWN"
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
