package httpapi

import (
	"net/http"

	"petstore/internal/petstore"
)

func (a *API) listCategories(x *exchange) error {
	q, err := parseQuery(x.r.URL.RawQuery, newCategoryQuery(), categoryParameters)
	if err != nil {
		return err
	}
	more := q
	more.Limit++
	categories, err := a.Storage.ListCategories(x.r.Context(), more)
	if err != nil {
		return err
	}
	return x.respondPage(pageOf(categories, q.Limit, appendCategory, func(last petstore.Category) string { return a.links.nextCategories(q, last.ID) }))
}

func (a *API) createCategory(x *exchange) error {
	var fresh petstore.Category
	if err := categoryBody.decode(x.body, &fresh); err != nil {
		return err
	}
	category, replayed, err := a.Storage.CreateCategory(x.r.Context(), fresh.Name, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return x.respondCreated(itemURL(a.links.categories, category.ID), encoded(category, appendCategory))
}

func (a *API) getCategory(x *exchange) error {
	category, err := a.Storage.GetCategory(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, encoded(category, appendCategory))
}

func (a *API) nameCategory(x *exchange) error {
	category := petstore.Category{ID: x.id}
	if err := categoryBody.decode(x.body, &category); err != nil {
		return err
	}
	isNew, replayed, err := a.Storage.NameCategory(x.r.Context(), category, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	if isNew {
		return x.respondCreated(itemURL(a.links.categories, category.ID), encoded(category, appendCategory))
	}
	return x.respond(http.StatusOK, encoded(category, appendCategory))
}

func (a *API) deleteCategory(x *exchange) error {
	replayed, err := a.Storage.DeleteCategory(x.r.Context(), x.id, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return x.respondEmpty()
}
