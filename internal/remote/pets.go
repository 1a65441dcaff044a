package remote

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"petstore/client"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Pets are the commands for the animals on a server.
type Pets struct {
	List   petsList   `cmd:"" aliases:"ls" help:"List animals, newest first."`
	Add    petsAdd    `cmd:"" aliases:"create" help:"Add an animal and show it."`
	Show   petsShow   `cmd:"" aliases:"view,get" help:"Show an animal."`
	Edit   petsEdit   `cmd:"" aliases:"update" help:"Change the name, category, status or profile of an animal, and show it."`
	Delete petsDelete `cmd:"" aliases:"rm" help:"Delete an animal for good."`
	Photo  petsPhoto  `cmd:"" aliases:"photos" help:"Add, list and delete the photos of an animal, and choose its cover."`
}

// petView returns how to show animals. It shows the names of categories as far as names has them.
func petView(names map[int64]string) view[client.Pet] {
	return view[client.Pet]{
		titles: []string{"ID", "NAME", "CATEGORY", "STATUS"},
		row: func(p client.Pet) []string {
			category := strings.TrimSpace(number(p.CategoryID) + " " + names[p.CategoryID])
			return []string{number(p.ID), p.Name, category, string(p.Status)}
		},
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

type petsList struct {
	profile.Flags
	listFlags
	Status   *client.PetStatus `enum:"available,pending,sold" help:"List only animals with this status: available, pending or sold."`
	Category *string           `placeholder:"NUMBER|NAME" help:"List only animals of this category."`
	Search   string            `help:"List only animals whose name or breed has words that begin with each of these words. Case and accents do not matter."`
}

// Help shows examples.
func (petsList) Help() string {
	return examples(
		"petstore pets list --status available --category Dogs",
		"petstore pets list --search 'beagle mix'",
		"petstore pets list --json | jq -r '.[].name'")
}

func (c *petsList) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		names := map[int64]string{}
		query := client.PetQuery{Status: orZero(c.Status), Search: c.Search}
		if c.Category != nil {
			category, err := findCategory(ctx, store, *c.Category)
			if err != nil {
				return err
			}
			query.CategoryID = &category
		}
		return list(con, c.listFlags, petView(names), func(limit int, cursor string) (client.Page[client.Pet], error) {
			query.Limit, query.Cursor = limit, cursor
			page, err := store.ListPets(ctx, query)
			if cursor == "" && len(page.Items) > 0 && terminal.IsTerminal(con.Stdout) && !c.JSON {
				maps.Copy(names, categoryNames(ctx, store))
				err = ctx.Err() // the person may have interrupted the wait for the names
			}
			return page, err
		})
	})
}

// orZero returns the value of an optional flag, or the zero value if the flag is absent.
func orZero[T any](flag *T) (value T) {
	if flag != nil {
		value = *flag
	}
	return value
}

// examples returns the section of a help text that shows example commands.
func examples(commands ...string) string {
	return "Examples:\n\n  " + strings.Join(commands, "\n  ")
}

type petsAdd struct {
	profile.Flags
	showFlags
	Name     string            `arg:"" help:"The animal's name."`
	Category string            `required:"" placeholder:"NUMBER|NAME" help:"The number of the animal's category, or its name."`
	Status   *client.PetStatus `enum:"available,pending,sold" help:"available, pending or sold. The default is available."`
}

// Help shows examples.
func (petsAdd) Help() string {
	return examples(
		"petstore pets add Biscuit --category 1",
		"petstore pets add 'Mr. Whiskers' --category Cats --status pending")
}

func (c *petsAdd) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		category, err := findCategory(ctx, store, c.Category)
		if err != nil {
			return err
		}
		created, err := store.CreatePet(ctx, client.NewPet{Name: c.Name, CategoryID: category, Status: orZero(c.Status)})
		if err != nil {
			return err
		}
		return showPet(ctx, con, store, c.showFlags, created)
	})
}

// showPet prints an animal. On a terminal, it also prints the name of the animal's category.
func showPet(ctx context.Context, con *terminal.Console, store *client.Client, f showFlags, p client.Pet) error {
	names := map[int64]string{}
	if terminal.IsTerminal(con.Stdout) && !f.JSON {
		if category, err := store.GetCategory(ctx, p.CategoryID); err == nil {
			names[category.ID] = category.Name
		}
	}
	return show(con, f, petView(names), p)
}

type petsShow struct {
	profile.Flags
	showFlags
	ID int64 `arg:"" help:"The animal's id, as pets list shows it."`
}

func (c *petsShow) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		return showWithProfile(ctx, con, store, c.showFlags, c.ID)
	})
}

type petsEdit struct {
	profile.Flags
	showFlags
	ID       int64             `arg:"" help:"The animal's id, as pets list shows it."`
	Name     *string           `help:"The new name."`
	Category *string           `placeholder:"NUMBER|NAME" help:"The number of the new category, or its name."`
	Status   *client.PetStatus `enum:"available,pending,sold" help:"available, pending or sold."`
	profileFlags
}

// Help shows examples.
func (petsEdit) Help() string {
	return examples(
		"petstore pets edit 7 --name Biscuit",
		"petstore pets edit 7 --category Dogs --status available",
		"petstore pets edit 7 --breed Beagle --born 2024-05 --tag shy --tag 'good with cats'",
		"petstore pets edit 7 --notes ''")
}

func (c *petsEdit) Run(ctx context.Context, con *terminal.Console) error {
	patch, facts := client.PetPatch{Name: c.Name, Status: c.Status}, c.profileFlags.patch()
	changesPet, changesProfile := c.Name != nil || c.Category != nil || c.Status != nil, facts != client.ProfilePatch{}
	if !changesPet && !changesProfile {
		return terminal.WrongUsage("there is nothing to change; give at least one of --name, --category, --status, --breed, --sex, --born, --arrived, --description, --tag and --notes")
	}
	return c.Change(con, func(store *client.Client) error {
		if c.Category != nil {
			category, err := findCategory(ctx, store, *c.Category)
			if err != nil {
				return err
			}
			patch.CategoryID = &category
		}
		if changesProfile {
			if _, err := store.UpdateProfile(ctx, c.ID, facts); err != nil {
				return err
			}
		}
		if changesPet {
			if _, err := store.UpdatePet(ctx, c.ID, patch); err != nil {
				if changesProfile {
					con.Say("The profile of animal %d was changed, the rest was not.", c.ID)
				}
				return err
			}
		}
		return showWithProfile(ctx, con, store, c.showFlags, c.ID)
	})
}

type petsDelete struct {
	profile.Flags
	ID  int64 `arg:"" help:"The animal's id, as pets list shows it."`
	Yes bool  `help:"Delete without asking."`
}

func (c *petsDelete) Run(ctx context.Context, con *terminal.Console) error {
	if !c.Yes && !con.CanAsk() {
		return terminal.WrongUsage("--yes is missing; without a terminal, the command cannot ask for confirmation")
	}
	return c.Change(con, func(store *client.Client) error {
		if !c.Yes {
			found, err := store.FindPet(ctx, c.ID)
			if err != nil {
				return err
			}
			if err := con.Confirm(ctx, "Delete %s (%d, %s) for good?", found.Name, found.ID, found.Status); err != nil {
				return err
			}
		}
		if err := store.DeletePet(ctx, c.ID); err != nil {
			return err
		}
		con.Say("Deleted animal %d.", c.ID)
		return nil
	})
}
