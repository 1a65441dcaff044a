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

// Login is the command that stores the address and the key of a server in a profile.
type Login struct {
	Server  string `placeholder:"URL" help:"The server to log in to. The default is the server that the profile already has; without one, http://localhost:8080."`
	Profile string `placeholder:"NAME" help:"The profile in which to store the server and its key. The default is the profile named default."`
}

// Help explains where the key comes from, and shows examples.
func (Login) Help() string {
	return "On a terminal, the command asks for the key and does not echo it. Otherwise it reads the key from standard input. It stores the key only if the server accepts it.\n\n" + examples(
		"petstore login",
		"petstore login --profile staging --server https://staging.example.com",
		"petstore login < key.txt")
}

// Run asks for the key, tries the key on the server, and stores it.
func (c *Login) Run(ctx context.Context, con *terminal.Console) error {
	name, profiles, err := profile.Locate(con, c.Profile)
	if err != nil {
		return err
	}
	server, err := profile.ParseAddress("--server", c.Server)
	if err != nil {
		return err
	}
	previous, _ := profiles.Read(name)
	p := profile.Profile{Server: cmp.Or(server, previous.Server, profile.DefaultServer)}
	switch p.Key, err = con.ReadSecret(ctx, "API key for "+p.Server+":"); {
	case err != nil:
		return err
	case p.Key == "":
		return terminal.NoKey("no key was given; nothing was stored")
	}
	store, err := profile.NewClient(con, p)
	if err != nil {
		return err
	}
	if _, err := store.ListPets(ctx, client.PetQuery{Limit: 1}); err != nil {
		return profile.Explain(err)
	}
	if err := profiles.Write(name, p); err != nil {
		return fmt.Errorf("the key works but cannot be stored: %w", err)
	}
	con.Say("Logged in to %s with the profile %s.", p.Describe(), name)
	if con.Getenv("PETSTORE_API_KEY") != "" {
		con.Say("PETSTORE_API_KEY is set and overrides the profile. To use the key of the profile, add --profile %s to a command.", name)
	}
	return nil
}

// Logout is the command that deletes a profile.
type Logout struct {
	Profile string `placeholder:"NAME" help:"The profile to delete. The default is the profile named default."`
}

// Run deletes the profile.
func (c *Logout) Run(con *terminal.Console) error {
	name, profiles, err := profile.Locate(con, c.Profile)
	if err != nil {
		return err
	}
	if err := os.Remove(profiles.File(name)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no profile %s; petstore profiles lists all profiles", name)
	} else if err != nil {
		return err
	}
	con.Say("Deleted the profile %s. Its key keeps working until it is revoked.", name)
	return nil
}

// Profiles is the command that lists profiles.
type Profiles struct {
	JSON bool `name:"json" help:"Print an array of objects."`
}

// listedProfile is a profile in the output of petstore profiles, without the key.
type listedProfile struct {
	Name        string `json:"name"`
	Server      string `json:"server"`
	Environment string `json:"environment"`
}

// Run lists the profiles. If it could not read some profiles, Run fails at the end.
func (c *Profiles) Run(con *terminal.Console) error {
	profiles, err := profile.UserFolder(con)
	if err != nil {
		return err
	}
	names, err := profiles.Names()
	if err != nil {
		return err
	}
	page := client.Page[listedProfile]{}
	var unreadable error
	for _, name := range names {
		p, err := profiles.Read(name)
		if err != nil {
			unreadable = errors.Join(unreadable, err)
			continue
		}
		page.Items = append(page.Items, listedProfile{name, p.Server, p.Environment()})
	}
	if len(names) == 0 && !c.JSON {
		con.Say("There are no profiles yet. Create one with petstore login.")
		return nil
	}
	return cmp.Or(list(con, listFlags{All: true, JSON: c.JSON}, view[listedProfile]{
		titles: []string{"PROFILE", "SERVER", "ENVIRONMENT"},
		row:    func(p listedProfile) []string { return []string{p.Name, p.Server, p.Environment} },
	}, func(int, string) (client.Page[listedProfile], error) { return page, nil }), unreadable)
}
