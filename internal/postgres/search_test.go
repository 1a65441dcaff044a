package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// searcher is a storage whose searches always use the blocks, even if the newest animals fill the page.
type searcher struct {
	*DB
	before func(t context.Context) error
}

func (s searcher) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	if q.IsPlain() || q.ID != 0 {
		return s.DB.ListPets(ctx, q)
	}
	if err := s.before(ctx); err != nil {
		return nil, err
	}
	return s.searchBlocks(q, time.Now().Add(longTimeout))
}

func TestSearchesConformHoweverManyWordsAreStored(t *testing.T) {
	url := testservice.Postgres(t)
	for name, before := range map[string]func(*DB) func(context.Context) error{
		"none": func(*DB) func(context.Context) error { return func(context.Context) error { return nil } },
		"all": func(db *DB) func(context.Context) error {
			return func(ctx context.Context) error { return storeAllWords(ctx, db) }
		},
		"some": func(db *DB) func(context.Context) error {
			return func(ctx context.Context) error {
				if rand.IntN(5) > 0 {
					return nil
				}
				return storeAllWords(ctx, db)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.Searches(t, func(t *testing.T) petstore.Database {
				db := openEmptied(t, url)
				return searcher{db, before(db)}
			})
		})
	}
}

// storeAllWords stores words until none are left.
func storeAllWords(ctx context.Context, db *DB) error {
	for {
		if left, err := db.IndexWords(ctx); err != nil || left == 0 {
			return err
		}
	}
}

// mustStoreWords stores all words and checks that none are missing.
func mustStoreWords(t testing.TB, db *DB) {
	t.Helper()
	if err := storeAllWords(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	var lacks bool
	if err := db.pool.QueryRow(t.Context(), indexLacks, db.wordsVersion).Scan(&lacks); err != nil || lacks {
		t.Fatalf("not all words are stored, %v", err)
	}
}

// manyAnimals creates animals in 400 blocks, in which some words, categories and states are common, rare, in old animals only
// or in one animal.
const manyAnimals = `
	INSERT INTO pets (name, category_id, status)
	SELECT concat_ws(' ', 'Pet', CASE WHEN n % 2 = 0 THEN 'left' ELSE 'Right' END, CASE WHEN n % 1000 = 0 THEN 'Thousandth' END,
			CASE WHEN n < 6000 AND n % 10 = 0 THEN 'ältere' END, CASE WHEN n = 4000 THEN 'unique' END, n),
		CASE WHEN n % 2000 = 0 THEN 99 WHEN n < 3000 THEN 50 ELSE n % 4 END, CASE WHEN n % 500 = 7 THEN 2 WHEN n < 20000 THEN 3 ELSE 1 END
	FROM generate_series(1, 25600) n`

func TestASearchFindsTheSameHoweverManyWordsAreStored(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	execute(t, url, manyAnimals)
	store := func() error { _, err := db.IndexWords(t.Context()); return err }
	for _, step := range []struct {
		name string
		make func() error
	}{
		{"no words are stored", func() error { return nil }},
		{"few are stored", store},
		{"more are stored", store},
		{"all are stored", func() error { return storeAllWords(t.Context(), db) }},
		{"many blocks are marked", func() error {
			execute(t, url, "UPDATE pets SET name = 'Max ' || name WHERE id % 640 = 3; UPDATE pets SET category_id = 98 WHERE id % 6400 = 5; DELETE FROM pets WHERE id % 100 = 1")
			return nil
		}},
		{"all are stored again", func() error { return storeAllWords(t.Context(), db) }},
	} {
		if err := step.make(); err != nil {
			t.Fatal(err)
		}
		t.Run(step.name, func(t *testing.T) {
			all := allPets(t, db)
			for _, q := range someSearches() {
				got, err := db.ListPets(t.Context(), q)
				if want := selected(all, q); err != nil || !slices.Equal(got, want) {
					t.Errorf("%+v finds %d animals, %v; want %d", q, len(got), err, len(want))
				}
			}
		})
	}
}

// someSearches returns different queries for manyAnimals each time, and always one in which a status is rare and a word is
// not.
func someSearches() []petstore.PetQuery {
	queries := []petstore.PetQuery{{Status: petstore.Sold, Search: "thousandth", Limit: 20}}
	statuses := []petstore.Status{petstore.AnyStatus, petstore.Available, petstore.Pending, petstore.Sold}
	words := []string{"", "pet", "p", "1", "left right", "thousandth", "altere", "unique", "max right", "nothing", "2560 thousandth"}
	for len(queries) < 100 {
		q := petstore.PetQuery{Status: oneOf(statuses), Search: oneOf(words), Before: oneOf([]int64{0, 25_000, 12_345, 6000, 100, 1}), Limit: 20}
		if category := oneOf([]int64{-1, -1, -1, 0, 1, 50, 98, 99, 1234}); category >= 0 {
			q.Category, q.OfCategory = category, true
		}
		if q.Search != "" || q.OfCategory {
			queries = append(queries, q)
		}
	}
	return queries
}

func oneOf[T any](all []T) T { return all[rand.IntN(len(all))] }

func allPets(t testing.TB, db *DB) []petstore.Pet {
	t.Helper()
	all, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func selected(all []petstore.Pet, q petstore.PetQuery) (pets []petstore.Pet) {
	words := petstore.Words(q.Search)
	q.Search = ""
	for _, pet := range all {
		if len(pets) < q.Limit && q.Selects(pet) && petstore.FoundBy(petstore.Words(pet.Name), words) {
			pets = append(pets, pet)
		}
	}
	return pets
}

func names(t testing.TB, db *DB, search string) string {
	t.Helper()
	pets, err := db.searchBlocks(petstore.PetQuery{Search: search, Limit: 100}, time.Now().Add(longTimeout))
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(pets))
	for i, pet := range pets {
		all[i] = pet.Name
	}
	return strings.Join(all, "; ")
}

// An older program has these statements, and knows nothing of words.
func TestWhatAnOlderProgramWritesIsFound(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	mustStoreWords(t, db)
	for _, write := range []struct{ sql, search, want string }{
		{`WITH fresh AS MATERIALIZED (SELECT nextval('pets_id') AS id, pet.* FROM unnest('{Rex,Moss}'::text[], '{1,2}'::bigint[], '{1,1}'::smallint[])
			WITH ORDINALITY AS pet (name, category_id, status, position)),
			stored AS (INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE SELECT id, name, category_id, status FROM fresh)
			SELECT id FROM fresh ORDER BY position`, "re", "Rex"},
		{"UPDATE pets SET name = 'Olive', category_id = 1, status = 1 WHERE name = 'Rex'", "olive", "Olive"},
		{"UPDATE pets SET status = 3 WHERE name = 'Olive'", "olive", "Olive"},
		{`INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE SELECT id, 'Zoë', category_id, status FROM pets WHERE name = 'Olive'
			ON CONFLICT (id) DO UPDATE SET name = excluded.name`, "zoe", "Zoë"},
	} {
		execute(t, url, write.sql)
		for range 2 { // with a mark, and with words
			if got := names(t, db, write.search); got != write.want {
				t.Errorf("after %s\n%q finds %q", write.sql, write.search, got)
			}
			mustStoreWords(t, db)
		}
	}
	if got := names(t, db, "rex"); got != "" {
		t.Errorf("the old name finds %q", got)
	}
}

func TestAChangeOfTheStatusMarksNothing(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	pet := mustCreate(t, db)
	mustStoreWords(t, db)
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil)
	if err == nil {
		_, _, err = db.CloseOrder(t.Context(), order.ID, petstore.Completed, nil)
	}
	if err == nil {
		_, _, err = db.UpdatePet(t.Context(), pet.ID, petstore.PetPatch{Status: new(petstore.Available)}, nil)
	}
	var marks int
	if err == nil {
		err = db.pool.QueryRow(t.Context(), "SELECT count(*) FROM marked_blocks").Scan(&marks)
	}
	if err != nil || marks > 0 {
		t.Errorf("%d blocks are marked, %v", marks, err)
	}
}

// In TestWordsAreMadeAnewByOtherRules, a program with other rules for words takes over from one that goes on for a while.
func TestWordsAreMadeAnewByOtherRules(t *testing.T) {
	url := testservice.Postgres(t)
	older, newer := open(t, url), open(t, url)
	newer.wordsVersion++
	mustCreate(t, older)
	mustStoreWords(t, older)
	execute(t, url, "UPDATE block_words SET words = 'x'::tsvector") // so that nothing is found by these words
	for i, db := range []*DB{older, newer} {
		if got, want := names(t, db, "rex"), []string{"", "Rex"}[i]; got != want {
			t.Errorf("with the words of the older program, program %d finds %q, want %q", i+1, got, want)
		}
	}
	mustStoreWords(t, newer)
	var words string
	if err := newer.pool.QueryRow(t.Context(), "SELECT words::text FROM block_words").Scan(&words); err != nil || words != "'=7' 'rex'" {
		t.Errorf("the newer program stored the words %s, %v", words, err)
	}
	mustCreate(t, older)
	if left, err := older.IndexWords(t.Context()); left != 0 || err != nil {
		t.Errorf("IndexWords of the older program: %d animals left, %v", left, err)
	}
	for i, db := range []*DB{older, newer} {
		if got := names(t, db, "rex"); got != "Rex; Rex" {
			t.Errorf("with the words of the newer program, program %d finds %q", i+1, got)
		}
	}
}

func TestASearchThatTakesTooLongIsRefusedAndDelaysNoOther(t *testing.T) {
	url := testservice.Postgres(t)
	db := openAsShipped(t, url)
	execute(t, url, manyAnimals)
	mustStoreWords(t, db)
	holder := holdLocks(t, url, "LOCK TABLE block_words IN ACCESS EXCLUSIVE MODE")
	var all sync.WaitGroup
	began := time.Now()
	for i := range 3 * maxConns {
		all.Go(func() {
			_, err := db.ListPets(t.Context(), petstore.PetQuery{Search: fmt.Sprint("nothing", i), Limit: 20})
			if took := time.Since(began); !petstore.IsCode(err, petstore.Unavailable) || took < petstore.SearchTimeout-time.Second/10 {
				t.Errorf("after %s the search ends with %v", took, err)
			}
		})
	}
	awaitLockWaits(t, url, maxConns/2)
	for range 20 {
		mustCreate(t, db)
		if pets, err := db.ListPets(t.Context(), petstore.PetQuery{Search: "rex", Limit: 1}); err != nil || len(pets) != 1 {
			t.Errorf("meanwhile, a search for a frequent word finds %v, %v", pets, err)
		}
	}
	all.Wait()
	if _, err := holder.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if got := names(t, db, "unique"); !strings.Contains(got, "unique") {
		t.Errorf("afterwards a search finds %q", got)
	}
	if stat := db.pool.Stat(); stat.CanceledAcquireCount() > 0 || stat.TotalConns() > maxConns || len(db.searches) > 0 {
		t.Errorf("afterwards %d of %d connections are open and %d searches run", stat.TotalConns(), maxConns, len(db.searches))
	}
}

func TestTheLongestWordsAreFound(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	random := rand.New(rand.NewPCG(1, 2))
	pets := make([]petstore.NewPet, 2*blockSize)
	for i := range pets {
		name := make([]rune, petstore.MaxNameLength)
		for at := range name {
			name[at] = 0x20000 + random.Int32N(0xa6d0) // each a word of four bytes
			if i%2 == 0 {
				name[at] = 0xfdf0 + random.Int32N(10) // together a word, in which each has eight bytes
			}
			if i%2 == 0 && at%100 == 0 {
				name[at] = ' '
			}
		}
		pets[i] = petstore.NewPet{Name: string(name), Status: petstore.Sold}
	}
	if _, err := db.AddPets(t.Context(), pets, nil); err != nil {
		t.Fatal(err)
	}
	mustStoreWords(t, db)
	for i, pet := range pets[:6] {
		search := string([]rune(pet.Name)[801 : 801+90])
		if got := names(t, db, search); got != pet.Name {
			t.Fatalf("animal %d is not found by its name", i+1)
		}
	}
}

func TestOneReplicaAtATimeStoresWords(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	mustCreate(t, db)
	other := holdLocks(t, url, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", int64(indexLock)))
	stored := func() (blocks int) {
		t.Helper()
		left, err := db.IndexWords(t.Context())
		if err == nil {
			err = db.pool.QueryRow(t.Context(), "SELECT count(*) FROM block_words").Scan(&blocks)
		}
		if err != nil || left != 0 {
			t.Fatalf("%d animals are left, %v", left, err)
		}
		return blocks
	}
	if n := stored(); n != 0 {
		t.Errorf("while another replica stores words, this one stored those of %d blocks", n)
	}
	if _, err := other.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if n := stored(); n != 1 {
		t.Errorf("afterwards this one stored the words of %d blocks", n)
	}
}

func TestTheWordsOfSparseIdsAreStored(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	execute(t, url, `INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
		SELECT n::bigint * 1000000000, 'Pet ' || n, 0, 1 FROM generate_series(1, 9000) n; DELETE FROM marked_blocks`)
	mustStoreWords(t, db)
	if got := names(t, db, "8999"); got != "Pet 8999" {
		t.Errorf("found %q", got)
	}
}

func TestASearchUsesTheIndexes(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	for _, state := range []struct{ name, sql string }{
		{"an empty table", "SELECT"},
		{"a large table", "INSERT INTO block_words SELECT n, array_to_tsvector(ARRAY['pet', 'number' || n]) FROM generate_series(1, 5000) n"},
		{"a large table with statistics", "ANALYZE block_words"},
	} {
		if _, err := db.pool.Exec(t.Context(), state.sql); err != nil {
			t.Fatal(err)
		}
		plan := explain(t, db, "(tsquery, bigint, bigint, bigint, bigint)", findBlocks, "('''pet'':*', 0, 100, 64, 4096)")
		for _, part := range []string{"Index Scan Backward using block_words_pkey", "One-Time Filter", "Bitmap Index Scan on block_words_by_word"} {
			if !strings.Contains(plan, part) || strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s: the blocks are found by\n%s", state.name, plan)
			}
		}
		plan = explain(t, db, "(bigint[], smallint, boolean, bigint)", selectBlocks, "('{1,2}', 0::smallint, false, 0)")
		if !strings.Contains(plan, "Index Scan Backward using pets_pkey") || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s: blocks are read by\n%s", state.name, plan)
		}
	}
}

func TestSearchesNeverMissAnAnimalWhileWordsAreStored(t *testing.T) {
	url := testservice.Postgres(t)
	writer, reader := open(t, url), open(t, url)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var storing, writing sync.WaitGroup
	for _, db := range []*DB{writer, reader} {
		storing.Go(func() {
			for ctx.Err() == nil {
				if _, err := db.IndexWords(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 4 {
		writing.Go(func() {
			pet := mustCreate(t, writer)
			for n := range 150 {
				name := fmt.Sprintf("Rex%dx%d", i, n)
				changed, _, err := writer.UpdatePet(t.Context(), pet.ID, petstore.PetPatch{Name: &name}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				found, err := reader.searchBlocks(petstore.PetQuery{Search: name, Limit: 2}, time.Now().Add(longTimeout))
				if err != nil || !reflect.DeepEqual(found, []petstore.Pet{changed}) {
					t.Errorf("the search for %s finds %v, %v", name, found, err)
				}
			}
		})
	}
	writing.Wait()
	stop()
	storing.Wait()
}

func TestAChangedAnimalAddsItsWordsUntilItsBlockIsMadeAnew(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	pet := mustCreate(t, db)
	mustStoreWords(t, db)
	words := func() (stored string, n int) {
		err := db.pool.QueryRow(t.Context(), "SELECT words::text, length(words) FROM block_words").Scan(&stored, &n)
		noError(t, err)
		return stored, n
	}
	rename := func(name string) {
		noError(t, errorOf2(db.UpdatePet(t.Context(), pet.ID, petstore.PetPatch{Name: &name}, nil)))
		mustStoreWords(t, db)
		if got := names(t, db, name); got != name {
			t.Errorf("%q finds %q", name, got)
		}
	}
	rename("Max")
	if stored, _ := words(); stored != "'=7' 'max' 'rex'" {
		t.Errorf("the words are %s", stored)
	}
	most, shrunk := 0, false
	for i := range 200 {
		rename(fmt.Sprint("Max", i))
		_, n := words()
		most, shrunk = max(most, n), shrunk || n == 2
	}
	if most > 70 || !shrunk {
		t.Errorf("the block had up to %d words, and was made anew: %v", most, shrunk)
	}
}
