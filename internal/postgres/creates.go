package postgres

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

const (
	// SQL does not define the order of the rows of RETURNING, so the ids are assigned to the positions before anything is
	// stored.
	insertPets = `
		WITH fresh AS MATERIALIZED (
			SELECT nextval('pets_id') AS id, pet.*
			FROM unnest($1::text[], $2::bigint[], $3::smallint[]) WITH ORDINALITY AS pet (name, category_id, status, position)
		), stored AS (
			INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
			SELECT id, name, category_id, status FROM fresh
		)
		SELECT id, position FROM fresh`

	// The statement is like insertPets, but an animal may have an idempotency key. Then the statement stores the animal only if
	// it can claim the key, together with the answer. The program passes an answer without its beginning, which has the id.
	insertPetsOnce = `
		WITH fresh AS MATERIALIZED (
			SELECT nextval('pets_id') AS id, pet.*
			FROM ` + waitBriefly + `, unnest($1::text[], $2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::bytea[], $7::bigint[], $8::text[])
				WITH ORDINALITY AS pet (name, category_id, status, owner, key, fingerprint, at, answer, position)
		), claimed AS (
			INSERT INTO idempotency (owner, key, fingerprint, answer, created_at)
			SELECT owner, key, fingerprint, '{"ID":' || id || answer, coalesce(at, ` + nowMillis + `) FROM fresh WHERE key IS NOT NULL
			ON CONFLICT DO NOTHING RETURNING owner, key
		), free AS MATERIALIZED (
			SELECT fresh.* FROM fresh LEFT JOIN claimed USING (owner, key) WHERE fresh.key IS NULL OR claimed.key IS NOT NULL
		), stored AS (
			INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
			SELECT id, name, category_id, status FROM free
		)
		SELECT id, position FROM free`
)

// create is an animal to store.
type create struct {
	pet  petstore.NewPet
	once *petstore.Idempotency
}

// CreatePet stores an animal, together with the animals that others create at the same time. The animal gets a transaction of
// its own if its idempotency key was used before.
func (db *DB) CreatePet(ctx context.Context, pet petstore.NewPet, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	if err := ctx.Err(); err != nil {
		return petstore.Pet{}, false, failure(err)
	}
	// Once its animal is accepted, a caller waits for the result even if ctx ends.
	created, err := db.creates.Do(context.Background(), create{pet, idempotency})
	if created.ID != 0 || err != nil && !mustSeparate(err) {
		return created, false, writeFailure(err)
	}
	return doOnce(detached(ctx), db, idempotency, func(ctx context.Context, tx pgx.Tx) (petstore.Pet, error) {
		made := petstore.Pet{NewPet: pet}
		err := tx.QueryRow(ctx, insertPets, []string{pet.Name}, []int64{pet.CategoryID}, []int16{int16(pet.Status)}).Scan(&made.ID, nil)
		return made, err
	})
}

// createBatch stores animals in one statement. For an animal whose idempotency key was used before, it returns a zero animal.
func (db *DB) createBatch(creates []create) ([]petstore.Pet, error) {
	created := make([]petstore.Pet, len(creates))
	order := inOrderOfKeys(len(creates), func(i int) *petstore.Idempotency { return creates[i].once })
	pets, records := make([]petstore.NewPet, len(order)), make([]*petstore.Idempotency, len(order))
	for i, at := range order {
		pets[i], records[i] = creates[at].pet, creates[at].once
	}
	names, categories, statuses := petColumns(pets)
	sql, args := insertPets, []any{names, categories, statuses}
	if records[len(records)-1] != nil {
		answers, err := answersWithoutID(pets)
		if err != nil {
			return nil, err
		}
		sql, args = insertPetsOnce, append(append(args, keyColumns(records)...), answers)
	}
	err := db.write(context.Background(), func(ctx context.Context, conn *pgxpool.Conn) error {
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		var id, position int64
		_, err = pgx.ForEachRow(rows, []any{&id, &position}, func() error {
			created[order[position-1]] = petstore.Pet{ID: id, NewPet: pets[position-1]}
			return nil
		})
		return err
	})
	if db.batched != nil {
		db.batched(len(creates))
	}
	return created, err
}

// AddPets stores animals in one transaction.
func (db *DB) AddPets(ctx context.Context, pets []petstore.NewPet, idempotency *petstore.Idempotency) (bool, error) {
	_, replayed, err := doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (int, error) {
		names, categories, statuses := petColumns(pets)
		_, err := tx.Exec(ctx, insertPets, names, categories, statuses)
		return len(pets), err
	})
	return replayed, err
}

// petColumns returns the parameters of insertPets.
func petColumns(pets []petstore.NewPet) (names []string, categories []int64, statuses []int16) {
	names, categories, statuses = make([]string, len(pets)), make([]int64, len(pets)), make([]int16, len(pets))
	for i, pet := range pets {
		names[i], categories[i], statuses[i] = pet.Name, pet.CategoryID, int16(pet.Status)
	}
	return names, categories, statuses
}

// answersWithoutID returns the answers of creates as idempotency records have them, but without the beginning, which has the
// id.
func answersWithoutID(pets []petstore.NewPet) ([]string, error) {
	answers := make([]string, len(pets))
	for i, pet := range pets {
		answer, err := json.Marshal(petstore.Pet{NewPet: pet})
		if err != nil {
			return nil, err
		}
		answers[i] = strings.TrimPrefix(string(answer), `{"ID":0`)
	}
	return answers, nil
}
