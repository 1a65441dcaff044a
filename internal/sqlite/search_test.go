package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
)

// indexAll indexes every animal.
func indexAll(t testing.TB, db *DB) {
	t.Helper()
	for left := int64(1); left > 0; {
		var err error
		left, _, err = db.indexSome(t.Context(), minIndexRows)
		noError(t, err)
	}
}

// indexedFirst is a database whose searches follow the index wherever they can.
type indexedFirst struct {
	*DB
	lists atomic.Int64
}

func (db *indexedFirst) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	left := db.lists.Add(1) % 4 // at every fourth list, a few animals are above the index, and some of it is stale
	for left > 0 {
		var err error
		if left, _, err = db.indexSome(ctx, minIndexRows); err != nil {
			return nil, err
		}
	}
	return db.DB.ListPets(ctx, q)
}

func TestSearchesThatFollowTheIndexConform(t *testing.T) {
	conformance.Searches(t, func(t *testing.T) petstore.Database {
		db := openNew(t)
		db.scanPages = 0
		return &indexedFirst{DB: db}
	})
}

// names returns the names of the animals that a search finds.
func names(t testing.TB, db *DB, text string) string {
	t.Helper()
	found, err := db.ListPets(t.Context(), petstore.PetQuery{Search: text, Limit: 100})
	noError(t, err)
	var names []string
	for _, pet := range found {
		names = append(names, pet.Name)
	}
	return strings.Join(names, "; ")
}

func setBreed(t testing.TB, db *DB, petID int64, breed string) {
	t.Helper()
	_, _, err := db.UpdateProfile(t.Context(), petID, petstore.ProfilePatch{Breed: &breed}, nil)
	noError(t, err)
}

// search returns the names of the animals that a search finds, and compares them with the rule of the domain.
func search(t testing.TB, db *DB, q petstore.PetQuery) string {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 1_000_000
	}
	found, err := db.ListPets(t.Context(), q)
	noError(t, err)
	all, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 1_000_000})
	noError(t, err)
	words := petstore.Words(q.Search)
	want := slices.DeleteFunc(all, func(pet petstore.Pet) bool {
		return !q.Selects(pet) || !petstore.FoundBy(petstore.Words(pet.Name), words)
	})
	if want = want[:min(len(want), q.Limit)]; !slices.Equal(found, want) {
		t.Fatalf("%+v finds %v, want %v", q, found, want)
	}
	var names []string
	for _, pet := range found {
		names = append(names, pet.Name)
	}
	return strings.Join(names, "; ")
}

func addPets(t testing.TB, db *DB, names ...string) {
	t.Helper()
	for _, name := range names {
		_, _, err := db.CreatePet(t.Context(), petstore.NewPet{Name: name, Status: petstore.Available}, nil)
		noError(t, err)
	}
}

func TestWordsOfEveryLengthAreFoundByTheIndex(t *testing.T) {
	db := openNew(t)
	db.scanPages = 0
	letters := "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
	addPets(t, db, letters[:8]+"z") // which a search finds by the whole word, because too many others begin with its 8 letters
	for i := range 2 * maxShortMatches {
		addPets(t, db, fmt.Sprint(letters[:9], letters[9:17][i%8:], i))
	}
	var han []rune // a hundred words
	for i := range rune(petstore.MaxSearchLength) {
		han = append(han, '一'+i)
	}
	addPets(t, db, letters, string(han), "Ünïcödé"+letters)
	indexAll(t, db)
	for n := 1; n <= len(letters); n++ {
		search(t, db, petstore.PetQuery{Search: letters[:n], Limit: 3})
		search(t, db, petstore.PetQuery{Search: letters[:n] + "0", Limit: 3})
		search(t, db, petstore.PetQuery{Search: "unicode" + letters[:n]})
	}
	for _, text := range []string{letters[:8] + "z", letters[:9] + "nopq1999", letters[:9] + "q7", string(han), string(han[50:]), string(han[1:]) + "犬", "ünïcödé abcdef"} {
		search(t, db, petstore.PetQuery{Search: text})
	}
}

func TestEveryCategoryIsFoundByTheIndex(t *testing.T) {
	db := openNew(t)
	db.scanPages = 0
	categories := []int64{0, 1, -1, 2, 1<<14 - 1, 1 << 14, -1 << 14, 1 << 15, 1 << 30, 1<<63 - 1, -1 << 63}
	for _, category := range categories {
		_, _, err := db.CreatePet(t.Context(), petstore.NewPet{Name: fmt.Sprint(category), CategoryID: category, Status: petstore.Sold}, nil)
		noError(t, err)
	}
	indexAll(t, db)
	for _, category := range categories {
		if got := search(t, db, petstore.PetQuery{Category: category, OfCategory: true}); got != fmt.Sprint(category) {
			t.Errorf("category %d has %q", category, got)
		}
	}
}

func TestAnAnimalThatAnotherProgramRenamesIsFound(t *testing.T) {
	db := openNew(t)
	db.scanPages = 0
	addPets(t, db, "Rex", "Max", "Zoe")
	indexAll(t, db)
	executeScript(t, db.path, "UPDATE pets SET name = 'Bella', category_id = 7 WHERE id = 2; DELETE FROM pets WHERE id = 3; INSERT INTO pets (name, category_id, status) VALUES ('Bello', 7, 1)")
	for range 2 {
		for text, want := range map[string]string{"bel": "Bello; Bella", "max": "", "zoe": "", "rex": "Rex"} {
			found, err := db.ListPets(t.Context(), petstore.PetQuery{Search: text, Limit: 10})
			noError(t, err)
			names := ""
			for _, pet := range found {
				names = strings.Trim(names+"; "+pet.Name, "; ")
			}
			if names != want {
				t.Errorf("%q finds %q, want %q", text, names, want)
			}
		}
		indexAll(t, db)
	}
	checkIntegrity(t, db)
}

func TestAnimalsThatACopyPutsBetweenOthersAreFound(t *testing.T) {
	db := open(t, Config{Path: filepath.Join(t.TempDir(), "pets.db"), Create: true})
	db.scanPages = 0
	pet := func(id int64, name string) petstore.Pet {
		return petstore.Pet{ID: id, NewPet: petstore.NewPet{Name: name, Status: petstore.Sold}}
	}
	noError(t, db.ReplacePets(t.Context(), []petstore.Pet{pet(10, "Rex"), pet(20, "Max"), pet(30, "Zoe")}, nil))
	indexAll(t, db)
	noError(t, db.ReplacePets(t.Context(), []petstore.Pet{pet(5, "Rex"), pet(20, "Rexa"), pet(25, "Rexo")}, []petstore.Pet{pet(30, "Zoe")}))
	for range 2 {
		for text, want := range map[string]string{"rex": "Rexo; Rexa; Rex; Rex", "max": "", "zoe": ""} {
			if got := search(t, db, petstore.PetQuery{Search: text}); got != want {
				t.Errorf("%q finds %q, want %q", text, got, want)
			}
		}
		indexAll(t, db)
	}
	checkIntegrity(t, db)
}

func TestASearchThatTakesTooLongIsRefused(t *testing.T) {
	db := openNew(t)
	db.scanPages = 0
	executeScript(t, db.path, numberedPets(100))
	indexAll(t, db)
	const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0 AND ?1 <> ?2"
	replaceMatches(t, db, endless)
	var all sync.WaitGroup
	for range 2 * cap(db.searchers) { // half of them wait for a connection
		all.Go(func() {
			if _, err := db.ListPets(t.Context(), petstore.PetQuery{Search: "odd", Limit: 20}); !errors.Is(err, petstore.ErrSearchTimeout) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after its time, a search returned %v", err)
			}
		})
	}
	all.Wait()
	replaceMatches(t, db, selectMatches)
	for range 2 * cap(db.searchers) { // every connection works again
		if got := search(t, db, petstore.PetQuery{Search: "odd 9"}); !strings.HasSuffix(got, "odd 9") {
			t.Errorf("a search finds %.100q", got)
		}
	}
}

// replaceMatches replaces the statement with which searches follow the index.
func replaceMatches(t *testing.T, db *DB, query string) {
	t.Helper()
	db.searchers.pause(func(searchers []*searcher) {
		for _, s := range searchers {
			stmt, err := s.conn.Prepare(query)
			noError(t, err)
			s.matches = stmt
		}
	})
}

// numberedPets is a script that stores animals with the names "pet even 60000", "pet odd 59999" and so on.
func numberedPets(n int) string {
	return fmt.Sprintf(`
		INSERT INTO pets (name, category_id, status)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT 'pet ' || CASE WHEN i %% 2 THEN 'odd ' ELSE 'even ' END || i, i %% 40, i %% 3 + 1 FROM n;
		UPDATE inventory SET animals = (SELECT count(*) FROM pets WHERE pets.status = inventory.status);`, n)
}

// FuzzSearch compares searches of animals with any names, some of them indexed and some changed since, with the rule of the
// domain.
func FuzzSearch(f *testing.F) {
	f.Add("Rex\nMax\nRex Max", "rex", uint8(1))
	f.Add("Ébène\n東京タワー\nﬁfi\nStraße 12b", "eben", uint8(2))
	f.Add("near\nNOT\nc'est 100%", `NEAR("c" est)* OR -not^2 {a}:b`, uint8(0))
	f.Add("\U000F0001\U000F0000 a\n\x01\x02", "\U000F0001 a", uint8(1))
	db := openNew(f)
	db.scanPages = 0
	f.Fuzz(func(t *testing.T, names, text string, category uint8) {
		if petstore.CheckSearch(text) != "" {
			return
		}
		left, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 1_000})
		noError(t, err)
		for _, pet := range left {
			_, err := db.DeletePet(t.Context(), pet.ID, nil)
			noError(t, err)
		}
		var ids []int64
		for i, name := range strings.Split(names, "\n") {
			if petstore.CheckPetName(name) != "" || i > 20 {
				continue
			}
			pet, _, err := db.CreatePet(t.Context(), petstore.NewPet{Name: name, CategoryID: int64(i % 3), Status: petstore.Available}, nil)
			noError(t, err)
			ids = append(ids, pet.ID)
		}
		indexAll(t, db)
		for i, id := range ids {
			if i%3 == 0 {
				_, _, err := db.UpdatePet(t.Context(), id, petstore.PetPatch{Name: &text}, nil)
				noError(t, err)
			}
		}
		for range 2 {
			search(t, db, petstore.PetQuery{Search: text})
			search(t, db, petstore.PetQuery{Search: text, Category: int64(category), OfCategory: true, Limit: 2})
			search(t, db, petstore.PetQuery{Category: int64(category), OfCategory: true})
			indexAll(t, db)
		}
	})
}
