package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	remote "petstore/client"
)

type loginCmd struct {
	Server  string `placeholder:"URL" help:"The server. By default it is the one that the profile has already, or else http://localhost:8080."`
	Profile string `placeholder:"NAME" help:"The name under which to keep the server and its key. Without one, the name is default."`
}

// Help shows examples.
func (loginCmd) Help() string {
	return "On a terminal the command asks for the key and does not show it; otherwise it reads the key from standard input. It keeps the key after the server has accepted it.\n\n" + examples(
		"petstore login",
		"petstore login --profile staging --server https://staging.example.com",
		"petstore login < key.txt")
}

func (c *loginCmd) Run(ctx context.Context, con *console) error {
	name, stored, err := con.place(c.Profile)
	if err != nil {
		return err
	}
	server, err := parseServer(c.Server)
	if err != nil {
		return err
	}
	known, _ := stored.read(name)
	p := profile{Server: cmp.Or(server, known.Server, defaultServer)}
	if p.Key, err = con.secret(ctx, "API key for "+p.Server+":"); err != nil {
		return err
	}
	store, err := con.clientOf(p)
	if err != nil {
		return err
	}
	if _, err := store.ListPets(ctx, remote.PetQuery{Limit: 1}); err != nil {
		return explain(err)
	}
	if err := stored.write(name, p); err != nil {
		return fmt.Errorf("the key works, but cannot be kept: %w", err)
	}
	con.say("Logged in to %s with the profile %s.", p.described(), name)
	if con.getenv(variablePrefix+"API_KEY") != "" {
		con.say("PETSTORE_API_KEY is set and wins over it; with --profile %s commands use this key.", name)
	}
	return nil
}

// secret reads a key from the terminal or from standard input.
func (con *console) secret(ctx context.Context, question string) (string, error) {
	var key string
	var err error
	if isTerminal(os.Stdin) {
		key, err = con.askSecret(ctx, question)
	} else {
		key, err = typed(ctx, readLine)
	}
	if key == "" && (err == nil || errors.Is(err, io.EOF)) {
		return "", noKey("no key was given; nothing was kept")
	}
	return key, err
}

type logoutCmd struct {
	Profile string `placeholder:"NAME" help:"The profile to forget. Without one, it is the profile default."`
}

func (c *logoutCmd) Run(con *console) error {
	name, stored, err := con.place(c.Profile)
	if err != nil {
		return err
	}
	if err := os.Remove(stored.file(name)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no profile %s; petstore profiles lists all profiles", name)
	} else if err != nil {
		return err
	}
	con.say("The profile %s is forgotten. Its key works until it is revoked.", name)
	return nil
}

type profilesCmd struct {
	JSON bool `name:"json" help:"Print an array of objects."`
}

// listedProfile is a profile as petstore profiles shows it, without its key.
type listedProfile struct {
	Name        string `json:"name"`
	Server      string `json:"server"`
	Environment string `json:"environment"`
}

func (c *profilesCmd) Run(con *console) error {
	stored, err := con.profiles()
	if err != nil {
		return err
	}
	names, err := stored.names()
	if err != nil {
		return err
	}
	page := remote.Page[listedProfile]{}
	var unreadable error
	for _, name := range names {
		p, err := stored.read(name)
		if err != nil {
			unreadable = errors.Join(unreadable, err)
			continue
		}
		page.Items = append(page.Items, listedProfile{name, p.Server, p.environment()})
	}
	if len(names) == 0 && !c.JSON {
		con.say("There are no profiles yet; petstore login makes one.")
		return nil
	}
	return cmp.Or(list(con, listFlags{All: true, JSON: c.JSON}, shape[listedProfile]{
		titles: []string{"PROFILE", "SERVER", "ENVIRONMENT"},
		row:    func(p listedProfile) []string { return []string{p.Name, p.Server, p.Environment} },
	}, func(int, string) (remote.Page[listedProfile], error) { return page, nil }), unreadable)
}
