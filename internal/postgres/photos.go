package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	selectLargePhoto = "SELECT large FROM photos WHERE token = $1"
	selectSmallPhoto = "SELECT small FROM photos WHERE token = $1"
	insertPhoto      = "INSERT INTO photos (pet_id, token, width, height, created_at, bytes, small, large) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id"
	deletePhotos     = "DELETE FROM photos WHERE id = ANY ($1)"
	sumPhotoBytes    = "SELECT coalesce(sum(bytes), 0)::bigint FROM photos"
)

// PhotoFile returns a file of a photo.
func (db *DB) PhotoFile(ctx context.Context, token string, size petstore.PhotoSize) (file []byte, err error) {
	statement := selectLargePhoto
	if size == petstore.SmallPhoto {
		statement = selectSmallPhoto
	}
	err = db.read(ctx, func(ctx context.Context) error {
		err := db.pool.QueryRow(ctx, statement, token).Scan(&file)
		if errors.Is(err, pgx.ErrNoRows) {
			err = petstore.NoSuchPhoto()
		}
		return err
	})
	return file, err
}

// AddPhoto stores a photo under the lock on its animal. The clock of the database says when.
func (db *DB) AddPhoto(ctx context.Context, petID int64, photo petstore.NewPhoto, idempotency *petstore.Idempotency) (petstore.Photo, bool, error) {
	return doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (added petstore.Photo, err error) {
		row, err := lockProfile(ctx, tx, petID)
		if err != nil {
			return added, err
		}
		if len(row.photos) >= petstore.MaxPhotos {
			return added, petstore.NoRoomForPhoto()
		}
		var at int64
		if err := tx.QueryRow(ctx, selectNow).Scan(&at); err != nil {
			return added, err
		}
		added = photo.Photo(time.UnixMilli(at))
		err = tx.QueryRow(ctx, insertPhoto, petID, added.Token, added.Width, added.Height, at, len(photo.Large)+len(photo.Small), photo.Small, photo.Large).
			Scan(&added.ID)
		if err != nil {
			return added, err
		}
		before := row.profile()
		row.photos = append(row.photos, added)
		return added, noteProfile(ctx, tx, petID, before, row.profile())
	})
}

// CoverPhoto makes a photo the cover under the lock on its animal.
func (db *DB) CoverPhoto(ctx context.Context, petID, photoID int64, idempotency *petstore.Idempotency) (petstore.Profile, bool, error) {
	return db.changeProfile(ctx, petID, idempotency, func(before profileRow) (petstore.StoredProfile, error) {
		after := before.StoredProfile
		after.Cover = photoID
		return after, before.expectPhoto(photoID)
	})
}

// DeletePhoto removes a photo under the lock on its animal. If it was the cover, no photo has the id of the cover any more,
// and the earliest one takes its place.
func (db *DB) DeletePhoto(ctx context.Context, petID, photoID int64, idempotency *petstore.Idempotency) (replayed bool, err error) {
	_, replayed, err = doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (nothing struct{}, err error) {
		row, err := lockProfile(ctx, tx, petID)
		if err == nil {
			err = row.expectPhoto(photoID)
		}
		if err != nil {
			return nothing, err
		}
		if _, err := tx.Exec(ctx, deletePhotos, []int64{photoID}); err != nil {
			return nothing, err
		}
		before := row.profile()
		row.photos = slices.DeleteFunc(row.photos, func(photo petstore.Photo) bool { return photo.ID == photoID })
		return nothing, noteProfile(ctx, tx, petID, before, row.profile())
	})
	if petstore.IsCode(err, petstore.NotFound) {
		err = cmp.Or(db.confirmDurable(ctx), err)
	}
	return replayed, err
}

// expectPhoto refuses an id that no photo of the animal has.
func (r profileRow) expectPhoto(id int64) error {
	if !slices.ContainsFunc(r.photos, func(photo petstore.Photo) bool { return photo.ID == id }) {
		return petstore.NoSuchPhoto()
	}
	return nil
}

// PhotoBytes adds up the sizes of all files. It reads an index that contains them.
func (db *DB) PhotoBytes(ctx context.Context) (n int64, err error) {
	err = db.read(ctx, func(ctx context.Context) error { return db.pool.QueryRow(ctx, sumPhotoBytes).Scan(&n) })
	return n, err
}
