package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"petstore/client"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Login is the command that keeps the address and the key of a server.
type Login struct {
	Server  string `placeholder:"URL" help:"The server. By default it is the one that the profile has already, or else http://localhost:8080."`
	Profile string `placeholder:"NAME" help:"The name under which to keep the server and its key. Without one, the name is default."`
}

// Help shows examples.
func (Login) Help() string {
	return "On a terminal the command asks for the key and does not show it; otherwise it reads the key from standard input. It keeps the key after the server has accepted it.\n\n" + examples(
		"petstore login",
		"petstore login --profile staging --server https://staging.example.com",
		"petstore login < key.txt")
}

func (c *Login) Run(ctx context.Context, con *terminal.Console) error {
	name, stored, err := profile.Locate(con, c.Profile)
	if err != nil {
		return err
	}
	server, err := profile.ParseServer(c.Server)
	if err != nil {
		return err
	}
	known, _ := stored.Read(name)
	p := profile.Profile{Server: cmp.Or(server, known.Server, profile.DefaultServer)}
	switch p.Key, err = con.ReadSecret(ctx, "API key for "+p.Server+":"); {
	case err != nil:
		return err
	case p.Key == "":
		return terminal.NoKey("no key was given; nothing was kept")
	}
	store, err := profile.NewClient(con, p)
	if err != nil {
		return err
	}
	if _, err := store.ListPets(ctx, client.PetQuery{Limit: 1}); err != nil {
		return profile.Explain(err)
	}
	if err := stored.Write(name, p); err != nil {
		return fmt.Errorf("the key works, but cannot be kept: %w", err)
	}
	con.Say("Logged in to %s with the profile %s.", p.Describe(), name)
	if con.Getenv("PETSTORE_API_KEY") != "" {
		con.Say("PETSTORE_API_KEY is set and wins over it; with --profile %s commands use this key.", name)
	}
	return nil
}

// Logout is the command that forgets a profile.
type Logout struct {
	Profile string `placeholder:"NAME" help:"The profile to forget. Without one, it is the profile default."`
}

func (c *Logout) Run(con *terminal.Console) error {
	name, stored, err := profile.Locate(con, c.Profile)
	if err != nil {
		return err
	}
	if err := os.Remove(stored.File(name)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no profile %s; petstore profiles lists all profiles", name)
	} else if err != nil {
		return err
	}
	con.Say("The profile %s is forgotten. Its key works until it is revoked.", name)
	return nil
}

// Profiles is the command that lists profiles.
type Profiles struct {
	JSON bool `name:"json" help:"Print an array of objects."`
}

// listedProfile is a profile as petstore profiles shows it, without its key.
type listedProfile struct {
	Name        string `json:"name"`
	Server      string `json:"server"`
	Environment string `json:"environment"`
}

func (c *Profiles) Run(con *terminal.Console) error {
	stored, err := profile.Open(con)
	if err != nil {
		return err
	}
	names, err := stored.Names()
	if err != nil {
		return err
	}
	page := client.Page[listedProfile]{}
	var unreadable error
	for _, name := range names {
		p, err := stored.Read(name)
		if err != nil {
			unreadable = errors.Join(unreadable, err)
			continue
		}
		page.Items = append(page.Items, listedProfile{name, p.Server, p.Environment()})
	}
	if len(names) == 0 && !c.JSON {
		con.Say("There are no profiles yet; petstore login makes one.")
		return nil
	}
	return cmp.Or(list(con, listFlags{All: true, JSON: c.JSON}, shape[listedProfile]{
		titles: []string{"PROFILE", "SERVER", "ENVIRONMENT"},
		row:    func(p listedProfile) []string { return []string{p.Name, p.Server, p.Environment} },
	}, func(int, string) (client.Page[listedProfile], error) { return page, nil }), unreadable)
}
