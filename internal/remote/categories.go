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

// Categories are the commands for categories on a server.
type Categories struct {
	List   categoriesList   `cmd:"" aliases:"ls" help:"List the categories that have names."`
	Add    categoriesAdd    `cmd:"" aliases:"create" help:"Add a category under a number that the server chooses, and show it."`
	Name   categoriesName   `cmd:"" aliases:"rename" help:"Give a name to a number, or rename it."`
	Delete categoriesDelete `cmd:"" aliases:"rm" help:"Take the name from a number; animals keep the number."`
}

var categoryShape = shape[client.Category]{
	titles: []string{"ID", "NAME"},
	row:    func(c client.Category) []string { return []string{number(c.ID), c.Name} },
}

// findCategory returns the number of the category that a person means by a number or by a name, in upper or lower case.
func findCategory(ctx context.Context, store *client.Client, meant string) (int64, error) {
	if id, err := strconv.ParseInt(meant, 10, 64); err == nil {
		return id, nil
	}
	var alike []int64
	for category, err := range store.Categories(ctx, client.CategoryQuery{}) {
		switch {
		case err != nil:
			return 0, err
		case category.Name == meant:
			return category.ID, nil
		case strings.EqualFold(category.Name, meant):
			alike = append(alike, category.ID)
		}
	}
	if len(alike) == 1 {
		return alike[0], nil
	}
	return 0, fmt.Errorf("no category is named %q; petstore categories list shows all names, and any number can be used", meant)
}

// firstNames returns the names of the first hundred categories. If they cannot be read, a list is shown without them.
func firstNames(ctx context.Context, store *client.Client) map[int64]string {
	names := map[int64]string{}
	page, _ := store.ListCategories(ctx, client.CategoryQuery{Limit: pageful})
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
		return list(con, c.listFlags, categoryShape, func(limit int, cursor string) (client.Page[client.Category], error) {
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
		made, err := store.CreateCategory(ctx, c.Name)
		if err != nil {
			return err
		}
		return show(con, c.showFlags, categoryShape, made)
	})
}

type categoriesName struct {
	profile.Flags
	showFlags
	Number int64  `arg:"" help:"The number that animals carry as their category."`
	Name   string `arg:"" help:"Its name."`
}

// Help shows examples.
func (categoriesName) Help() string { return examples("petstore categories name 1 Dogs") }

func (c *categoriesName) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		named, err := store.NameCategory(ctx, c.Number, c.Name)
		if err != nil {
			return err
		}
		return show(con, c.showFlags, categoryShape, named)
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
		con.Say("Category %d has no name any more.", c.Number)
		return nil
	})
}
