package postgres

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

const (
	selectCategories     = "SELECT id, name FROM categories WHERE id >= $1 ORDER BY id LIMIT $2"
	selectCategory       = "SELECT id, name FROM categories WHERE id = $1"
	selectCategoryByName = "SELECT id, name FROM categories WHERE name = $1"
	insertCategory       = "INSERT INTO categories (id, name) VALUES ($1, $2)"
	renameCategory       = "UPDATE categories SET name = $2 WHERE id = $1"
	deleteCategory       = "DELETE FROM categories WHERE id = $1"
	hasCounter           = "SELECT EXISTS (SELECT FROM category_counter)"
	beginCounter         = `
		INSERT INTO category_counter (next) SELECT greatest(max(category_id), 0) + 1 FROM pets WHERE category_id < $1
		ON CONFLICT DO NOTHING`
	// The query numbers the categories from the counter on. The first category whose id is higher than its number has a
	// free id before it.
	takeNumber = `
		UPDATE category_counter SET next = 1 + coalesce(
			(SELECT next + n FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM categories WHERE id >= next) AS named
				WHERE id > next + n ORDER BY id LIMIT 1),
			(SELECT next + count(*) FROM categories WHERE id >= next))
		RETURNING next - 1`

	// Names are few and rarely change, so a writer of names first locks out all other writers and then reads.
	lockCategories = "LOCK TABLE categories IN SHARE ROW EXCLUSIVE MODE"
)

// ListCategories reads a page.
func (db *DB) ListCategories(ctx context.Context, q petstore.CategoryQuery) (categories []petstore.Category, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectCategories, q.From, q.Limit)
		categories, err = pgx.CollectRows(rows, pgx.RowToStructByPos[petstore.Category])
		return err
	})
	return categories, err
}

// GetCategory reads one category.
func (db *DB) GetCategory(ctx context.Context, id int64) (category petstore.Category, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		found, err := findCategory(ctx, db.pool, selectCategory, id)
		if err == nil && found == nil {
			return petstore.NoSuchCategory()
		}
		if err == nil {
			category = *found
		}
		return err
	})
	return category, err
}

// errNoCounter is why no number can be taken in a store that never had one taken.
var errNoCounter = petstore.NotDone(errors.New("there is no counter of categories"))

// CreateCategory gives a name to the next free number. Only a name that is not refused begins the counter.
func (db *DB) CreateCategory(ctx context.Context, name string, idempotency *petstore.Idempotency) (petstore.Category, bool, error) {
	made, replayed, err := db.createCategory(ctx, name, idempotency)
	if !errors.Is(err, errNoCounter) {
		return made, replayed, err
	}
	if _, _, err := db.counting.Begin(struct{}{}).Wait(ctx); err != nil {
		return petstore.Category{}, false, failure(err)
	}
	return db.createCategory(begun(ctx), name, idempotency)
}

func (db *DB) createCategory(ctx context.Context, name string, idempotency *petstore.Idempotency) (petstore.Category, bool, error) {
	return makeOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (petstore.Category, error) {
		other, err := lockName(ctx, tx, name)
		if err == nil && other != nil {
			err = petstore.CategoryNameTaken(*other)
		}
		if err != nil {
			return petstore.Category{}, err
		}
		made := petstore.Category{Name: name}
		err = tx.QueryRow(ctx, takeNumber).Scan(&made.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			err = errNoCounter
		}
		if err != nil {
			return petstore.Category{}, err
		}
		_, err = tx.Exec(ctx, insertCategory, made.ID, name)
		return made, err
	})
}

// makeCounter reads every animal, which may take longer than any other call. So it is done for all who wait at once, on
// one connection, and goes on when they give up: only ctx bounds it.
func (db *DB) makeCounter(ctx context.Context) error {
	var there bool
	err := db.read(ctx, func(ctx context.Context) error { return db.pool.QueryRow(ctx, hasCounter).Scan(&there) })
	if there || err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, beginCounter, int64(petstore.CategoryBound))
		return err
	})
}

// NameCategory names a number.
func (db *DB) NameCategory(ctx context.Context, category petstore.Category) (isNew bool, err error) {
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		other, err := lockName(ctx, tx, category.Name)
		if err != nil {
			return err
		}
		if other != nil && other.ID != category.ID {
			return petstore.CategoryNameTaken(*other)
		}
		renamed, err := tx.Exec(ctx, renameCategory, category.ID, category.Name)
		if isNew = renamed.RowsAffected() == 0; err != nil || !isNew {
			return err
		}
		_, err = tx.Exec(ctx, insertCategory, category.ID, category.Name)
		return err
	})
	return isNew && err == nil, err
}

// DeleteCategory takes the name from a number.
func (db *DB) DeleteCategory(ctx context.Context, id int64) error {
	var deleted pgconn.CommandTag
	err := db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) (err error) {
		deleted, err = conn.Exec(ctx, deleteCategory, id)
		return err
	})
	if err == nil && deleted.RowsAffected() == 0 {
		return cmp.Or(db.confirm(ctx), error(petstore.NoSuchCategory()))
	}
	return err
}

// lockName locks out other writers of names and returns the category that has the name, or nil if none has.
func lockName(ctx context.Context, tx pgx.Tx, name string) (*petstore.Category, error) {
	if _, err := tx.Exec(ctx, lockCategories); err != nil {
		return nil, err
	}
	return findCategory(ctx, tx, selectCategoryByName, name)
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func findCategory(ctx context.Context, q querier, sql string, arg any) (*petstore.Category, error) {
	rows, _ := q.Query(ctx, sql, arg)
	category, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[petstore.Category])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return category, err
}
