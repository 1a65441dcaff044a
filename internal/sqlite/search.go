package sqlite

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectWordIndex = "SELECT upto, rules, (SELECT max(id) FROM pets) FROM word_index"
	selectMatches   = "SELECT rowid FROM pet_words WHERE pet_words MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC"
	selectStaleIDs  = "SELECT id FROM stale_words WHERE id < ?1 ORDER BY id DESC"
	selectBreed     = "SELECT breed FROM profiles WHERE pet_id = ?1"
	countOfStatus   = "SELECT animals FROM inventory WHERE status = ?1"
)

const (
	// maxScan is how many animals a search may compare one by one, which takes some hundredths of a second.
	maxScan = 50_000
	// scanPages is how many pages of animals a search compares one by one before it follows the index. A word that most
	// animals have is found sooner that way.
	scanPages = 1
	// hurryAt is how many animals without index make a search ask the indexer not to wait for a quiet moment.
	hurryAt = 1_000
	// maxShortMatches is how many matches of shortened words a search considers before it asks for the whole words.
	maxShortMatches = 1_000
	// checkIndexEvery is how often a search that waits for the index looks at it.
	checkIndexEvery = 10 * time.Millisecond
)

var errIndexBehind = errors.New("the index of words does not have enough of the animals yet")

// searcher is a connection that only searches. Searches have connections of their own, because a slow one may take seconds,
// and other reads and the WAL must not wait for it.
type searcher struct {
	*reader
	wordIndex *sqlite3.Stmt
	matches   *sqlite3.Stmt
	stale     *sqlite3.Stmt
	breed     *sqlite3.Stmt
	ofStatus  *sqlite3.Stmt
}

func newSearcher(conn *sqlite3.Conn) (*searcher, error) {
	r, err := newReader(conn)
	if err != nil {
		return nil, err
	}
	// 4 MB: a word that few animals have is looked up in every segment of the index, in several pages of each.
	if err := run(conn, "PRAGMA cache_size = -4000"); err != nil {
		return nil, err
	}
	s := &searcher{reader: r}
	return s, prepare(conn, map[string]**sqlite3.Stmt{
		selectWordIndex: &s.wordIndex,
		selectMatches:   &s.matches,
		selectStaleIDs:  &s.stale,
		selectBreed:     &s.breed,
		countOfStatus:   &s.ofStatus,
	})
}

// searchPets returns a page of a query that is not plain. It takes SearchTimeout at most.
func (db *DB) searchPets(ctx context.Context, q petstore.PetQuery) (pets []petstore.Pet, err error) {
	defer db.watch.Call(false, time.Now(), &err)
	ctx, cancel := context.WithTimeout(ctx, petstore.SearchTimeout)
	defer cancel()
	s, err := db.searchers.take(ctx)
	if err != nil {
		return nil, err
	}
	defer db.searchers.give(s)
	for {
		pets, err = db.searchOnce(ctx, s, q)
		switch {
		case sqlite3.ErrCode(err) == sqlite3.ResultInterrupt && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return nil, petstore.NotDone(petstore.ErrSearchTimeout)
		case !errors.Is(err, errIndexBehind):
			return pets, failure(err)
		}
		select {
		case <-ctx.Done():
			return nil, petstore.NotDone(err)
		case <-time.After(checkIndexEvery):
		}
	}
}

// searchOnce searches in a transaction of its own, which shows every animal stored so far.
func (db *DB) searchOnce(ctx context.Context, s *searcher, q petstore.PetQuery) ([]petstore.Pet, error) {
	if err := db.refresh(s.reader, math.MaxUint64); err != nil {
		return nil, err
	}
	defer s.endTransaction() // if this fails, refresh fails too and reports it
	s.conn.SetInterrupt(ctx.Done())
	defer s.conn.SetInterrupt(nil)
	p := newSearchPage(s, q)
	if q.ID != 0 {
		err := p.considerID(q.ID)
		return p.pets, err
	}
	upto, newest, err := s.indexed()
	if err != nil {
		return nil, err
	}
	unindexed := min(newest, p.before) - upto
	if unindexed > hurryAt {
		db.hurryIndexing()
	}
	if unindexed > maxScan && db.indexes() {
		err := p.scan(math.MaxInt64, hurryAt)
		if err == nil && !p.complete {
			err = errIndexBehind
		}
		return p.pets, err
	}
	err = p.fill(upto, db.scanPages*q.Limit)
	return p.pets, err
}

// indexed returns the highest id in the index, and the highest id of all.
func (s *searcher) indexed() (upto, newest int64, err error) {
	defer s.wordIndex.Reset()
	if _, err := s.wordIndex.Step(); err != nil {
		return 0, 0, err
	}
	if s.wordIndex.ColumnInt64(1) == petstore.WordsVersion {
		upto = s.wordIndex.ColumnInt64(0)
	}
	return upto, s.wordIndex.ColumnInt64(2), nil
}

// searchPage is the page of a search while it is filled. It considers animals newest first.
type searchPage struct {
	*searcher
	query    petstore.PetQuery // without the search
	words    []string          // of the search
	pets     []petstore.Pet
	before   int64 // every animal with this id or a higher one has been considered
	complete bool  // the page is full, or no animals are left
}

func newSearchPage(s *searcher, q petstore.PetQuery) *searchPage {
	p := &searchPage{searcher: s, query: q, words: petstore.Words(q.Search), before: cmp.Or(q.Before, math.MaxInt64)}
	p.query.Search = ""
	p.pets = make([]petstore.Pet, 0, min(q.Limit, maxPage))
	return p
}

// fill fills the page. It compares the animals above an id one by one, and at least that many, and then follows the index,
// which has the others.
func (p *searchPage) fill(upto int64, least int) error {
	terms, shortened := p.terms(true)
	if few, err := p.fewOfStatus(); err != nil {
		return err
	} else if few || terms == "" {
		upto = math.MinInt64
	}
	if err := p.scan(upto, least); err != nil || p.complete {
		return err
	}
	if !shortened {
		return p.followIndex(terms, math.MaxInt)
	}
	if err := p.followIndex(terms, maxShortMatches); err != nil || p.complete {
		return err
	}
	terms, _ = p.terms(false) // FTS5 reads all matches before it returns the first, but there are not many
	return p.followIndex(terms, math.MaxInt)
}

// fewOfStatus reports whether the query asks for a status that so few animals have that they can be compared one by one.
func (p *searchPage) fewOfStatus() (bool, error) {
	if p.query.Status == petstore.AnyStatus {
		return false, nil
	}
	defer p.ofStatus.Reset()
	p.ofStatus.BindInt64(1, int64(p.query.Status))
	_, err := p.ofStatus.Step()
	return p.ofStatus.ColumnInt64(0) < maxScan/5, err
}

// scan compares all animals above an id one by one, and more below it until it has compared at least that many.
func (p *searchPage) scan(above int64, least int) error {
	stmt := p.list
	if p.query.Status != petstore.AnyStatus {
		stmt = p.listOfStatus
		stmt.BindInt64(3, int64(p.query.Status))
	}
	stmt.BindInt64(1, p.before)
	stmt.BindInt64(2, math.MaxInt64)
	defer stmt.Reset()
	for n := 0; !p.complete; n++ {
		row, err := stmt.Step()
		switch {
		case err != nil:
			return err
		case !row:
			p.complete = true
		case stmt.ColumnInt64(0) <= above && n >= least:
			return nil
		default:
			if err := p.consider(scanPet(stmt)); err != nil {
				return err
			}
		}
	}
	return nil
}

// consider adds an animal to the page if the query selects it.
func (p *searchPage) consider(pet petstore.Pet) error {
	p.before = pet.ID
	if !p.query.Selects(pet) {
		return nil
	}
	found, err := p.finds(pet)
	if found {
		p.pets = append(p.pets, pet)
		p.complete = len(p.pets) == p.query.Limit
	}
	return err
}

// finds reports whether an animal has the words of the search. It reads the breed only if the name lacks one of them.
func (p *searchPage) finds(pet petstore.Pet) (bool, error) {
	if len(p.words) == 0 {
		return true, nil
	}
	words := petstore.Words(pet.Name)
	if petstore.FoundBy(words, p.words) {
		return true, nil
	}
	defer p.breed.Reset()
	p.breed.BindInt64(1, pet.ID)
	row, err := p.breed.Step()
	if err != nil || !row {
		return false, err
	}
	return petstore.FoundBy(append(words, petstore.Words(p.breed.ColumnText(0))...), p.words), nil
}

// followIndex considers the animals that match the terms in the index, together with those about which the index is stale,
// until it has considered that many.
func (p *searchPage) followIndex(terms string, most int) error {
	p.matches.BindText(1, terms)
	p.matches.BindInt64(2, p.before)
	p.stale.BindInt64(1, p.before)
	defer p.matches.Reset()
	defer p.stale.Reset()
	match, err := nextID(p.matches)
	if err != nil {
		return err
	}
	stale, err := nextID(p.stale)
	for n := 0; err == nil && !p.complete && n < most; n++ {
		id := max(match, stale)
		if id == 0 {
			p.complete = true
			break
		}
		if err = p.considerID(id); err != nil || p.complete {
			break
		}
		if match == id {
			match, err = nextID(p.matches)
		}
		if stale == id && err == nil {
			stale, err = nextID(p.stale)
		}
	}
	return err
}

// considerID considers an animal that may have been deleted.
func (p *searchPage) considerID(id int64) error {
	pet, err := getPet(p.get, id)
	if petstore.IsCode(err, petstore.NotFound) {
		p.before = id
		return nil
	}
	if err != nil {
		return err
	}
	return p.consider(pet)
}

// nextID returns the id in the next row, or 0 if there is none.
func nextID(stmt *sqlite3.Stmt) (int64, error) {
	row, err := stmt.Step()
	if err != nil || !row {
		return 0, err
	}
	return stmt.ColumnInt64(0), nil
}
