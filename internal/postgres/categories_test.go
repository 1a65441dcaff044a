package postgres

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestANewCategorySkipsAnyNumberOfNames(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	execute(t, url, "INSERT INTO categories SELECT n, 'Category ' || n FROM generate_series(1, 100000) n")
	category, _, err := db.CreateCategory(t.Context(), "Dogs", nil)
	if err != nil || category.ID != 100_001 {
		t.Errorf("got %+v, %v", category, err)
	}
}

// Another replica is creating the counter, and is slow to commit.
func TestTheFirstCategoriesShareOneConnection(t *testing.T) {
	t.Parallel()
	url := testservice.Postgres(t)
	db := open(t, url)
	pet := mustCreate(t, db)
	slow := holdLocks(t, url, "INSERT INTO category_counter (next) VALUES (1)")
	var all sync.WaitGroup
	for i := range 2 * maxConns {
		all.Go(func() {
			if _, _, err := db.CreateCategory(t.Context(), fmt.Sprint("Category ", i), nil); err != nil {
				t.Error(err)
			}
		})
	}
	caller, giveUp := context.WithCancel(t.Context())
	all.Go(func() {
		if _, _, err := db.CreateCategory(caller, "never", nil); !petstore.IsCode(err, petstore.Unavailable) {
			t.Errorf("a caller that gives up gets %v", err)
		}
	})
	awaitLockWaits(t, url, 1)
	giveUp()
	if _, err := db.GetPet(t.Context(), pet.ID); err != nil {
		t.Errorf("meanwhile an animal cannot be read: %v", err)
	}
	for deadline := time.Now().Add(time.Minute); db.Connections().Busy > 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("they use %d connections", db.Connections().Busy)
		}
	}
	noError(t, errorOf(slow.Exec(t.Context(), "COMMIT")))
	all.Wait()
	if categories, err := db.ListCategories(t.Context(), petstore.CategoryQuery{From: math.MinInt64, Limit: 100}); len(categories) != 2*maxConns {
		t.Errorf("there are %d categories, %v", len(categories), err)
	}
}

func TestTheFirstCategoryDoesNotKeepTheStoreFromClosing(t *testing.T) {
	t.Parallel()
	url := testservice.Postgres(t)
	db := open(t, url)
	holdLocks(t, url, "INSERT INTO category_counter (next) VALUES (1)")
	ended := make(chan error)
	go func() { _, _, err := db.CreateCategory(t.Context(), "dogs", nil); ended <- err }()
	awaitLockWaits(t, url, 1)
	db.Close()
	if err := <-ended; !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("got %v", err)
	}
}
