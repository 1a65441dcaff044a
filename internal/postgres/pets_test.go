package postgres

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestTheLongestNameFits(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	random := rand.New(rand.NewPCG(1, 2))
	name := make([]rune, petstore.MaxNameLength) // of four bytes each, which no compression makes shorter
	for i := range name {
		name[i] = 0x10000 + random.Int32N(0x10_0000)
	}
	want, _, err := db.CreatePet(t.Context(), petstore.NewPet{Name: string(name), Status: petstore.Sold}, nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := db.ListPets(t.Context(), petstore.PetQuery{Status: petstore.Sold, Limit: 1})
	if err != nil || len(page) != 1 || page[0] != want {
		t.Errorf("listed %v, %v", page, err)
	}
}

// TestEveryReadWalksAnIndex holds for whatever the planner knows of the table, since the walk down a wrong index is
// the length of the table.
func TestEveryReadWalksAnIndex(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	const oneInAThousandIsSold = `
		INSERT INTO pets (name, category_id, status)
		SELECT 'Pet ' || n, 0, CASE WHEN mod(n, 1000) = 0 THEN 3 ELSE 1 END FROM generate_series(1, %d) n`
	for _, state := range []struct{ name, sql string }{
		{"an empty table", "SELECT"},
		{"a table of a few animals", fmt.Sprintf(oneInAThousandIsSold, 10)},
		{"a table of a few animals, with statistics", "ANALYZE pets"},
		{"a large table with the statistics of a small one", fmt.Sprintf(oneInAThousandIsSold, 30_000)},
		{"a large table", "ANALYZE pets"},
	} {
		t.Run(state.name, func(t *testing.T) {
			if _, err := db.pool.Exec(t.Context(), state.sql); err != nil {
				t.Fatal(err)
			}
			for _, read := range []struct{ types, sql, args, index string }{
				{"(bigint, bigint, smallint)", selectPetsOfStatus, "(20000, 20, 3::smallint)", "pets_by_status"},
				{"(bigint, bigint)", selectPets, "(20000, 20)", "pets_pkey"},
				{"(bigint[])", selectPetsByID, "('{1, 2, 3}')", "pets_pkey"},
			} {
				plan := explain(t, db, read.types, read.sql, read.args)
				if !strings.Contains(plan, read.index) || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Sort") {
					t.Errorf("%s\nis planned as\n%s", read.sql, plan)
				}
			}
		})
	}
}

// explain returns the plan of a statement that is prepared once and then used for any arguments. Types and arguments are
// in parentheses, if there are any.
func explain(t *testing.T, db *DB, types, sql, args string) string {
	t.Helper()
	var plan []string
	err := pgx.BeginFunc(t.Context(), db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "DEALLOCATE ALL"); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), "PREPARE p "+types+" AS "+sql); err != nil {
			return err
		}
		rows, err := tx.Query(t.Context(), "EXPLAIN EXECUTE p "+args, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return err
		}
		plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
