package postgres

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestTheLongestNameFits(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	random := rand.New(rand.NewPCG(1, 2))
	name := make([]rune, petstore.MaxNameLength) // random characters of four bytes each, which do not compress well
	for i := range name {
		name[i] = 0x10000 + random.Int32N(0x10_0000)
	}
	want, _, err := db.CreatePet(t.Context(), petstore.NewPet{Name: string(name), Status: petstore.Sold}, nil)
	noError(t, err)
	page, err := db.ListPets(t.Context(), petstore.PetQuery{Status: petstore.Sold, Limit: 1})
	if err != nil || len(page) != 1 || page[0] != want {
		t.Errorf("listed %v, %v", page, err)
	}
}

func TestAnimalsAreReadInEitherFormatOfTheProtocol(t *testing.T) {
	url := testservice.Postgres(t)
	want := mustCreate(t, open(t, url))
	for _, mode := range []string{"cache_statement", "exec", "simple_protocol"} {
		db := open(t, url+"&default_query_exec_mode="+mode)
		if got, err := db.GetPet(t.Context(), want.ID); err != nil || got != want {
			t.Errorf("%s: the animal is %+v, %v; want %+v", mode, got, err, want)
		}
		if got, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 2}); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: the page is %+v, %v; want %+v", mode, got, err, want)
		}
		for range 2 { // without and with stored words
			if got := names(t, db, "rex"); got != want.Name {
				t.Errorf("%s: a search finds %q", mode, got)
			}
			mustStoreWords(t, db)
		}
	}
}

func TestEachPageOfABatchIsItsOwn(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	for range 4 {
		mustCreate(t, db)
	}
	pages, err := db.listBatch([]petstore.PetQuery{{Limit: 1}, {Limit: 2, Before: 3}, {Limit: 9, Status: petstore.Sold}, {Limit: 9, Status: petstore.Available, Before: 2}})
	noError(t, err)
	var got [][]int64
	for _, page := range pages {
		got = append(got, ids(page, func(pet petstore.Pet) int64 { return pet.ID }))
	}
	if want := [][]int64{{4}, {2, 1}, {}, {1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("the pages are %v, want %v", got, want)
	}
}

// The test checks the query plans with and without statistics about the table. A walk along the wrong index would read the
// whole table.
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
			noError(t, errorOf(db.pool.Exec(t.Context(), state.sql)))
			for _, read := range []struct{ types, sql, args, index string }{
				{"(bigint, bigint, smallint)", selectPetsOfStatus, "(20000, 20, 3::smallint)", "pets_by_status"},
				{"(bigint, bigint)", selectPets, "(20000, 20)", "pets_pkey"},
				{"(bigint[])", selectPetsByID, "('{1, 2, 3}')", "pets_pkey"},
				{"(bigint[], text[], text[], text[], bigint[], smallint[])", updates.sql, "('{1, 2}', '{NULL, NULL}', '{NULL, NULL}', '{NULL, NULL}', '{1, 1}', '{NULL, NULL}')", "pets_pkey"},
				{"(bigint[], text[], text[])", deletes.sql, "('{1}', '{NULL}', '{NULL}')", "pets_pkey"},
				{"(bigint[], text[], text[], text[], bigint[])", places.sql, "('{1}', '{NULL}', '{NULL}', '{x}', '{1}')", "pets_pkey"},
				{"(bigint[], text[], text[], smallint[], smallint[])", closes.sql, "('{1}', '{NULL}', '{NULL}', '{2}', '{3}')", "pets_pkey"},
				{"(tid[], text[])", rememberAnswers, `('{"(0,1)"}', '{answer}')`, "Tid Scan on idempotency"},
				{"(tid[])", giveBackKeys, `('{"(0,1)"}')`, "Tid Scan on idempotency"},
			} {
				plan := explain(t, db, read.types, read.sql, read.args)
				if !strings.Contains(plan, read.index) || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Sort") {
					t.Errorf("%s\nis planned as\n%s", read.sql, plan)
				}
			}
		})
	}
}

// explain returns the plan for a prepared statement. The plan is the same for all arguments. The strings types and args are
// lists in parentheses, or empty.
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
	noError(t, err)
	return strings.Join(plan, "\n")
}
