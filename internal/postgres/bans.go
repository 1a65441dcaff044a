package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	// The statement changes nothing in an existing record: it only locks the record. So the second of two concurrent bans
	// sees the first.
	lockBan = `
		INSERT INTO bans (owner, started_at, ends_at, streak) VALUES ($1, 0, 0, 0)
		ON CONFLICT (owner) DO UPDATE SET streak = bans.streak
		RETURNING started_at, ends_at, streak`

	deleteBan = "DELETE FROM bans WHERE owner = $1"
)

// BanOwner stores the owner's next ban. It locks the owner's record first, or creates the record.
func (db *DB) BanOwner(ctx context.Context, owner string, now time.Time) (next petstore.Ban, err error) {
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := checkOwner(ctx, tx, owner); err != nil {
			return err
		}
		var start, until int64
		var last petstore.Ban
		err := tx.QueryRow(ctx, lockBan, owner).Scan(&start, &until, &last.Streak)
		if err != nil {
			return err
		}
		last.Start, last.Until = fromMillis(&start), fromMillis(&until)
		next = last.Next(now.UTC().Truncate(time.Millisecond))
		_, err = tx.Exec(ctx, "UPDATE bans SET started_at = $2, ends_at = $3, streak = $4 WHERE owner = $1",
			owner, next.Start.UnixMilli(), next.Until.UnixMilli(), next.Streak)
		return err
	})
	if err != nil {
		return petstore.Ban{}, err
	}
	return next, nil
}

// checkOwner refuses an owner that has no key. The owner's id is the id of its first key, so the refusal names that key.
func checkOwner(ctx context.Context, tx pgx.Tx, owner string) error {
	var known bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM keys WHERE owner = $1)", owner).Scan(&known)
	if err == nil && !known {
		return petstore.NoSuchKey(owner)
	}
	return err
}
