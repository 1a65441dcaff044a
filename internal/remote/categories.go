package remote

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"petstore/client"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Categories are the commands for the categories on a server.
type Categories struct {
	List   categoriesList   `cmd:"" aliases:"ls" help:"List the named categories."`
	Add    categoriesAdd    `cmd:"" aliases:"create" help:"Name a category whose number the server chooses, and show it."`
	Name   categoriesName   `cmd:"" aliases:"rename" help:"Name or rename the category of a number, and show it."`
	Delete categoriesDelete `cmd:"" aliases:"rm" help:"Remove the name of a category. Its animals keep the number."`
}

var categoryView = view[client.Category]{
	titles: []string{"ID", "NAME"},
	row:    func(c client.Category) []string { return []string{number(c.ID), c.Name} },
}

// findCategory returns the id of the category that a person names by its id or by its name. It ignores the case of the name
// if only one category matches.
func findCategory(ctx context.Context, store *client.Client, text string) (int64, error) {
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		return id, nil
	}
	var similar []client.Category
	for category, err := range store.Categories(ctx, client.CategoryQuery{}) {
		switch {
		case err != nil:
			return 0, err
		case category.Name == text:
			return category.ID, nil
		case strings.EqualFold(category.Name, text):
			similar = append(similar, category)
		}
	}
	switch {
	case len(similar) == 1:
		return similar[0].ID, nil
	case len(similar) > 1:
		return 0, fmt.Errorf("%q can mean the category %q or %q; write the name exactly, or use the number %d or %d",
			text, similar[0].Name, similar[1].Name, similar[0].ID, similar[1].ID)
	}
	return 0, fmt.Errorf("no category is named %q; petstore categories list shows all names, and any number can be used", text)
}

// categoryNames returns the names of the first hundred categories. If it cannot read them, it returns no names, and the list
// of animals appears without names.
func categoryNames(ctx context.Context, store *client.Client) map[int64]string {
	names := map[int64]string{}
	page, _ := store.ListCategories(ctx, client.CategoryQuery{Limit: maxPage})
	for _, category := range page.Items {
		names[category.ID] = category.Name
	}
	return names
}

type categoriesList struct {
	profile.Flags
	listFlags
}

func (c *categoriesList) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		return list(con, c.listFlags, categoryView, func(limit int, cursor string) (client.Page[client.Category], error) {
			return store.ListCategories(ctx, client.CategoryQuery{Limit: limit, Cursor: cursor})
		})
	})
}

type categoriesAdd struct {
	profile.Flags
	showFlags
	Name string `arg:"" help:"The name of the category."`
}

func (c *categoriesAdd) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		created, err := store.CreateCategory(ctx, c.Name)
		if err != nil {
			return err
		}
		return show(con, c.showFlags, categoryView, created)
	})
}

type categoriesName struct {
	profile.Flags
	showFlags
	Number int64  `arg:"" help:"The number of the category, which animals have as their categoryId."`
	Name   string `arg:"" help:"The name of the category."`
}

// Help shows examples.
func (categoriesName) Help() string { return examples("petstore categories name 1 Dogs") }

func (c *categoriesName) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		named, err := store.NameCategory(ctx, c.Number, c.Name)
		if err != nil {
			return err
		}
		return show(con, c.showFlags, categoryView, named)
	})
}

type categoriesDelete struct {
	profile.Flags
	Number int64 `arg:"" help:"The number of the category, as categories list shows it."`
}

func (c *categoriesDelete) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		if err := store.DeleteCategory(ctx, c.Number); err != nil {
			return err
		}
		con.Say("Category %d no longer has a name.", c.Number)
		return nil
	})
}
