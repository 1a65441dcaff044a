package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectCategories     = "SELECT id, name FROM categories WHERE id >= ?1 ORDER BY id LIMIT ?2"
	selectCategory       = "SELECT id, name FROM categories WHERE id = ?1"
	selectCategoryByName = "SELECT id, name FROM categories WHERE name = ?1"
	putCategory          = "INSERT INTO categories (id, name) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET name = excluded.name"
	deleteCategory       = "DELETE FROM categories WHERE id = ?1"
	selectNextCategory   = "SELECT next FROM category_counter"
	insertCounter        = "INSERT INTO category_counter SELECT max(coalesce(max(category_id), 0), 0) + 1 FROM pets WHERE category_id < ?1"
	takeNumber           = `
		UPDATE category_counter SET next = 1 + CASE
			WHEN NOT EXISTS (SELECT 1 FROM categories WHERE id = next) THEN next
			ELSE (
				SELECT id + 1 FROM categories AS named
				WHERE id >= next AND NOT EXISTS (SELECT 1 FROM categories WHERE id = named.id + 1) ORDER BY id LIMIT 1
			) END
		RETURNING next - 1`
)

// ListCategories returns at most q.Limit categories, ordered by id.
func (db *DB) ListCategories(ctx context.Context, q petstore.CategoryQuery) (categories []petstore.Category, err error) {
	err = db.readVersioned(ctx, func(r *reader) error {
		return query(r.conn, func(row *sqlite3.Stmt) { categories = append(categories, scanCategory(row)) }, selectCategories, q.From, q.Limit)
	})
	return categories, err
}

// GetCategory returns one category.
func (db *DB) GetCategory(ctx context.Context, id int64) (category petstore.Category, err error) {
	err = db.readVersioned(ctx, func(r *reader) error {
		found, err := findCategory(r.conn, selectCategory, id)
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

// CreateCategory stores a category with the next free number as its id. The change is part of the next commit.
func (db *DB) CreateCategory(ctx context.Context, name string, idempotency *petstore.Idempotency) (petstore.Category, bool, error) {
	return doOnce(ctx, db, idempotency, func(w *writer) (petstore.Category, error) {
		if other, err := findCategory(w.conn, selectCategoryByName, name); err != nil {
			return petstore.Category{}, err
		} else if other != nil {
			return petstore.Category{}, petstore.CategoryNameTaken(*other)
		}
		id, err := w.nextCategory()
		if err != nil {
			return petstore.Category{}, err
		}
		made := petstore.Category{ID: id, Name: name}
		return made, w.saveCategory(nil, made)
	})
}

// nextCategory returns the next number that no category has, and advances the counter past that number. The very first call
// creates the counter.
func (w *writer) nextCategory() (id int64, err error) {
	if id, err = w.takeNumber(); id != 0 || err != nil {
		return id, err
	}
	if err := run(w.conn, insertCounter, petstore.CategoryBound); err != nil {
		return 0, err
	}
	return w.takeNumber()
}

// takeNumber returns the next number that no category has, and advances the counter past that number. If there is no
// counter yet, takeNumber returns 0.
func (w *writer) takeNumber() (id int64, err error) {
	err = query(w.conn, func(row *sqlite3.Stmt) { id = row.ColumnInt64(0) }, takeNumber)
	return id, err
}

// NameCategory creates or renames the category with the given id. The change is part of the next commit.
func (db *DB) NameCategory(ctx context.Context, category petstore.Category, idempotency *petstore.Idempotency) (isNew, replayed bool, err error) {
	return doOnce(ctx, db, idempotency, func(w *writer) (isNew bool, err error) {
		other, err := findCategory(w.conn, selectCategoryByName, category.Name)
		if err != nil {
			return false, err
		}
		if other != nil && other.ID != category.ID {
			return false, petstore.CategoryNameTaken(*other)
		}
		before, err := findCategory(w.conn, selectCategory, category.ID)
		if err != nil {
			return false, err
		}
		return before == nil, w.saveCategory(before, category)
	})
}

// saveCategory stores a category that may have changed. The argument before is nil if the category is new.
func (w *writer) saveCategory(before *petstore.Category, after petstore.Category) error {
	if before != nil && *before == after {
		return nil
	}
	w.events.note(petstore.CategoryChanged(before, &after))
	return run(w.conn, putCategory, after.ID, after.Name)
}

// DeleteCategory deletes a category. The change is part of the next commit.
func (db *DB) DeleteCategory(ctx context.Context, id int64, idempotency *petstore.Idempotency) (replayed bool, err error) {
	_, replayed, err = doOnce(ctx, db, idempotency, func(w *writer) (nothing struct{}, err error) {
		before, err := findCategory(w.conn, selectCategory, id)
		if err == nil && before == nil {
			err = petstore.NoSuchCategory()
		}
		if err != nil {
			return nothing, err
		}
		w.events.note(petstore.CategoryChanged(before, nil))
		return nothing, run(w.conn, deleteCategory, id)
	})
	return replayed, err
}

func findCategory(conn *sqlite3.Conn, statement string, arg any) (found *petstore.Category, err error) {
	err = query(conn, func(row *sqlite3.Stmt) {
		category := scanCategory(row)
		found = &category
	}, statement, arg)
	return found, err
}

func scanCategory(row *sqlite3.Stmt) petstore.Category {
	return petstore.Category{ID: row.ColumnInt64(0), Name: row.ColumnText(1)}
}
