package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectStoredProfiles = `
		SELECT pet_id, breed, sex, born_on, arrived_on, description, tags, notes, cover_id FROM profiles
		WHERE pet_id > ?1 ORDER BY pet_id LIMIT ?2`
	selectStoredPhotos = "SELECT pet_id, id, token, width, height, created_at FROM photos WHERE id > ?1 ORDER BY id LIMIT ?2"
	petExists          = "SELECT 1 FROM pets WHERE id = ?1"
	putPhoto           = "INSERT INTO photos (id, pet_id, token, width, height, created_at, bytes, small, large) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
)

// StoredProfiles returns profiles as they are stored.
func (db *DB) StoredProfiles(ctx context.Context, after petstore.StoredProfile, limit int) (profiles []petstore.StoredProfile, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { profiles = append(profiles, scanProfile(row)) }, selectStoredProfiles, after.PetID, limit)
	})
	return profiles, err
}

// StoredPhotos returns photos as they are stored, without their files.
func (db *DB) StoredPhotos(ctx context.Context, after petstore.StoredPhoto, limit int) (photos []petstore.StoredPhoto, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) {
			photos = append(photos, petstore.StoredPhoto{PetID: row.ColumnInt64(0), Photo: petstore.Photo{
				ID: row.ColumnInt64(1), Token: row.ColumnText(2), Width: row.ColumnInt(3), Height: row.ColumnInt(4), CreatedAt: columnTime(row, 5),
			}})
		}, selectStoredPhotos, after.ID, limit)
	})
	return photos, err
}

// ReplaceProfiles stores and removes profiles.
func (db *DB) ReplaceProfiles(ctx context.Context, put, remove []petstore.StoredProfile) error {
	return db.writeCopy(ctx, func(w *writer) error {
		for _, p := range remove {
			if err := run(w.conn, removeProfile, p.PetID); err != nil {
				return err
			}
		}
		for _, p := range put {
			if exists, err := w.petExists(p.PetID); err != nil {
				return err
			} else if !exists {
				continue
			}
			if err := w.saveProfile(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutPhoto stores a photo with its files.
func (db *DB) PutPhoto(ctx context.Context, photo petstore.StoredPhoto, large, small []byte) error {
	return db.writeCopy(ctx, func(w *writer) error {
		if exists, err := w.petExists(photo.PetID); err != nil || !exists {
			return err
		}
		if err := run(w.conn, deletePhoto, photo.ID); err != nil {
			return err
		}
		return run(w.conn, putPhoto, photo.ID, photo.PetID, photo.Token, photo.Width, photo.Height, photo.CreatedAt.UnixMilli(), len(large)+len(small), small, large)
	})
}

// RemovePhotos removes photos.
func (db *DB) RemovePhotos(ctx context.Context, remove []petstore.StoredPhoto) error {
	return db.writeCopy(ctx, func(w *writer) error {
		for _, photo := range remove {
			if err := run(w.conn, deletePhoto, photo.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *writer) petExists(id int64) (exists bool, err error) {
	err = query(w.conn, func(*sqlite3.Stmt) { exists = true }, petExists, id)
	return exists, err
}
