package postgres

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

const (
	// All statements of a search see the same animals, marks and words.
	beginSearch = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"

	// foundColumns is what a search needs to know of an animal. The breed comes from a subquery, which unlike a join cannot
	// change how the planner finds the animals.
	foundColumns = "id, name, category_id, status, coalesce((SELECT breed FROM profiles WHERE pet_id = pets.id), '')"

	walkPets         = "SELECT " + foundColumns + " FROM pets WHERE id < $1 ORDER BY id DESC LIMIT $2"
	walkPetsOfStatus = "SELECT " + foundColumns + " FROM pets WHERE (status, id) < ($3, $1) AND status >= $3 ORDER BY status DESC, id DESC LIMIT $2"
	findPet          = "SELECT " + foundColumns + " FROM pets WHERE id = $1"

	selectMarks = "SELECT DISTINCT block FROM marked_blocks WHERE block <= $1 ORDER BY block DESC LIMIT $2"

	// The statement walks through the newest blocks and finds those that match. If few do, it looks up the older ones. A GIN
	// index has no order, so it takes long to look up words that many blocks have.
	findBlocks = `
		WITH newest AS MATERIALIZED (
			SELECT block, words @@ $1::tsquery AS matches FROM block_words WHERE block >= $2 AND block <= $3 ORDER BY block DESC LIMIT $4
		), walked AS MATERIALIZED (
			SELECT coalesce(array_agg(block) FILTER (WHERE matches), '{}') AS matching, coalesce(min(block), 0) AS last,
				count(*) < $4 AS complete, count(*) = $4 AND count(*) FILTER (WHERE matches) * 64 < $4 AS sparse
			FROM newest
		)
		SELECT matching, last, complete, sparse, ARRAY(
			SELECT block FROM block_words
			WHERE (SELECT sparse FROM walked) AND words @@ $1::tsquery AND block + 0 >= $2 AND block + 0 < (SELECT last FROM walked)
			ORDER BY block + 0 DESC LIMIT $5)
		FROM walked`
)

const (
	// firstLook is how many of the newest animals, and then of the newest blocks, a search looks at first.
	firstLook = 64
	// maxBlocks is how many blocks a search walks through at once.
	maxBlocks = 1 << 18
	// maxLookUp is how many blocks a search looks up at once.
	maxLookUp = 4096
	// maxWalk is how many animals a search reads at once.
	maxWalk = 1 << 16
	// maxMarks is how many marked blocks a search reads. It treats the blocks before them as blocks without words.
	maxMarks = 20_000
)

// queryCanceled is the SQLSTATE of a statement that took longer than its timeout.
const queryCanceled = "57014"

var errSearchesBusy = errors.New("other searches use all connections for searches")

// searchPage returns a page for a query that is not plain. If many animals match, the newest animals fill the page.
func (db *DB) searchPage(q petstore.PetQuery) ([]petstore.Pet, error) {
	end := time.Now().Add(petstore.SearchTimeout)
	s := newSearch(q, end)
	most := max(q.Limit, firstLook)
	sql, args := walkQuery(q.Status, s.before, most)
	if q.ID != 0 {
		sql, args = findPet, []any{q.ID}
	}
	var newest []foundPet
	err := db.read(context.Background(), func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, sql, args...)
		if err == nil {
			newest, err = collectFound(rows)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.filter(newest); s.full() || len(newest) < most {
		return s.found, nil
	}
	return db.searchBlocks(q, end)
}

// walkQuery returns the query for the newest animals of a status before an id.
func walkQuery(status petstore.Status, before int64, most int) (sql string, args []any) {
	if status == petstore.AnyStatus {
		return walkPets, []any{before, most}
	}
	return walkPetsOfStatus, []any{before, most, int16(status)}
}

// foundPet is an animal with its breed, by which it is found too.
type foundPet struct {
	petstore.Pet
	breed string
}

func collectFound(rows pgx.Rows) ([]foundPet, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (pet foundPet, err error) {
		var status int16
		err = row.Scan(&pet.ID, &pet.Name, &pet.CategoryID, &status, &pet.breed)
		pet.Status = petstore.Status(status)
		return pet, err
	})
}

// searchBlocks is searchPage for any words. It needs a connection until it ends. Searches get only a part of the pool,
// because some of them take long.
func (db *DB) searchBlocks(q petstore.PetQuery, end time.Time) ([]petstore.Pet, error) {
	timeout := time.NewTimer(time.Until(end))
	defer timeout.Stop()
	select {
	case db.searches <- struct{}{}:
		defer func() { <-db.searches }()
	case <-timeout.C:
		return nil, petstore.NotDone(errSearchesBusy)
	}
	var found []petstore.Pet
	err := db.read(context.Background(), func(ctx context.Context) error {
		conn, err := db.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		s := newSearch(q, end)
		s.conn, s.version = conn, db.wordsVersion
		err = cmp.Or(s.run(ctx), s.rollback(ctx))
		found = s.found
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// search finds a page of animals, newest first.
type search struct {
	q     petstore.PetQuery // without the words
	words []string
	// query has the words and the category in PostgreSQL's syntax.
	query string
	found []petstore.Pet
	// before is where the search goes on: all animals that match and have this id or a higher one are found. If it is 0,
	// all are found.
	before int64

	conn *pgxpool.Conn
	// version is the version of this program's rules for words.
	version int
	begun   bool
	end     time.Time
	// from is the first block that has words, unless it is marked.
	from int64
	// marked has the marked blocks.
	marked []int64
}

func newSearch(q petstore.PetQuery, end time.Time) *search {
	s := &search{q: q, words: petstore.Words(q.Search), before: cmp.Or(q.Before, math.MaxInt64), end: end}
	s.q.Search = ""
	slices.Sort(s.words)
	s.words = slices.Compact(s.words)
	var terms []string
	for _, word := range s.words {
		terms = append(terms, quoteWord(word)+":*")
	}
	if q.OfCategory {
		terms = append(terms, quoteWord(categoryWord(q.Category)))
	}
	s.query = strings.Join(terms, " & ")
	return s
}

// quoteWord quotes a word for a tsquery.
func quoteWord(word string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(word) + "'"
}

func (s *search) full() bool { return len(s.found) == s.q.Limit }

func (s *search) done() bool { return s.full() || s.before == 0 }

// block returns the block in which the search goes on.
func (s *search) block() int64 { return (s.before - 1) / blockSize }

// filter adds the animals that match. They are ordered. Those that the search has looked at before are left out.
func (s *search) filter(pets []foundPet) {
	for _, pet := range pets {
		if s.full() {
			return
		}
		if pet.ID < s.before && s.q.Selects(pet.Pet) && (len(s.words) == 0 || petstore.FoundBy(petstore.WordsOfPet(pet.Name, pet.breed), s.words)) {
			s.found = append(s.found, pet.Pet)
		}
	}
}

// run looks at more and more animals until the page is full: at the blocks that match, and one by one at the animals of a
// status, which may be rare, and at those in blocks without words.
func (s *search) run(ctx context.Context) error {
	for n := firstLook; !s.done(); n = min(n*8, maxBlocks) {
		if s.block() >= s.from {
			if err := s.findBlocks(ctx, n); err != nil || s.done() {
				return err
			}
		}
		if s.block() < s.from || s.q.Status != petstore.AnyStatus {
			if err := s.walk(ctx, min(n*blockSize/4, maxWalk)); err != nil {
				return err
			}
		}
	}
	return nil
}

// findBlocks reads the animals of the blocks that match, among the n newest blocks or among all if few match. The first time,
// it also reads what the index lacks.
func (s *search) findBlocks(ctx context.Context, n int) error {
	batch := &pgx.Batch{}
	stored := s.version
	if !s.begun {
		batch.Queue(selectIndex).QueryRow(func(row pgx.Row) error { return row.Scan(&stored, &s.from) })
		batch.Queue(selectMarks, s.block(), maxMarks).Query(func(rows pgx.Rows) (err error) {
			s.marked, err = pgx.CollectRows(rows, pgx.RowTo[int64])
			return err
		})
	}
	var matching, older []int64
	var last int64
	var complete, looksUp bool
	batch.Queue(findBlocks, s.query, s.from, s.block(), n, maxLookUp).QueryRow(func(row pgx.Row) error {
		return row.Scan(&matching, &last, &complete, &looksUp, &older)
	})
	if err := s.send(ctx, batch); err != nil {
		return err
	}
	if stored != s.version {
		s.from = noBlock
		return nil
	}
	if len(s.marked) == maxMarks {
		s.from = max(s.from, s.marked[maxMarks-1])
	}
	switch {
	case complete, looksUp && len(older) < maxLookUp:
		last = 0
	case looksUp:
		last = older[maxLookUp-1]
	}
	return s.readBlocks(ctx, append(matching, older...), max(last, s.from))
}

// readBlocks reads the animals of the matching and the marked blocks, down to the last block that was looked at.
func (s *search) readBlocks(ctx context.Context, blocks []int64, last int64) error {
	blocks = append(blocks, s.marked...)
	blocks = slices.DeleteFunc(blocks, func(block int64) bool { return block < last || block > s.block() })
	slices.Sort(blocks)
	blocks = slices.Compact(blocks)
	for n := 4; len(blocks) > 0; n = min(n*4, maxWalk/blockSize) {
		some := blocks[max(0, len(blocks)-n):]
		blocks = blocks[:len(blocks)-len(some)]
		pets, err := s.readPets(ctx, selectBlocks, some, int16(s.q.Status), s.q.OfCategory, s.q.Category)
		if err != nil {
			return err
		}
		slices.SortFunc(pets, func(a, b foundPet) int { return cmp.Compare(b.ID, a.ID) })
		if s.filter(pets); s.full() {
			return nil
		}
	}
	s.before = min(s.before, last*blockSize)
	return nil
}

// walk reads the n newest animals of the status.
func (s *search) walk(ctx context.Context, n int) error {
	sql, args := walkQuery(s.q.Status, s.before, n)
	pets, err := s.readPets(ctx, sql, args...)
	if err != nil {
		return err
	}
	s.filter(pets)
	s.before = 0
	if len(pets) == n {
		s.before = pets[n-1].ID
	}
	return nil
}

func (s *search) readPets(ctx context.Context, sql string, args ...any) (pets []foundPet, err error) {
	batch := &pgx.Batch{}
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		pets, err = collectFound(rows)
		return err
	})
	return pets, s.send(ctx, batch)
}

// send sends statements with the time that is left. The server stops a statement that takes longer, so that the connection
// can be used again.
func (s *search) send(ctx context.Context, batch *pgx.Batch) error {
	left := time.Until(s.end).Milliseconds()
	if left <= 0 {
		return petstore.NotDone(petstore.ErrSearchTimeout)
	}
	timed := &pgx.Batch{}
	if !s.begun {
		timed.Queue(beginSearch)
		s.begun = true
	}
	timed.Queue("SELECT set_config('statement_timeout', $1, true)", strconv.FormatInt(left, 10))
	timed.QueuedQueries = append(timed.QueuedQueries, batch.QueuedQueries...)
	err := s.conn.SendBatch(ctx, timed).Close()
	if sqlState(err) == queryCanceled {
		err = petstore.NotDone(petstore.ErrSearchTimeout)
	}
	return err
}

func (s *search) rollback(ctx context.Context) error {
	_, err := s.conn.Exec(ctx, "ROLLBACK")
	return err
}
