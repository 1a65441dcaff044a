package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectTextsAfter = `
		SELECT id, name, coalesce(breed, ''), category_id FROM pets LEFT JOIN profiles ON pet_id = id
		WHERE id > ?1 ORDER BY id LIMIT ?2`
	selectText = `
		SELECT id, name, coalesce(breed, ''), category_id FROM pets LEFT JOIN profiles ON pet_id = id
		WHERE id = ?1`
	selectStale    = "SELECT id, name, breed, category_id, name IS NOT NULL FROM stale_words ORDER BY id LIMIT ?1"
	insertWords    = "INSERT INTO pet_words (rowid, words) VALUES (?1, ?2)"
	removeWords    = "INSERT INTO pet_words (pet_words, rowid, words) VALUES ('delete', ?1, ?2)"
	mergeWords     = "INSERT INTO pet_words (pet_words, rank) VALUES ('merge', ?1)"
	removeAllWords = "INSERT INTO pet_words (pet_words) VALUES ('delete-all')"
	insertStale    = "INSERT INTO stale_words (id) SELECT ?1 FROM word_index WHERE ?1 <= upto ON CONFLICT (id) DO NOTHING"
	removeStale    = "DELETE FROM stale_words WHERE id = ?1"
	removeAllStale = "DELETE FROM stale_words"
	putWordIndex   = "UPDATE word_index SET upto = ?1, rules = ?2"
)

const (
	// minIndexRows and maxIndexRows bound the animals that one transaction indexes. While others write, it is the former, so
	// that they wait for a few milliseconds at most.
	minIndexRows = 128
	maxIndexRows = 2048
	// indexDelay is how long after a change the indexer begins, so that it indexes many changes in one transaction.
	indexDelay = 50 * time.Millisecond
	// indexShare is the part of the time, one in indexShare, that the indexer takes while others write.
	indexShare = 100
	// longIndexing is how many animals have to wait to be indexed before it is reported, and reportIndexing how often.
	longIndexing   = 2 * maxScan
	reportIndexing = 10 * time.Second
)

// indexer keeps the index of words up to date, behind the commits: indexing an animal takes as long as storing it.
type indexer struct {
	changed chan struct{} // an animal has changed
	urgent  chan struct{} // a search would have to compare many animals
	stop    func()
	report  func(left int64)
}

// startIndexing starts the goroutine that indexes.
func (db *DB) startIndexing(report func(left int64)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	db.indexer = &indexer{
		changed: make(chan struct{}, 1),
		urgent:  make(chan struct{}, 1),
		stop:    func() { cancel(); <-done },
		report:  report,
	}
	go func() {
		defer close(done)
		db.keepIndexing(ctx)
	}()
}

// indexes reports whether this process keeps the index up to date.
func (db *DB) indexes() bool { return db.indexer != nil }

// notifyIndexer tells the indexer that animals have changed.
func (db *DB) notifyIndexer() {
	if db.indexer != nil {
		wake(db.indexer.changed)
	}
}

// hurryIndexing tells the indexer that searches are slow without it.
func (db *DB) hurryIndexing() {
	if db.indexer != nil {
		wake(db.indexer.urgent)
	}
}

func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// keepIndexing indexes what is not indexed yet, and then whatever changes. Beside others that write, it leaves them most of
// the time, unless a search needs the index.
func (db *DB) keepIndexing(ctx context.Context) {
	progress := indexProgress{report: db.indexer.report}
	version := db.cache.version.Load()
	pause := indexDelay // a command that migrates a database closes it at once
	rows := minIndexRows
	for {
		hurried, ok := db.indexer.wait(ctx, pause)
		if !ok {
			return
		}
		left, took, err := db.indexSome(ctx, rows)
		before := version
		version = db.cache.version.Load()
		switch {
		case err != nil:
			pause = time.Second
			continue
		case version == before:
			pause, rows = 0, min(2*rows, maxIndexRows)
		case hurried:
			pause, rows = 0, 2*minIndexRows
		default:
			pause, rows = max(indexDelay, indexShare*took), minIndexRows
		}
		progress.tell(left)
		if left == 0 {
			select {
			case <-ctx.Done():
				return
			case <-db.indexer.changed:
				pause, rows = max(indexDelay, pause), minIndexRows
			}
		}
	}
}

// wait waits until the pause is over or a search is waiting, and reports which. It returns false if the database closes.
func (x *indexer) wait(ctx context.Context, pause time.Duration) (hurried, ok bool) {
	select {
	case <-ctx.Done():
		return false, false
	case <-x.urgent:
		return true, true
	case <-time.After(pause):
		return false, true
	}
}

// indexSome indexes some animals in one transaction. It returns how many are left, at most, and how long others had to wait.
func (db *DB) indexSome(ctx context.Context, rows int) (left int64, took time.Duration, err error) {
	var began time.Time
	err = db.write(ctx, func(w *writer) (err error) {
		began = time.Now()
		left, err = w.indexSome(rows)
		return err
	})
	return left, time.Since(began), err
}

func (w *writer) indexSome(rows int) (left int64, err error) {
	var upto, rules, newest int64
	err = query(w.conn, func(row *sqlite3.Stmt) {
		upto, rules, newest = row.ColumnInt64(0), row.ColumnInt64(1), row.ColumnInt64(2)
	}, selectWordIndex)
	if err == nil && rules != petstore.WordsVersion {
		upto, err = 0, w.forgetWords()
	}
	if err != nil {
		return 0, err
	}
	stale, err := w.indexStale(rows)
	if err != nil {
		return 0, err
	}
	indexed, last, err := w.indexAfter(upto, rows)
	switch {
	case err != nil:
		return 0, err
	case indexed < rows:
		left = 0
	default:
		left = newest - last
	}
	if stale == rows {
		left++
	}
	if stale+indexed == 0 {
		return left, nil
	}
	// A row takes about 40 bytes in the index, and is merged a few times.
	return left, run(w.conn, mergeWords, 16+(stale+indexed)/8)
}

// forgetWords empties the index, which was made by other rules.
func (w *writer) forgetWords() error {
	for _, statement := range []string{removeAllWords, removeAllStale} {
		if err := run(w.conn, statement); err != nil {
			return err
		}
	}
	return run(w.conn, putWordIndex, 0, petstore.WordsVersion)
}

// indexedText is what the index has of an animal.
type indexedText struct {
	id   int64
	text string // "" if the index has nothing
}

// scanText reads a row of an id, a name, a breed and a category.
func scanText(row *sqlite3.Stmt) indexedText {
	return indexedText{row.ColumnInt64(0), indexText(row.ColumnText(1), row.ColumnText(2), row.ColumnInt64(3))}
}

// indexStale corrects the index for animals that have changed since they were indexed. It returns how many there were.
func (w *writer) indexStale(most int) (n int, err error) {
	var stale []indexedText
	err = query(w.conn, func(row *sqlite3.Stmt) {
		s := indexedText{id: row.ColumnInt64(0)}
		if row.ColumnBool(4) {
			s = scanText(row)
		}
		stale = append(stale, s)
	}, selectStale, most)
	for _, s := range stale { // in the order of their ids, as FTS5 likes them
		if err == nil && s.text != "" {
			err = run(w.conn, removeWords, s.id, s.text)
		}
		if err == nil {
			err = w.indexPet(s.id)
		}
		if err == nil {
			err = run(w.conn, removeStale, s.id)
		}
	}
	return len(stale), err
}

// indexPet adds the words of an animal to the index, if the animal still exists.
func (w *writer) indexPet(id int64) error {
	var text string
	err := query(w.conn, func(row *sqlite3.Stmt) { text = scanText(row).text }, selectText, id)
	if err != nil || text == "" {
		return err
	}
	return run(w.conn, insertWords, id, text)
}

// indexAfter adds the words of the next animals to the index. It returns their number and the highest id in the index.
func (w *writer) indexAfter(upto int64, most int) (n int, last int64, err error) {
	next := make([]indexedText, 0, most)
	err = query(w.conn, func(row *sqlite3.Stmt) { next = append(next, scanText(row)) }, selectTextsAfter, upto, most)
	if err != nil || len(next) == 0 {
		return 0, upto, err
	}
	for _, pet := range next {
		if err := run(w.conn, insertWords, pet.id, pet.text); err != nil {
			return 0, 0, err
		}
	}
	last = next[len(next)-1].id
	return len(next), last, run(w.conn, putWordIndex, last, petstore.WordsVersion)
}

// indexProgress reports a long indexing: when it begins, now and then, and when it has ended.
type indexProgress struct {
	report   func(left int64)
	reported time.Time // zero unless a long indexing is under way
}

func (p *indexProgress) tell(left int64) {
	if p.report == nil {
		return
	}
	switch {
	case left == 0 && !p.reported.IsZero():
		p.reported = time.Time{}
	case left > longIndexing && p.reported.IsZero(), left > 0 && !p.reported.IsZero() && time.Since(p.reported) > reportIndexing:
		p.reported = time.Now()
	default:
		return
	}
	p.report(left)
}
