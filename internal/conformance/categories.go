package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"petstore/internal/petstore"
)

func (t storageTest) createCategory(name string) petstore.Category {
	t.Helper()
	category, replayed, err := t.CreateCategory(t.Context(), name, nil)
	t.noError(err)
	t.same("replayed", replayed, false)
	t.same("name", category.Name, name)
	return category
}

func (t storageTest) nameCategory(id int64, name string, wantNew bool) petstore.Category {
	t.Helper()
	category := petstore.Category{ID: id, Name: name}
	isNew, _, err := t.NameCategory(t.Context(), category, nil)
	t.noError(err)
	t.same("new", isNew, wantNew)
	return category
}

func (t storageTest) categories(from int64, limit int) []petstore.Category {
	t.Helper()
	categories, err := t.ListCategories(t.Context(), petstore.CategoryQuery{From: from, Limit: limit})
	t.noError(err)
	return append([]petstore.Category{}, categories...)
}

func (t storageTest) allCategories() []petstore.Category {
	t.Helper()
	return t.categories(math.MinInt64, 1000)
}

var categoryCases = []storageCase{
	{"an empty storage has no categories", func(t storageTest) {
		t.same("listed", len(t.allCategories()), 0)
		_, err := t.GetCategory(t.Context(), 1)
		t.refused(err, petstore.NotFound)
		t.refused(errorOf(t.DeleteCategory(t.Context(), 1, nil)), petstore.NotFound)
	}},
	{"the first categories of an empty storage are 1, 2 and 3", func(t storageTest) {
		for i, name := range []string{"Dogs", "Cats", "🐹"} {
			category := t.createCategory(name)
			t.same("id", category.ID, int64(i+1))
			got, err := t.GetCategory(t.Context(), category.ID)
			t.noError(err)
			t.same("got", got, category)
		}
	}},
	{"the counter begins after the highest category number of the pets at that time", func(t storageTest) {
		for _, id := range []int64{7, -3, 41, math.MaxInt64, 1<<53 - 2, petstore.CategoryBound} {
			t.add(petstore.NewPet{Name: "Rex", CategoryID: id, Status: petstore.Sold})
		}
		t.same("first", t.createCategory("Dogs").ID, int64(42))
		t.add(petstore.NewPet{Name: "Rex", CategoryID: 90, Status: petstore.Sold})
		t.same("second", t.createCategory("Cats").ID, int64(43))
	}},
	{"a refused category does not create the counter", func(t storageTest) {
		t.nameCategory(1, "Dogs", true)
		_, _, err := t.CreateCategory(t.Context(), "Dogs", nil)
		t.refused(err, petstore.NameTaken)
		t.add(petstore.NewPet{Name: "Rex", CategoryID: 500, Status: petstore.Sold})
		t.same("first", t.createCategory("Cats").ID, int64(501))
	}},
	{"with pets of negative categories only, the counter begins at 1", func(t storageTest) {
		t.add(petstore.NewPet{Name: "Rex", CategoryID: -3, Status: petstore.Sold})
		t.same("first", t.createCategory("Dogs").ID, int64(1))
	}},
	{"the counter never goes back, and skips numbers that have a name", func(t storageTest) {
		t.createCategory("Dogs")
		t.nameCategory(2, "Cats", true)
		t.nameCategory(3, "Birds", true)
		fish := t.createCategory("Fish")
		t.same("after named ones", fish.ID, int64(4))
		t.noError(errorOf(t.DeleteCategory(t.Context(), fish.ID, nil)))
		t.noError(errorOf(t.DeleteCategory(t.Context(), 2, nil)))
		t.same("after a delete", t.createCategory("Fish").ID, int64(5))
	}},
	{"any number can be named and renamed", func(t storageTest) {
		for i, id := range []int64{0, -1, 7, math.MaxInt64, math.MinInt64} {
			name := fmt.Sprint("category ", i)
			want := t.nameCategory(id, name, true)
			t.nameCategory(id, name, false)
			got, err := t.GetCategory(t.Context(), id)
			t.noError(err)
			t.same("got", got, want)
			want = t.nameCategory(id, name+" again", false)
			got, err = t.GetCategory(t.Context(), id)
			t.noError(err)
			t.same("renamed", got, want)
		}
	}},
	{"a name that another category has is refused", func(t storageTest) {
		dogs := t.createCategory("Dogs")
		cats := t.createCategory("Cats")
		_, _, err := t.CreateCategory(t.Context(), "Dogs", nil)
		t.refused(err, petstore.NameTaken)
		_, _, err = t.NameCategory(t.Context(), petstore.Category{ID: cats.ID, Name: "Dogs"}, nil)
		t.refused(err, petstore.NameTaken)
		_, _, err = t.NameCategory(t.Context(), petstore.Category{ID: 99, Name: "Dogs"}, nil)
		t.refused(err, petstore.NameTaken)
		t.same("listed", t.allCategories(), []petstore.Category{dogs, cats})
		t.noError(errorOf(t.DeleteCategory(t.Context(), dogs.ID, nil)))
		t.nameCategory(99, "Dogs", true)
	}},
	{"names are compared by code point and kept verbatim", func(t storageTest) {
		names := []string{"Dogs", "dogs", "Dogs ", " Dogs", "DOGS", "Döner", "Do\u0308ner", "ß", "ss", "I", "ı", "i", strings.Repeat("🐕", petstore.MaxCategoryNameLength)}
		for _, name := range names {
			t.createCategory(name)
		}
		var got []string
		for _, category := range t.allCategories() {
			got = append(got, category.Name)
		}
		t.same("listed", got, names)
	}},
	{"categories are listed by number, page by page", func(t storageTest) {
		var all []petstore.Category
		for _, id := range []int64{math.MinInt64, -5, 0, 3, 1 << 60, math.MaxInt64} {
			all = append(all, petstore.Category{ID: id, Name: fmt.Sprint(id)})
		}
		for _, category := range slices.Backward(all) {
			t.nameCategory(category.ID, category.Name, true)
		}
		t.same("listed", t.allCategories(), all)
		t.same("the first", t.categories(math.MinInt64, 2), all[:2])
		t.same("the next", t.categories(all[1].ID+1, 2), all[2:4])
		t.same("the last", t.categories(math.MaxInt64, 2), all[5:])
	}},
	{"a repeated request creates one category", func(t storageTest) {
		category, _, err := t.CreateCategory(t.Context(), "Dogs", idempotency("k", 1))
		t.noError(err)
		t.nameCategory(category.ID, "Hounds", false)
		again, replayed, err := t.CreateCategory(t.Context(), "Dogs", idempotency("k", 1))
		t.noError(err)
		t.same("replayed", replayed, true)
		t.same("the answer", again, category)
		t.noError(errorOf(t.DeleteCategory(t.Context(), category.ID, nil)))
		again, _, err = t.CreateCategory(t.Context(), "Dogs", idempotency("k", 1))
		t.noError(err)
		t.same("the answer after it was deleted", again, category)
		t.same("listed", len(t.allCategories()), 0)
	}},
	{"a refused category does not use up its key", func(t storageTest) {
		taken := t.createCategory("Dogs")
		_, _, err := t.CreateCategory(t.Context(), "Dogs", idempotency("k", 1))
		t.refused(err, petstore.NameTaken)
		t.noError(errorOf(t.DeleteCategory(t.Context(), taken.ID, nil)))
		_, replayed, err := t.CreateCategory(t.Context(), "Dogs", idempotency("k", 1))
		t.noError(err)
		t.same("replayed", replayed, false)
	}},
	{"concurrent creates get different numbers, and each name is created once", func(t storageTest) {
		var made atomic.Int64
		t.concurrently(40, func(i int) error {
			_, _, err := t.CreateCategory(t.Context(), fmt.Sprint("name ", i%20), nil)
			if err == nil {
				made.Add(1)
				return nil
			}
			return checkRefusal(err, petstore.NameTaken)
		})
		t.same("made", made.Load(), int64(20))
		t.same("listed", len(t.allCategories()), 20)
	}},
	{"of concurrent names for one number, one stays", func(t storageTest) {
		var isNew atomic.Int64
		t.concurrently(20, func(i int) error {
			fresh, _, err := t.NameCategory(t.Context(), petstore.Category{ID: 5, Name: fmt.Sprint("name ", i)}, nil)
			if fresh {
				isNew.Add(1)
			}
			return err
		})
		t.same("made", isNew.Load(), int64(1))
		t.same("listed", len(t.allCategories()), 1)
	}},
}
