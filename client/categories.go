package client

import (
	"context"
	"iter"
	"net/http"
)

// Category gives a name to a category id, the number that animals have as their CategoryID.
type Category struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// CategoryQuery selects a page of categories.
type CategoryQuery struct {
	Limit  int    // the number of categories per page, up to 100; if zero, ListCategories uses 20 and Categories 100
	Cursor string // the value of Next in the page before; empty for the first page
}

func (q CategoryQuery) encode() string { return paging(q.Limit, q.Cursor).Encode() }

type categoryName struct {
	Name string `json:"name"`
}

func (n categoryName) texts() []string { return []string{n.Name} }

// ListCategories returns one page of categories, by ascending id.
func (c *Client) ListCategories(ctx context.Context, q CategoryQuery, options ...CallOption) (Page[Category], error) {
	return page[Category](ctx, c, "/categories", q.encode(), options)
}

// Categories iterates over all categories by ascending id, page by page. An error ends the iteration.
func (c *Client) Categories(ctx context.Context, q CategoryQuery, options ...CallOption) iter.Seq2[Category, error] {
	q.Limit = walkLimit(q.Limit)
	return walk[Category](ctx, c, "/categories", q.encode(), options)
}

// CreateCategory gives a name to a category id that the service chooses. It returns ErrNameTaken if another category has the
// name.
func (c *Client) CreateCategory(ctx context.Context, name string, options ...CallOption) (made Category, err error) {
	err = c.callWith(ctx, http.MethodPost, "/categories", categoryName{name}, &made, options)
	return made, err
}

// GetCategory returns the category with that id.
func (c *Client) GetCategory(ctx context.Context, id int64, options ...CallOption) (found Category, err error) {
	err = c.call(ctx, http.MethodGet, memberPath("/categories", id), &found, options)
	return found, err
}

// NameCategory gives a name to a category id, or renames the category that has the id. It returns ErrNameTaken if another
// category has the name.
func (c *Client) NameCategory(ctx context.Context, id int64, name string, options ...CallOption) (named Category, err error) {
	err = c.callWith(ctx, http.MethodPut, memberPath("/categories", id), categoryName{name}, &named, options)
	return named, err
}

// DeleteCategory removes the name from a category id. Animals keep the id.
func (c *Client) DeleteCategory(ctx context.Context, id int64, options ...CallOption) error {
	return c.call(ctx, http.MethodDelete, memberPath("/categories", id), nil, options)
}

func (c *Category) missing() bool { return c.Name == "" }
