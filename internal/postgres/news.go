package postgres

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petcache"
	"petstore/internal/petstore"
)

// News are the changes of animals between two snapshots of the primary. They come from slips and events (see numbering.go):
// the transaction that changes an animal leaves a slip, so whoever sees the change sees its slip or its event.
//
// The last record about an animal is its newest change, because slips and events have the order of the changes:
//
//   - Say that two transactions changed the same animal. The second one waited for the lock on the row, which the first one
//     held until its end. The trigger takes the id of the slip after its statement has locked the row. So all slips of the
//     first transaction have lower ids than the slip of the second one's change.
//   - Within a transaction, later statements leave slips with higher ids. One statement changes an animal at most once.
//   - Numbering keeps that order: transactions are numbered in the order of their last slips, and the statements of one
//     transaction in the order of their ids. Whoever numbers the second transaction sees the slips of the first one. A round of
//     numbering takes the oldest slips, so a slip of the second transaction is never numbered before one of the first.
//   - So an event of an animal is older than any slip of the animal that has no number in the same snapshot.
//
// As long as nobody has numbered since the snapshot before, the news are the slips that this snapshot did not see. Their
// transactions ended later, so none of their changes is older than one that was seen before. Once somebody has numbered, the
// news are all later events and, in the same snapshot, all slips without a number. Some of them were news before. That does
// no harm, because the newest change of each of their animals is among them.
const (
	newsHeader = `
		SELECT concat(extract(epoch FROM pg_postmaster_start_time()), ' ', (SELECT extract(epoch FROM stats_reset) FROM pg_stat_get_archiver())),
			left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), name, trimmed, last, bytes,
			pg_current_snapshot()::text, age(pg_snapshot_xmax(pg_current_snapshot())::xid), `

	// The slips above the id $1 that the snapshot $2 did not see, at most $3.
	selectNews = newsHeader + `false, slip.id, slip.record
		FROM feed LEFT JOIN event_slips AS slip ON slip.id > $1 AND NOT pg_visible_in_snapshot(slip.xid, $2::text::pg_snapshot)
		LIMIT $3`

	// The events after $1 if they have at most $4 bytes more than $2, and all slips, at most $3.
	selectAllNews = newsHeader + `numbered, position, record
		FROM feed LEFT JOIN LATERAL (
			SELECT true AS numbered, first AS position, record FROM events WHERE first > $1 AND bytes - $2 <= $4
			UNION ALL
			(SELECT false, id, record FROM event_slips LIMIT $3)
		) AS news ON true`

	beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
)

const (
	// maxNews and maxNewsBytes bound the news of one query. It is cheaper to read animals again than to follow more changes.
	maxNews      = 1000
	maxNewsBytes = 4 << 20
)

// history names the history of which a server shows a moment. A server that crashed, or was restarted, restored or promoted,
// may lack what it or another one has shown.
type history struct {
	// started says when the server started, and when it last reset its statistics, which it does when it recovers from a crash.
	// A crash of one process need not end the server, but loses commits that did not wait for the disk.
	started  string
	timeline string
	feed     string
}

// place is a snapshot whose changes are known. The zero value means that none is known.
type place struct {
	history
	last, bytes int64 // the end of the feed
	snapshot    string
	// Every slip with an id up to floor was seen, or will never be seen, because its transaction failed. Queries begin above it,
	// so that they do not look at all slips that were ever numbered.
	floor int64
	// newest is the highest id of a slip that was seen.
	newest int64
	// candidate was newest at an earlier place, and above is an id above those of all transactions at that time. When they have
	// ended, candidate becomes the floor.
	candidate int64
	above     uint64
}

func (p place) known() bool { return p.snapshot != "" }

// news are the place that they lead to, and the records on the way.
type news struct {
	place
	trimmed int64
	oldest  uint64 // no transaction before this id is running
	records []newsRecord
	tooMany bool
}

type newsRecord struct {
	numbered bool
	position int64
	text     string
}

// readNews reads what is new since a place. If it is given a block to read, it also returns the animals of the block, in the
// same snapshot.
func (r *recent) readNews(block *petstore.PetQuery) (n news, older []petstore.Pet, err error) {
	err = r.db.read(context.Background(), func(ctx context.Context) error {
		n, older, err = r.queryNews(ctx, block)
		return err
	})
	return n, older, err
}

func (r *recent) queryNews(ctx context.Context, block *petstore.PetQuery) (n news, older []petstore.Pet, err error) {
	floor, snapshot := r.place.floor, r.place.snapshot
	if !r.place.known() { // then no slip is news
		floor, snapshot = math.MaxInt64, "1:1:"
	}
	if block == nil {
		n, err = collectNews(r.db.pool.Query(ctx, selectNews, floor, snapshot, maxNews))
		return n, nil, err
	}
	batch := &pgx.Batch{}
	batch.Queue(beginSnapshot)
	batch.Queue(selectNews, floor, snapshot, maxNews).Query(func(rows pgx.Rows) (err error) {
		n, err = collectNews(rows, nil)
		return err
	})
	sql, args := pageQuery(*block)
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		older, err = collectPets(rows)
		return err
	})
	batch.Queue("COMMIT")
	err = r.db.pool.SendBatch(ctx, batch).Close()
	return n, older, err
}

// readAllNews reads what is new since a place after which somebody has numbered.
func (r *recent) readAllNews() (n news, err error) {
	p := r.place
	err = r.db.read(context.Background(), func(ctx context.Context) error {
		n, err = collectNews(r.db.pool.Query(ctx, selectAllNews, p.last, p.bytes, maxNews, maxNewsBytes))
		return err
	})
	n.tooMany = n.tooMany || n.bytes-p.bytes > maxNewsBytes
	return n, err
}

func collectNews(rows pgx.Rows, err error) (n news, _ error) {
	if err != nil {
		return n, err
	}
	defer rows.Close()
	slips, bytes := 0, 0
	var ahead int32 // how many transactions have begun after the newest one that has ended
	for rows.Next() {
		var position *int64
		var text *string
		var r newsRecord
		err := rows.Scan(&n.started, &n.timeline, &n.feed, &n.trimmed, &n.last, &n.bytes, &n.snapshot, &ahead, &r.numbered, &position, &text)
		if err != nil {
			return n, err
		}
		if position == nil {
			continue
		}
		r.position, r.text = *position, *text
		if !r.numbered {
			slips++
			n.newest = max(n.newest, r.position)
		}
		if bytes += len(r.text); bytes > 2*maxNewsBytes || slips == maxNews {
			n.tooMany, n.records = true, nil
			continue
		}
		n.records = append(n.records, r)
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	n.oldest, n.above, err = snapshotBounds(n.snapshot)
	n.above += uint64(max(0, ahead))
	return n, err
}

// snapshotBounds returns xmin and xmax of a snapshot in the form that PostgreSQL prints.
func snapshotBounds(snapshot string) (xmin, xmax uint64, err error) {
	parts := strings.SplitN(snapshot, ":", 3)
	if xmin, err = strconv.ParseUint(parts[0], 10, 64); err != nil {
		return 0, 0, err
	}
	xmax, err = strconv.ParseUint(parts[1], 10, 64)
	return xmin, xmax, err
}

// since returns the place of the news, after the place p.
func (n news) since(p place) place {
	next := n.place
	next.floor, next.candidate, next.newest = p.floor, p.candidate, max(p.newest, n.newest)
	if n.oldest < p.above {
		next.above = p.above
		return next
	}
	// All transactions that had taken an id up to the old candidate have ended.
	next.floor, next.candidate = p.candidate, next.newest
	return next
}

// continues reports whether the news lead on from the place p.
func (n news) continues(p place) bool {
	return n.history == p.history && n.last >= p.last && n.trimmed <= p.last
}

// changes returns the newest change of each animal, by id.
func (n news) changes() ([]petcache.Change, error) {
	slices.SortFunc(n.records, func(a, b newsRecord) int {
		if a.numbered != b.numbered {
			return map[bool]int{true: -1, false: 1}[a.numbered]
		}
		return cmp.Compare(a.position, b.position)
	})
	newest := make(map[int64]petcache.Change)
	for _, r := range n.records {
		events, err := petstore.ReadEventRecord(r.text, 0, time.Time{})
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			if e.Pet != nil {
				newest[e.PetID()] = petcache.Change{Pet: e.Pet.Now, Deleted: e.Type == petstore.PetDeleted}
			}
		}
	}
	changes := make([]petcache.Change, 0, len(newest))
	for _, id := range slices.Sorted(maps.Keys(newest)) {
		changes = append(changes, newest[id])
	}
	return changes, nil
}
