package postgres

import (
	"testing"

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
