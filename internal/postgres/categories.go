package postgres

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

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
	insertCounter        = `
		INSERT INTO category_counter (next) SELECT greatest(max(category_id), 0) + 1 FROM pets WHERE category_id < $1
		ON CONFLICT DO NOTHING`
	// The query numbers the categories without gaps, starting at the counter's value. The first category whose id is higher
	// than its number shows that the number is free.
	takeNumber = `
		UPDATE category_counter SET next = 1 + coalesce(
			(SELECT next + n FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM categories WHERE id >= next) AS named
				WHERE id > next + n ORDER BY id LIMIT 1),
			(SELECT next + count(*) FROM categories WHERE id >= next))
		RETURNING next - 1`

	// There are few categories, and they rarely change. So a transaction that writes a category locks out all other writers
	// before it reads.
	lockCategories = "LOCK TABLE categories IN SHARE ROW EXCLUSIVE MODE"
)

// ListCategories returns at most q.Limit categories, ordered by id.
func (db *DB) ListCategories(ctx context.Context, q petstore.CategoryQuery) (categories []petstore.Category, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectCategories, q.From, q.Limit)
		categories, err = pgx.CollectRows(rows, pgx.RowToStructByPos[petstore.Category])
		return err
	})
	return categories, err
}

// GetCategory returns one category.
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

// errNoCounter means that no category was ever created, so there is no counter yet.
var errNoCounter = petstore.NotDone(errors.New("there is no counter of categories"))

// CreateCategory stores a category with the next free number as its id. If the name is refused, the counter is not created.
func (db *DB) CreateCategory(ctx context.Context, name string, idempotency *petstore.Idempotency) (petstore.Category, bool, error) {
	created, replayed, err := db.createCategory(ctx, name, idempotency)
	if !errors.Is(err, errNoCounter) {
		return created, replayed, err
	}
	if _, _, err := db.counterMaker.Begin(struct{}{}).Wait(ctx); err != nil {
		return petstore.Category{}, false, failure(err)
	}
	return db.createCategory(detached(ctx), name, idempotency)
}

func (db *DB) createCategory(ctx context.Context, name string, idempotency *petstore.Idempotency) (petstore.Category, bool, error) {
	return doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (petstore.Category, error) {
		other, err := lockCategoryName(ctx, tx, name)
		if err == nil && other != nil {
			err = petstore.CategoryNameTaken(*other)
		}
		if err != nil {
			return petstore.Category{}, err
		}
		created := petstore.Category{Name: name}
		err = tx.QueryRow(ctx, takeNumber).Scan(&created.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			err = errNoCounter
		}
		if err != nil {
			return petstore.Category{}, err
		}
		_, err = tx.Exec(ctx, insertCategory, created.ID, name)
		return created, err
	})
}

// createCounter creates the counter of categories. It reads every animal, which may take longer than any other call. So
// only ctx limits its time. All callers that need the counter share one call, which continues even if they give up.
func (db *DB) createCounter(ctx context.Context) error {
	var exists bool
	err := db.read(ctx, func(ctx context.Context) error { return db.pool.QueryRow(ctx, hasCounter).Scan(&exists) })
	if exists || err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, insertCounter, int64(petstore.CategoryBound))
		return err
	})
}

// NameCategory creates or renames the category with the given id.
func (db *DB) NameCategory(ctx context.Context, category petstore.Category, idempotency *petstore.Idempotency) (isNew, replayed bool, err error) {
	return doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (isNew bool, err error) {
		other, err := lockCategoryName(ctx, tx, category.Name)
		if err != nil {
			return false, err
		}
		if other != nil && other.ID != category.ID {
			return false, petstore.CategoryNameTaken(*other)
		}
		renamed, err := tx.Exec(ctx, renameCategory, category.ID, category.Name)
		if err != nil || renamed.RowsAffected() > 0 {
			return false, err
		}
		_, err = tx.Exec(ctx, insertCategory, category.ID, category.Name)
		return true, err
	})
}

// DeleteCategory deletes a category.
func (db *DB) DeleteCategory(ctx context.Context, id int64, idempotency *petstore.Idempotency) (replayed bool, err error) {
	_, replayed, err = doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (nothing struct{}, err error) {
		deleted, err := tx.Exec(ctx, deleteCategory, id)
		if err == nil && deleted.RowsAffected() == 0 {
			err = petstore.NoSuchCategory()
		}
		return nothing, err
	})
	if petstore.IsCode(err, petstore.NotFound) {
		err = cmp.Or(db.confirmDurable(ctx), err)
	}
	return replayed, err
}

// lockCategoryName locks out other writers of categories. It returns the category with the given name, or nil if there is
// none.
func lockCategoryName(ctx context.Context, tx pgx.Tx, name string) (*petstore.Category, error) {
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
