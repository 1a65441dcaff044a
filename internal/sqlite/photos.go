package sqlite

import (
	"context"
	"slices"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectLargePhoto  = "SELECT large FROM photos WHERE token = ?1"
	selectSmallPhoto  = "SELECT small FROM photos WHERE token = ?1"
	insertPhoto       = "INSERT INTO photos (pet_id, token, width, height, created_at, bytes, small, large) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
	deletePhoto       = "DELETE FROM photos WHERE id = ?1"
	removePhotosOfPet = "DELETE FROM photos WHERE pet_id = ?1"
	sumPhotoBytes     = "SELECT coalesce(sum(bytes), 0) FROM photos INDEXED BY photos_by_pet"
)

// PhotoFile returns a file of a photo.
func (db *DB) PhotoFile(ctx context.Context, token string, size petstore.PhotoSize) (file []byte, err error) {
	statement := selectLargePhoto
	if size == petstore.SmallPhoto {
		statement = selectSmallPhoto
	}
	err = db.readVersioned(ctx, func(r *reader) error {
		found := false
		err := query(r.conn, func(row *sqlite3.Stmt) {
			found = true
			file = make([]byte, row.ColumnLen(0))
			row.ColumnBytes(0, file)
		}, statement, token)
		if err == nil && !found {
			err = petstore.NoSuchPhoto()
		}
		return err
	})
	return file, err
}

// AddPhoto stores a photo in the next commit. AUTOINCREMENT never reuses its id.
func (db *DB) AddPhoto(ctx context.Context, petID int64, photo petstore.NewPhoto, idempotency *petstore.Idempotency) (petstore.Photo, bool, error) {
	return doOnce(ctx, db, idempotency, func(w *writer) (petstore.Photo, error) {
		row, err := getProfile(w.conn, petID)
		if err != nil {
			return petstore.Photo{}, err
		}
		if len(row.photos) >= petstore.MaxPhotos {
			return petstore.Photo{}, petstore.NoRoomForPhoto()
		}
		added := photo.Photo(db.now())
		err = run(w.conn, insertPhoto, petID, added.Token, added.Width, added.Height, added.CreatedAt.UnixMilli(), len(photo.Large)+len(photo.Small), photo.Small, photo.Large)
		added.ID = w.conn.LastInsertRowID()
		before := row.snapshot()
		row.photos = append(row.photos, added)
		w.events.noteProfile(petID, before, row.profile())
		return added, err
	})
}

// CoverPhoto makes a photo the cover in the next commit.
func (db *DB) CoverPhoto(ctx context.Context, petID, photoID int64, idempotency *petstore.Idempotency) (petstore.Profile, bool, error) {
	return db.changeProfile(ctx, petID, idempotency, func(before profileRow) (petstore.StoredProfile, error) {
		after := before.StoredProfile
		after.Cover = photoID
		return after, before.expectPhoto(photoID)
	})
}

// DeletePhoto removes a photo in the next commit. If it was the cover, no photo has the id of the cover any more, and the
// earliest one takes its place.
func (db *DB) DeletePhoto(ctx context.Context, petID, photoID int64, idempotency *petstore.Idempotency) (replayed bool, err error) {
	_, replayed, err = doOnce(ctx, db, idempotency, func(w *writer) (nothing struct{}, err error) {
		row, err := getProfile(w.conn, petID)
		if err == nil {
			err = row.expectPhoto(photoID)
		}
		if err != nil {
			return nothing, err
		}
		before := row.snapshot()
		row.photos = slices.DeleteFunc(row.photos, func(p petstore.Photo) bool { return p.ID == photoID })
		w.events.noteProfile(petID, before, row.profile())
		return nothing, run(w.conn, deletePhoto, photoID)
	})
	return replayed, err
}

// expectPhoto refuses an id that no photo of the animal has.
func (r profileRow) expectPhoto(id int64) error {
	for _, photo := range r.photos {
		if photo.ID == id {
			return nil
		}
	}
	return petstore.NoSuchPhoto()
}

// PhotoBytes adds up the sizes of all files. It reads an index that contains them.
func (db *DB) PhotoBytes(ctx context.Context) (n int64, err error) {
	err = db.readVersioned(ctx, func(r *reader) error {
		return query(r.conn, func(row *sqlite3.Stmt) { n = row.ColumnInt64(0) }, sumPhotoBytes)
	})
	return n, err
}
