package transfer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"petstore/client"
	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// categories finds the numbers of category names. It reads the categories when the first name comes. It is not safe for
// concurrent use.
type categories struct {
	list   func() ([]petstore.Category, error)
	create func(name string) (petstore.Category, error) // nil unless missing categories are created

	all   []petstore.Category
	found map[string]int64 // nil until the categories have been read
}

// number returns the number of the category with that name. If no category has exactly that name, it ignores the case. It
// returns an unreadable if it cannot tell which category is meant.
func (c *categories) number(name string) (int64, error) {
	if c.found == nil {
		all, err := c.list()
		if err != nil {
			return 0, fmt.Errorf("the categories cannot be read: %w", err)
		}
		c.all, c.found = all, make(map[string]int64)
	}
	id, known := c.found[name]
	if known {
		return id, nil
	}
	id, err := c.find(name)
	if err == nil {
		c.found[name] = id
	}
	return id, err
}

func (c *categories) find(name string) (int64, error) {
	var similar []petstore.Category
	for _, category := range c.all {
		if category.Name == name {
			return category.ID, nil
		}
		if strings.EqualFold(category.Name, name) {
			similar = append(similar, category)
		}
	}
	switch {
	case len(similar) == 1:
		return similar[0].ID, nil
	case len(similar) > 1:
		return 0, unreadable(fmt.Sprintf("category %q can mean %q or %q; write the name exactly, or write the number of the category.", name, similar[0].Name, similar[1].Name))
	}
	if problem := petstore.CheckCategoryName(name); problem != "" {
		return 0, unreadable("category " + problem + ".")
	}
	if c.create == nil {
		return 0, unreadable(fmt.Sprintf("there is no category %q; add it, or import with --create-categories.", name))
	}
	made, err := c.create(name)
	if err != nil {
		return 0, fmt.Errorf("the category %q cannot be created: %w", name, err)
	}
	c.all = append(c.all, made)
	return made.ID, nil
}

// resolve finds the number of a line's category if the line has only its name. It returns a *badLine if it cannot tell which
// category is meant.
func (c *categories) resolve(line *petLine) (err error) {
	if line.Category == "" {
		return nil
	}
	line.Pet.CategoryID, err = c.number(line.Category)
	if reason := unreadable(""); errors.As(err, &reason) {
		return &badLine{line.Number, string(reason)}
	}
	return err
}

// parseCategory reads what people write as a category: a number or a name.
func (l *petLine) parseCategory(text string) (problem string) {
	number, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil:
		l.Pet.CategoryID = number
	case errors.Is(err, strconv.ErrRange):
		return "must be a name, or a whole number from -9223372036854775808 to 9223372036854775807"
	default:
		l.Category = text
	}
	return ""
}

// categoriesOnServer returns the categories of a server.
func (c *Import) categoriesOnServer(ctx context.Context, store *client.Client) *categories {
	found := &categories{list: func() (all []petstore.Category, err error) {
		for category, err := range store.Categories(ctx, client.CategoryQuery{}) {
			if err != nil {
				return nil, err
			}
			all = append(all, petstore.Category(category))
		}
		return all, nil
	}}
	if c.CreateCategories {
		found.create = func(name string) (petstore.Category, error) {
			made, err := store.CreateCategory(ctx, name)
			return petstore.Category(made), err
		}
	}
	return found
}

// categoriesInStorage returns the categories of a database.
func (c *Import) categoriesInStorage(ctx context.Context, storage petstore.Categories) *categories {
	found := &categories{list: func() ([]petstore.Category, error) { return allCategories(ctx, storage) }}
	if c.CreateCategories {
		found.create = func(name string) (petstore.Category, error) {
			made, _, err := storage.CreateCategory(ctx, name, nil)
			return made, err
		}
	}
	return found
}

func allCategories(ctx context.Context, storage petstore.Categories) (all []petstore.Category, err error) {
	query := petstore.CategoryQuery{From: -1 << 63, Limit: databasePage}
	for {
		page, err := storage.ListCategories(ctx, query)
		all = append(all, page...)
		if err != nil || len(page) < databasePage {
			return all, err
		}
		last := page[len(page)-1].ID
		if last == 1<<63-1 {
			return all, nil
		}
		query.From = last + 1
	}
}

// categoriesToCheck returns the categories for a check of all lines, which creates none.
func (c *Import) categoriesToCheck(ctx context.Context, con *terminal.Console) *categories {
	found := &categories{list: func() (all []petstore.Category, err error) {
		if c.Database == "" {
			store, err := c.Client(con, untilTomorrow)
			if err != nil {
				return nil, err
			}
			return c.categoriesOnServer(ctx, store).list()
		}
		flags := database.Flags{Environment: c.Environment, Database: c.Database}
		if current, _, err := flags.CheckSchema(ctx); err != nil || current == 0 { // the import will create the database
			return nil, err
		}
		err = flags.With(ctx, database.ToUse, func(storage *database.Storage) error {
			all, err = allCategories(ctx, storage)
			return err
		})
		return all, err
	}}
	if c.CreateCategories {
		found.create = func(name string) (petstore.Category, error) { return petstore.Category{Name: name}, nil }
	}
	return found
}
