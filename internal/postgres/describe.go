package postgres

import (
	"context"

	"petstore/internal/petstore"
)

const describe = `
	SELECT pg_database_size(current_database()), (SELECT value::bigint FROM settings WHERE name = 'schema'), (` + sumPhotoBytes + `),
		last - trimmed + (SELECT coalesce(sum(n), 0)::bigint FROM event_slips)
	FROM feed`

// Describe returns facts about the database. Its size is that of the whole database, not only of the tables of petstore.
func (db *DB) Describe(ctx context.Context) (petstore.StorageDescription, error) {
	d := petstore.StorageDescription{Database: "postgres"}
	err := db.read(ctx, func(ctx context.Context) error {
		return db.pool.QueryRow(ctx, describe).Scan(&d.DatabaseBytes, &d.Schema, &d.PhotoBytes, &d.Events)
	})
	return d, err
}
