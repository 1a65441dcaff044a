package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// feedOf returns the feed and all of its events.
func feedOf(t testing.TB, db *DB) (feed petstore.Feed, events []petstore.Event) {
	t.Helper()
	for q := (petstore.EventQuery{Limit: 1000}); ; {
		page, err := db.ListEvents(t.Context(), q)
		noError(t, err)
		events = append(events, page.Events...)
		if page.End {
			return page.Feed, events
		}
		q.After = &page.Next
	}
}

func TestEventsAreTrimmedByTheirAge(t *testing.T) {
	now := time.Date(2026, time.November, 15, 9, 0, 0, 0, time.UTC)
	db := open(t, Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Create: true, Serve: true, Now: func() time.Time { return now }})
	for range 5 {
		fillPets(t, db, 3)
		now = now.Add(24 * time.Hour)
	}
	kept := petstore.EventsKept{Bytes: math.MaxInt64}
	for _, c := range []struct {
		age     time.Duration
		removed int64
	}{{5*24*time.Hour + time.Millisecond, 0}, {5 * 24 * time.Hour, 3}, {2*24*time.Hour + time.Millisecond, 6}, {24 * time.Hour, 6}} {
		kept.Age = c.age
		if removed, err := db.TrimEvents(t.Context(), kept); err != nil || removed != c.removed {
			t.Errorf("%d events that are %v old were removed, want %d (%v)", removed, c.age, c.removed, err)
		}
	}
}

func TestEventsAreTrimmedInSmallSteps(t *testing.T) {
	db := openNew(t)
	for range 30 {
		fillPets(t, db, 512)
	}
	calls, most := 0, int64(0)
	for {
		removed, err := db.TrimEvents(t.Context(), petstore.EventsKept{Age: time.Hour})
		noError(t, err)
		if removed == 0 {
			break
		}
		calls, most = calls+1, max(most, removed)
	}
	if feed, events := feedOf(t, db); feed.Trimmed != 30*512 || len(events) != 0 {
		t.Errorf("%+v with %d events", feed, len(events))
	}
	if calls < 2 || most > trimBytes/20 {
		t.Errorf("%d calls removed up to %d events each", calls, most)
	}
}

func TestTrimmedEventsLeaveTheIndexByAnimal(t *testing.T) {
	db := openNew(t)
	fillPets(t, db, 1)
	for _, name := range []string{"Max", "Tom"} {
		_, _, err := db.UpdatePet(t.Context(), 1, petstore.PetPatch{Name: &name}, nil)
		noError(t, err)
	}
	_, err := db.TrimEvents(t.Context(), petstore.EventsKept{})
	noError(t, err)
	left := -1
	noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { left = row.ColumnInt(0) }, "SELECT count(*) FROM event_pets")
	}))
	if left != 0 {
		t.Errorf("%d rows of the index are left", left)
	}
}

func TestARowHasOnlySoManyEventsAndBytes(t *testing.T) {
	db := openNew(t)
	long := petstore.NewPet{Name: fmt.Sprintf("%0255d", 1), Status: petstore.Available}
	pets := make([]petstore.NewPet, 3000)
	for i := range pets {
		if pets[i] = long; i >= 1000 {
			pets[i].Name = "Rex"
		}
	}
	_, err := db.AddPets(t.Context(), pets, &petstore.Idempotency{Owner: "ann", Key: "k", Now: time.Now()})
	noError(t, err)
	rows, err := db.StoredEvents(t.Context(), petstore.StoredEvents{}, 100)
	noError(t, err)
	next := int64(1)
	for _, row := range rows {
		if row.First != next || row.Count > maxRowEvents || len(row.Record) > maxRowBytes+300 {
			t.Errorf("%d events and %d bytes from event %d on, want %d", row.Count, len(row.Record), row.First, next)
		}
		next = row.First + row.Count
	}
	if next != 3001 || len(rows) > 8 {
		t.Errorf("%d rows have %d events", len(rows), next-1)
	}
}

func TestTwoProcessesWriteOneFeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	one, two := open(t, Config{Path: path, Create: true}), open(t, Config{Path: path})
	for range 5 {
		fillPets(t, one, 2)
		fillPets(t, two, 3)
	}
	for _, db := range []*DB{one, two} {
		feed, events := feedOf(t, db)
		if feed.Last != 25 || len(events) != 25 {
			t.Fatalf("%+v with %d events", feed, len(events))
		}
		newest := int64(0)
		for i, e := range events {
			if e.Sequence != int64(i+1) || e.PetID() <= newest {
				t.Errorf("event %d is of the animal %d, after the animal %d", e.Sequence, e.PetID(), newest)
			}
			newest = e.PetID()
		}
	}
}

func TestATransactionThatFailsLeavesNoEvents(t *testing.T) {
	db := openNew(t)
	fillPets(t, db, 1)
	failed := errors.New("failed")
	err := db.writeVersioned(t.Context(), func(w *writer) error {
		_, err := w.addPet(petstore.NewPet{Name: "Lost", Status: petstore.Available})
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	fillPets(t, db, 1)
	if _, events := feedOf(t, db); len(events) != 2 || events[1].Pet.Now.Name != "Pet 0" {
		t.Errorf("the feed is %+v", events)
	}
}

func TestACommitThatFailsLeavesNoGapInTheFeed(t *testing.T) {
	db := openNew(t)
	fillPets(t, db, 1)
	mend := failCommits(t, db)
	if pet, _, err := db.CreatePet(t.Context(), rex, nil); err == nil {
		t.Fatalf("%v was stored", pet)
	}
	mend()
	fillPets(t, db, 1)
	if feed, events := feedOf(t, db); feed.Last != 2 || len(events) != 2 {
		t.Errorf("%+v with %d events, want 2", feed, len(events))
	}
}

func TestACommitWithEventsWakesWhoWaitsForThem(t *testing.T) {
	db := openNew(t)
	isWoken := func(write func()) bool {
		woken := db.eventsStored.next()
		write()
		select {
		case <-woken:
			return true
		default:
			return false
		}
	}
	if !isWoken(func() { fillPets(t, db, 1) }) {
		t.Error("a new animal wakes nobody")
	}
	if isWoken(func() { noError(t, db.MarkServed(t.Context())) }) {
		t.Error("a commit without events wakes somebody")
	}
}

// A follower of the feed reads the animals of the events that it gets, so the feed must not be ahead of other reads. The test
// stops a commit between what the file has and what other reads show.
func TestTheFeedIsNotAheadOfOtherReads(t *testing.T) {
	db := openNew(t)
	other := open(t, Config{Path: db.path})
	db.cache.mu.RLock()
	resume := sync.OnceFunc(db.cache.mu.RUnlock)
	defer resume()
	before, _ := db.Version()
	created := make(chan error, 1)
	go func() {
		_, _, err := db.CreatePet(context.Background(), rex, nil)
		created <- err
	}()
	for feed := (petstore.Feed{}); feed.Last == 0; {
		feed, _ = feedOf(t, other)
	}
	type read struct {
		page    petstore.EventPage
		version uint64
		err     error
	}
	reads := make(chan read, 1)
	go func() {
		page, err := db.ListEvents(context.Background(), petstore.EventQuery{Limit: 1})
		version, _ := db.Version()
		reads <- read{page, version, err}
	}()
	for len(reads) == 0 && !someoneWaitsForACommit() {
		runtime.Gosched()
	}
	resume()
	got := <-reads
	noError(t, errors.Join(got.err, <-created))
	if len(got.page.Events) != 1 || got.version == before {
		t.Errorf("the feed shows %d events at version %d, which was the version before them: %t", len(got.page.Events), got.version, got.version == before)
	}
}

// someoneWaitsForACommit reports whether a reader waits for the commit that is under way.
func someoneWaitsForACommit() bool {
	all := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(stack, "[sync.RWMutex.RLock") && strings.Contains(stack, "(*DB).refresh(") {
			return true
		}
	}
	return false
}

func TestARestoredFeedHasANewName(t *testing.T) {
	database, backup := newWithBackup(t, 5)
	db := open(t, production(database))
	old, events := feedOf(t, db)
	if len(events) != 5 {
		t.Fatalf("%d events", len(events))
	}
	db.Close()
	_, err := Restore(t.Context(), production(database), backup, true, noProgress)
	noError(t, err)
	elsewhere := filepath.Join(t.TempDir(), "new.db")
	_, err = Restore(t.Context(), production(elsewhere), backup, false, noProgress)
	noError(t, err)
	for _, path := range []string{database, elsewhere} {
		db := open(t, production(path))
		feed, events := feedOf(t, db)
		if feed.Name == old.Name || feed.Last != 5 || len(events) != 5 {
			t.Errorf("the feed was %+v and is %+v with %d events", old, feed, len(events))
		}
		_, err := db.ListEvents(t.Context(), petstore.EventQuery{After: &petstore.EventPosition{Feed: old.Name, Sequence: 5}, Limit: 1})
		if !petstore.IsCode(err, petstore.EventsGone) {
			t.Errorf("a position of before: %v", err)
		}
	}
	copied := open(t, production(backup))
	if feed, _ := feedOf(t, copied); feed != old {
		t.Errorf("the backup has the feed %+v, want %+v", feed, old)
	}
}

func TestADatabaseOfAnEarlierVersionGetsAnEmptyFeed(t *testing.T) {
	names := map[string]bool{}
	for range 2 {
		db := open(t, Config{Path: copyVersionOne(t), Migrate: true, Serve: true})
		feed, events := feedOf(t, db)
		if len(events) != 0 || feed.Last != 0 {
			t.Errorf("the feed is %+v with %d events", feed, len(events))
		}
		if _, ok := petstore.ParseEventPosition(petstore.EventPosition{Feed: feed.Name}.String()); !ok {
			t.Errorf("the name of the feed is %q", feed.Name)
		}
		names[feed.Name] = true
	}
	if len(names) != 2 {
		t.Errorf("two feeds have the name %v", names)
	}
}
