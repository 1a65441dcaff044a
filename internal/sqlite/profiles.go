package sqlite

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	// The query takes the ids of animals as a JSON array. It is one statement, so that facts and photos are of one moment.
	selectProfiles = `
		SELECT pets.id, coalesce(breed, ''), coalesce(sex, ''), coalesce(born_on, ''), coalesce(arrived_on, ''),
			coalesce(description, ''), coalesce(tags, ''), coalesce(notes, ''), coalesce(cover_id, 0), (
				SELECT json_group_array(json_object('ID', photos.id, 'Token', token, 'Width', width, 'Height', height, 'CreatedAt', created_at))
				FROM photos WHERE photos.pet_id = pets.id
			)
		FROM pets LEFT JOIN profiles ON profiles.pet_id = pets.id
		WHERE pets.id IN (SELECT value FROM json_each(?1))`
	putProfile = `
		INSERT INTO profiles (pet_id, breed, sex, born_on, arrived_on, description, tags, notes, cover_id)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
		ON CONFLICT (pet_id) DO UPDATE SET breed = ?2, sex = ?3, born_on = ?4, arrived_on = ?5, description = ?6, tags = ?7, notes = ?8, cover_id = ?9`
	removeProfile = "DELETE FROM profiles WHERE pet_id = ?1"
)

// profileRow is what is stored about an animal: its facts, the choice of its cover, and its photos in any order.
type profileRow struct {
	petstore.StoredProfile
	photos []petstore.Photo
}

func (r profileRow) profile() petstore.Profile {
	return petstore.NewProfile(r.Facts, r.Cover, r.photos)
}

// snapshot returns the profile as it is, whatever becomes of the row.
func (r profileRow) snapshot() petstore.Profile {
	profile := r.profile()
	profile.Photos = slices.Clone(profile.Photos)
	return profile
}

// GetProfile returns the profile of one animal.
func (db *DB) GetProfile(ctx context.Context, petID int64) (profile petstore.Profile, err error) {
	err = db.readVersioned(ctx, func(r *reader) error {
		row, err := getProfile(r.conn, petID)
		profile = row.profile()
		return err
	})
	return profile, err
}

// Profiles returns the profiles of animals.
func (db *DB) Profiles(ctx context.Context, petIDs []int64) (profiles map[int64]petstore.Profile, err error) {
	profiles = make(map[int64]petstore.Profile, len(petIDs))
	err = db.readVersioned(ctx, func(r *reader) error {
		return queryProfiles(r.conn, petIDs, func(row profileRow) { profiles[row.PetID] = row.profile() })
	})
	return profiles, err
}

func getProfile(conn *sqlite3.Conn, petID int64) (found profileRow, err error) {
	err = queryProfiles(conn, []int64{petID}, func(row profileRow) { found = row })
	if err == nil && found.PetID == 0 {
		err = petstore.NoSuchPet()
	}
	return found, err
}

// queryProfiles calls visit for each of these animals that exists.
func queryProfiles(conn *sqlite3.Conn, petIDs []int64, visit func(profileRow)) error {
	ids, err := json.Marshal(petIDs)
	if err != nil {
		return err
	}
	var malformed error
	err = query(conn, func(row *sqlite3.Stmt) {
		found := profileRow{StoredProfile: scanProfile(row)}
		if found.photos, err = decodePhotos(row.ColumnText(9)); err != nil {
			malformed = err
		}
		visit(found)
	}, selectProfiles, string(ids))
	if err == nil {
		err = malformed
	}
	return err
}

func scanProfile(row *sqlite3.Stmt) petstore.StoredProfile {
	return petstore.StoredProfile{
		PetID: row.ColumnInt64(0),
		Facts: petstore.Facts{
			Breed:       row.ColumnText(1),
			Sex:         petstore.Sex(row.ColumnText(2)),
			BornOn:      row.ColumnText(3),
			ArrivedOn:   row.ColumnText(4),
			Description: row.ColumnText(5),
			Tags:        petstore.Tags(row.ColumnText(6)),
			Notes:       row.ColumnText(7),
		},
		Cover: row.ColumnInt64(8),
	}
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

// UpdateProfile changes the facts of an animal in the next commit.
func (db *DB) UpdateProfile(ctx context.Context, petID int64, patch petstore.ProfilePatch, idempotency *petstore.Idempotency) (petstore.Profile, bool, error) {
	return db.changeProfile(ctx, petID, idempotency, func(before profileRow) (petstore.StoredProfile, error) {
		after := before.StoredProfile
		after.Facts = after.Facts.Patch(patch)
		return after, nil
	})
}

// changeProfile makes a change to a profile in the next commit. An answer that is too large for its idempotency record is
// read anew when it is repeated.
func (db *DB) changeProfile(ctx context.Context, petID int64, idempotency *petstore.Idempotency, change func(profileRow) (petstore.StoredProfile, error)) (profile petstore.Profile, replayed bool, err error) {
	recorded, replayed, err := doOnce(ctx, db, idempotency, func(w *writer) (*petstore.Profile, error) {
		row, err := getProfile(w.conn, petID)
		if err != nil {
			return nil, err
		}
		before, shown := row.StoredProfile, row.snapshot()
		if row.StoredProfile, err = change(row); err != nil {
			return nil, err
		}
		profile = row.profile()
		if row.StoredProfile == before {
			return profile.Recorded(), nil
		}
		w.events.noteProfile(petID, shown, profile)
		return profile.Recorded(), w.saveProfile(row.StoredProfile)
	})
	switch {
	case err != nil:
		return petstore.Profile{}, false, err
	case !replayed:
		return profile, false, nil
	case recorded != nil:
		return *recorded, true, nil
	}
	profile, err = db.GetProfile(ctx, petID)
	return profile, true, err
}

func (w *writer) saveProfile(p petstore.StoredProfile) error {
	w.breedsChanged = true
	return run(w.conn, putProfile, p.PetID, p.Breed, string(p.Sex), p.BornOn, p.ArrivedOn, p.Description, string(p.Tags), p.Notes, p.Cover)
}

// forgetPet removes the profile and the photos of an animal.
func (w *writer) forgetPet(petID int64) error {
	if err := run(w.conn, removeProfile, petID); err != nil {
		return err
	}
	return run(w.conn, removePhotosOfPet, petID)
}
