package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	// The query is one statement, so that facts and photos are of one moment.
	selectProfiles = `
		SELECT pets.id, coalesce(breed, ''), coalesce(sex, ''), coalesce(born_on, ''), coalesce(arrived_on, ''),
			coalesce(description, ''), coalesce(tags, ''), coalesce(notes, ''), coalesce(cover_id, 0), coalesce((
				SELECT json_agg(json_build_object('ID', photos.id, 'Token', token, 'Width', width, 'Height', height, 'CreatedAt', created_at))
				FROM photos WHERE photos.pet_id = pets.id
			), '[]')::text
		FROM pets LEFT JOIN profiles ON profiles.pet_id = pets.id
		WHERE pets.id = ANY ($1)`
	putProfile = `
		INSERT INTO profiles (pet_id, breed, sex, born_on, arrived_on, description, tags, notes, cover_id)
		SELECT $1::bigint, $2, $3, $4, $5, $6, $7, $8, $9::bigint WHERE EXISTS (SELECT FROM pets WHERE id = $1)
		ON CONFLICT (pet_id) DO UPDATE SET breed = excluded.breed, sex = excluded.sex, born_on = excluded.born_on, arrived_on = excluded.arrived_on,
			description = excluded.description, tags = excluded.tags, notes = excluded.notes, cover_id = excluded.cover_id`
)

// profileRow is what is stored about an animal: its facts, the choice of its cover, and its photos in any order.
type profileRow struct {
	petstore.StoredProfile
	photos []petstore.Photo
}

func (r profileRow) profile() petstore.Profile {
	return petstore.NewProfile(r.Facts, r.Cover, slices.Clone(r.photos))
}

// GetProfile returns the profile of one animal.
func (db *DB) GetProfile(ctx context.Context, petID int64) (profile petstore.Profile, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		row, err := getProfile(ctx, db.pool, petID)
		profile = row.profile()
		return err
	})
	return profile, err
}

// Profiles returns the profiles of animals.
func (db *DB) Profiles(ctx context.Context, petIDs []int64) (profiles map[int64]petstore.Profile, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, err := queryProfiles(ctx, db.pool, petIDs)
		profiles = make(map[int64]petstore.Profile, len(rows))
		for _, row := range rows {
			profiles[row.PetID] = row.profile()
		}
		return err
	})
	return profiles, err
}

func getProfile(ctx context.Context, q querier, petID int64) (profileRow, error) {
	rows, err := queryProfiles(ctx, q, []int64{petID})
	if err != nil {
		return profileRow{}, err
	}
	if len(rows) == 0 {
		return profileRow{}, petstore.NoSuchPet()
	}
	return rows[0], nil
}

// queryProfiles returns a row for each of these animals that exists.
func queryProfiles(ctx context.Context, q querier, petIDs []int64) ([]profileRow, error) {
	rows, _ := q.Query(ctx, selectProfiles, petIDs)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (found profileRow, err error) {
		var photos string
		if found.StoredProfile, err = scanProfile(row, &photos); err == nil {
			found.photos, err = decodePhotos(photos)
		}
		return found, err
	})
}

func scanProfile(row pgx.Row, more ...any) (p petstore.StoredProfile, err error) {
	err = row.Scan(append([]any{&p.PetID, &p.Breed, &p.Sex, &p.BornOn, &p.ArrivedOn, &p.Description, &p.Tags, &p.Notes, &p.Cover}, more...)...)
	return p, err
}

// decodePhotos reads the photos that selectProfiles returns.
func decodePhotos(text string) (photos []petstore.Photo, err error) {
	var stored []struct {
		ID            int64
		Token         string
		Width, Height int
		CreatedAt     int64
	}
	err = json.Unmarshal([]byte(text), &stored)
	for _, p := range stored {
		photos = append(photos, petstore.Photo{ID: p.ID, Token: p.Token, Width: p.Width, Height: p.Height, CreatedAt: time.UnixMilli(p.CreatedAt).UTC()})
	}
	return photos, err
}

// UpdateProfile changes the facts of an animal under the lock on it.
func (db *DB) UpdateProfile(ctx context.Context, petID int64, patch petstore.ProfilePatch, idempotency *petstore.Idempotency) (petstore.Profile, bool, error) {
	return db.changeProfile(ctx, petID, idempotency, func(before profileRow) (petstore.StoredProfile, error) {
		after := before.StoredProfile
		after.Facts = after.Facts.Patch(patch)
		return after, nil
	})
}

// changeProfile makes a change to a profile under the lock on its animal. An answer that is too large for its idempotency
// record is read anew when it is repeated.
func (db *DB) changeProfile(ctx context.Context, petID int64, idempotency *petstore.Idempotency, change func(profileRow) (petstore.StoredProfile, error)) (profile petstore.Profile, replayed bool, err error) {
	recorded, replayed, err := doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (*petstore.Profile, error) {
		row, err := lockProfile(ctx, tx, petID)
		if err != nil {
			return nil, err
		}
		before, shown := row.StoredProfile, row.profile()
		if row.StoredProfile, err = change(row); err != nil {
			return nil, err
		}
		profile = row.profile()
		if row.StoredProfile == before {
			return profile.Recorded(), nil
		}
		if _, err := tx.Exec(ctx, putProfile, profileArgs(row.StoredProfile)...); err != nil {
			return nil, err
		}
		return profile.Recorded(), noteProfile(ctx, tx, petID, shown, profile)
	})
	switch {
	case err != nil:
		return petstore.Profile{}, false, err
	case !replayed:
		return profile, false, nil
	case recorded != nil:
		return *recorded, true, nil
	}
	profile, err = db.GetProfile(detached(ctx), petID)
	return profile, true, err
}

// lockProfile locks an animal and returns its profile as it is then.
func lockProfile(ctx context.Context, tx pgx.Tx, petID int64) (profileRow, error) {
	_, err := scanPet(tx.QueryRow(ctx, lockOnePet, petID))
	if errors.Is(err, pgx.ErrNoRows) {
		err = petstore.NoSuchPet()
	}
	if err != nil {
		return profileRow{}, err
	}
	return getProfile(ctx, tx, petID)
}

func profileArgs(p petstore.StoredProfile) []any {
	return []any{p.PetID, p.Breed, string(p.Sex), p.BornOn, p.ArrivedOn, p.Description, string(p.Tags), p.Notes, p.Cover}
}
