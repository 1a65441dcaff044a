package main

import (
	"context"
	"maps"
	"strconv"
	"strings"

	remote "petstore/client"
)

type petsCmd struct {
	List   petsListCmd   `cmd:"" aliases:"ls" help:"List animals, the newest first."`
	Add    petsAddCmd    `cmd:"" aliases:"create" help:"Add an animal and show it."`
	Show   petsShowCmd   `cmd:"" aliases:"view,get" help:"Show an animal."`
	Edit   petsEditCmd   `cmd:"" aliases:"update" help:"Change an animal's name, category or status, and show it."`
	Delete petsDeleteCmd `cmd:"" aliases:"rm" help:"Delete an animal for good."`
}

// petShape shows animals with the names of their categories, where these are known.
func petShape(names map[int64]string) shape[remote.Pet] {
	return shape[remote.Pet]{
		titles: []string{"ID", "NAME", "CATEGORY", "STATUS"},
		row: func(p remote.Pet) []string {
			category := strings.TrimSpace(number(p.CategoryID) + " " + names[p.CategoryID])
			return []string{number(p.ID), p.Name, category, string(p.Status)}
		},
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

type petsListCmd struct {
	remoteFlags
	listFlags
	Status *remote.PetStatus `enum:"available,pending,sold" help:"Only animals of this status: available, pending or sold."`
}

// Help shows examples.
func (petsListCmd) Help() string {
	return examples(
		"petstore pets list --status available",
		"petstore pets list --json | jq -r '.[].name'")
}

func (c *petsListCmd) Run(ctx context.Context, con *console) error {
	return c.with(con, func(store *remote.Client) error {
		names := map[int64]string{}
		query := remote.PetQuery{Status: given(c.Status)}
		return list(con, c.listFlags, petShape(names), func(limit int, cursor string) (remote.Page[remote.Pet], error) {
			query.Limit, query.Cursor = limit, cursor
			page, err := store.ListPets(ctx, query)
			if cursor == "" && len(page.Items) > 0 && isTerminal(con.stdout) && !c.JSON {
				maps.Copy(names, firstNames(ctx, store))
			}
			return page, err
		})
	})
}

// given is the value of an optional flag, or zero if the flag is not given.
func given[T any](flag *T) (value T) {
	if flag != nil {
		value = *flag
	}
	return value
}

// examples is the part of a help text that shows commands.
func examples(commands ...string) string {
	return "Examples:\n\n  " + strings.Join(commands, "\n  ")
}

type petsAddCmd struct {
	remoteFlags
	showFlags
	Name     string            `arg:"" help:"The animal's name."`
	Category string            `required:"" placeholder:"NUMBER|NAME" help:"The number of the animal's category, or its name."`
	Status   *remote.PetStatus `enum:"available,pending,sold" help:"available, pending or sold. The default is available."`
}

// Help shows examples.
func (petsAddCmd) Help() string {
	return examples(
		"petstore pets add Biscuit --category 1",
		"petstore pets add 'Mr. Whiskers' --category Cats --status pending")
}

func (c *petsAddCmd) Run(ctx context.Context, con *console) error {
	return c.change(con, func(store *remote.Client) error {
		category, err := findCategory(ctx, store, c.Category)
		if err != nil {
			return err
		}
		made, err := store.CreatePet(ctx, remote.NewPet{Name: c.Name, CategoryID: category, Status: given(c.Status)})
		if err != nil {
			return err
		}
		return showPet(ctx, con, store, c.showFlags, made)
	})
}

// showPet prints one animal, on a terminal with the name of its category.
func showPet(ctx context.Context, con *console, store *remote.Client, f showFlags, p remote.Pet) error {
	names := map[int64]string{}
	if isTerminal(con.stdout) && !f.JSON {
		if category, err := store.GetCategory(ctx, p.CategoryID); err == nil {
			names[category.ID] = category.Name
		}
	}
	return show(con, f, petShape(names), p)
}

type petsShowCmd struct {
	remoteFlags
	showFlags
	ID int64 `arg:"" help:"The animal's id, as pets list shows it."`
}

func (c *petsShowCmd) Run(ctx context.Context, con *console) error {
	return c.with(con, func(store *remote.Client) error {
		found, err := store.FindPet(ctx, c.ID)
		if err != nil {
			return err
		}
		return showPet(ctx, con, store, c.showFlags, found)
	})
}

type petsEditCmd struct {
	remoteFlags
	showFlags
	ID       int64             `arg:"" help:"The animal's id, as pets list shows it."`
	Name     *string           `help:"The new name."`
	Category *string           `placeholder:"NUMBER|NAME" help:"The number of the new category, or its name."`
	Status   *remote.PetStatus `enum:"available,pending,sold" help:"available, pending or sold."`
}

// Help shows examples.
func (petsEditCmd) Help() string {
	return examples(
		"petstore pets edit 7 --name Biscuit",
		"petstore pets edit 7 --category Dogs --status available")
}

func (c *petsEditCmd) Run(ctx context.Context, con *console) error {
	if c.Name == nil && c.Category == nil && c.Status == nil {
		return wrongUsage("there is nothing to change; give at least one of --name, --category and --status")
	}
	return c.change(con, func(store *remote.Client) error {
		patch := remote.PetPatch{Name: c.Name, Status: c.Status}
		if c.Category != nil {
			category, err := findCategory(ctx, store, *c.Category)
			if err != nil {
				return err
			}
			patch.CategoryID = &category
		}
		changed, err := store.UpdatePet(ctx, c.ID, patch)
		if err != nil {
			return err
		}
		return showPet(ctx, con, store, c.showFlags, changed)
	})
}

type petsDeleteCmd struct {
	remoteFlags
	ID  int64 `arg:"" help:"The animal's id, as pets list shows it."`
	Yes bool  `help:"Delete without asking."`
}

func (c *petsDeleteCmd) Run(ctx context.Context, con *console) error {
	if !c.Yes && !con.canAsk() {
		return wrongUsage("--yes is missing; without a terminal the command cannot ask whether to delete the animal")
	}
	return c.change(con, func(store *remote.Client) error {
		if !c.Yes {
			found, err := store.FindPet(ctx, c.ID)
			if err != nil {
				return err
			}
			if err := con.confirm(ctx, "Delete %s (%d, %s) for good?", found.Name, found.ID, found.Status); err != nil {
				return err
			}
		}
		if err := store.DeletePet(ctx, c.ID); err != nil {
			return err
		}
		con.say("Animal %d is deleted.", c.ID)
		return nil
	})
}
