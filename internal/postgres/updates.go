package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

// Patches of different animals are one statement, so that the trigger on the table runs once for all of them. Like the
// statements of changes.go, it skips an animal that is locked or that an order is in the way of: an overdue order, or, if the patch sets the
// status, an order that may hold the animal. The condition on $1 keeps
// the planner from reading the whole table for a join.
const updateAllFree = `
	WITH patches AS MATERIALIZED (
		SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::smallint[]) AS patch (id, name, category_id, status)
	), free AS (
		SELECT pets.id FROM pets JOIN patches ON patches.id = pets.id
		WHERE pets.id = ANY ($1) AND (pets.status <> 2 OR patches.status IS NULL AND NOT EXISTS (
			SELECT FROM orders WHERE pet_id = pets.id AND orders.status = 1 AND expires_at <= ` + nowMillis + `))
		FOR UPDATE OF pets SKIP LOCKED
	)
	UPDATE pets SET name = coalesce(patch.name, pets.name), category_id = coalesce(patch.category_id, pets.category_id),
		status = coalesce(patch.status, pets.status)
	FROM free JOIN patches AS patch ON patch.id = free.id
	WHERE pets.id = free.id AND (pets.name, pets.category_id, pets.status)
		<> (coalesce(patch.name, pets.name), coalesce(patch.category_id, pets.category_id), coalesce(patch.status, pets.status))
	RETURNING pets.id, pets.name, pets.category_id, pets.status`

// update is a patch of one animal.
type update struct {
	id    int64
	patch petstore.PetPatch
}

// tryUpdate changes an animal, together with all updates that arrive at the same time. It reports whether it changed the
// animal.
func (db *DB) tryUpdate(ctx context.Context, id int64, patch petstore.PetPatch) (pet petstore.Pet, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return pet, false, failure(err)
	}
	// Once its patch is accepted, a caller waits for the result even if ctx ends.
	pet, err = db.updates.Do(context.Background(), update{id, patch})
	if isFaulty(err) {
		return pet, false, nil
	}
	return pet, pet.ID != 0, writeFailure(err)
}

// updateBatch changes animals in one transaction and one round trip. It returns a zero animal for an update that changed
// nothing.
func (db *DB) updateBatch(updates []update) ([]petstore.Pet, error) {
	rounds := updateRounds(updates)
	batch := &pgx.Batch{}
	for _, round := range rounds {
		batch.Queue(updateAllFree, updateColumns(updates, round)...)
	}
	changed := make([]petstore.Pet, len(updates))
	err := db.write(context.Background(), func(ctx context.Context, conn *pgxpool.Conn) error {
		results := conn.SendBatch(ctx, batch)
		defer results.Close()
		for _, round := range rounds {
			rows, err := results.Query()
			if err != nil {
				return err
			}
			pets, err := collectPets(rows)
			if err != nil {
				return err
			}
			for _, pet := range pets {
				changed[round[pet.ID]] = pet
			}
		}
		return results.Close()
	})
	return changed, err
}

// updateRounds divides updates into rounds, so that no round has two updates of one animal. A round maps the id of an animal
// to the position of its update.
func updateRounds(updates []update) (rounds []map[int64]int) {
	earlier := make(map[int64]int, len(updates)) // how many updates of an animal there are so far
	for i, u := range updates {
		n := earlier[u.id]
		earlier[u.id]++
		if n == len(rounds) {
			rounds = append(rounds, make(map[int64]int, len(updates)))
		}
		rounds[n][u.id] = i
	}
	return rounds
}

// updateColumns returns the parameters of updateAllFree.
func updateColumns(updates []update, round map[int64]int) []any {
	ids, names := make([]int64, 0, len(round)), make([]*string, 0, len(round))
	categories, statuses := make([]*int64, 0, len(round)), make([]*int16, 0, len(round))
	for id, i := range round {
		patch := updates[i].patch
		ids, names = append(ids, id), append(names, patch.Name)
		categories = append(categories, patch.CategoryID)
		var status *int16
		if patch.Status != nil {
			status = new(int16(*patch.Status))
		}
		statuses = append(statuses, status)
	}
	return []any{ids, names, categories, statuses}
}
