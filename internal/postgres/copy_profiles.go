package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	selectStoredProfiles = `
		SELECT pet_id, breed, sex, born_on, arrived_on, description, tags, notes, cover_id FROM profiles
		WHERE pet_id > $1 ORDER BY pet_id LIMIT $2`
	selectStoredPhotos = "SELECT pet_id, id, token, width, height, created_at FROM photos WHERE id > $1 ORDER BY id LIMIT $2"
	removeProfiles     = "DELETE FROM profiles WHERE pet_id = ANY ($1)"
	putPhoto           = `
		INSERT INTO photos (id, pet_id, token, width, height, created_at, bytes, small, large) OVERRIDING SYSTEM VALUE
		SELECT $1, $2::bigint, $3, $4, $5, $6, $7, $8, $9 WHERE EXISTS (SELECT FROM pets WHERE id = $2)`
	// A sequence that is already high enough is not set, as in raisePets.
	raisePhotos = "SELECT setval('photos_id', $1) FROM photos_id WHERE last_value - (NOT is_called)::integer < $1"
)

// StoredProfiles returns profiles as they are stored.
func (db *DB) StoredProfiles(ctx context.Context, after petstore.StoredProfile, limit int) (profiles []petstore.StoredProfile, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectStoredProfiles, after.PetID, limit)
		profiles, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (petstore.StoredProfile, error) { return scanProfile(row) })
		return err
	})
	return profiles, err
}

// StoredPhotos returns photos as they are stored, without their files.
func (db *DB) StoredPhotos(ctx context.Context, after petstore.StoredPhoto, limit int) (photos []petstore.StoredPhoto, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectStoredPhotos, after.ID, limit)
		photos, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p petstore.StoredPhoto, err error) {
			var created int64
			err = row.Scan(&p.PetID, &p.ID, &p.Token, &p.Width, &p.Height, &created)
			p.CreatedAt = fromMillis(&created)
			return p, err
		})
		return err
	})
	return photos, err
}

// ReplaceProfiles stores and removes profiles.
func (db *DB) ReplaceProfiles(ctx context.Context, put, remove []petstore.StoredProfile) error {
	batch := &pgx.Batch{}
	batch.Queue(removeProfiles, ids(remove, func(p petstore.StoredProfile) int64 { return p.PetID }))
	for _, p := range put {
		batch.Queue(putProfile, profileArgs(p)...)
	}
	return db.writeCopy(ctx, batch)
}

// PutPhoto stores a photo with its files, and raises the sequence to its id.
func (db *DB) PutPhoto(ctx context.Context, photo petstore.StoredPhoto, large, small []byte) error {
	batch := &pgx.Batch{}
	batch.Queue(deletePhotos, []int64{photo.ID})
	batch.Queue(putPhoto, photo.ID, photo.PetID, photo.Token, photo.Width, photo.Height, photo.CreatedAt.UnixMilli(), len(large)+len(small), small, large)
	batch.Queue(raisePhotos, photo.ID)
	return db.writeCopy(ctx, batch)
}

// RemovePhotos removes photos.
func (db *DB) RemovePhotos(ctx context.Context, remove []petstore.StoredPhoto) error {
	batch := &pgx.Batch{}
	batch.Queue(deletePhotos, ids(remove, func(p petstore.StoredPhoto) int64 { return p.ID }))
	return db.writeCopy(ctx, batch)
}
