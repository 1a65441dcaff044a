package remote

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"petstore/client"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// profileFlags change the profile of an animal. An empty value removes what was known.
type profileFlags struct {
	Breed       *string     `help:"The breed. An empty one removes it, as with the flags below."`
	Sex         *client.Sex `help:"female or male."`
	Born        *string     `placeholder:"DATE" help:"When the animal was born: a day, a month or a year, such as 2024-05-17, 2024-05 or 2024."`
	Arrived     *string     `placeholder:"DAY" help:"The day of its arrival, such as 2024-05-17."`
	Description *string     `help:"What everybody may read about the animal."`
	Tag         []string    `sep:"none" help:"A tag. Give the flag once for each tag; the tags replace the earlier ones."`
	Notes       *string     `help:"Notes for staff. A key that may only read does not get them."`
}

func (f profileFlags) patch() client.ProfilePatch {
	patch := client.ProfilePatch{Breed: f.Breed, Sex: f.Sex, BornOn: f.Born, ArrivedOn: f.Arrived, Description: f.Description, Notes: f.Notes}
	switch {
	case len(f.Tag) == 1 && f.Tag[0] == "":
		patch.Tags = new([]string)
	case f.Tag != nil:
		patch.Tags = &f.Tag
	}
	return patch
}

// showWithProfile prints an animal. On a terminal, its profile follows, line by line.
func showWithProfile(ctx context.Context, con *terminal.Console, store *client.Client, f showFlags, id int64) error {
	page, err := store.ListPets(ctx, client.PetQuery{ID: &id, Profiles: true})
	if err != nil {
		return err
	}
	if len(page.Items) == 0 {
		_, err := store.FindPet(ctx, id) // returns that there is no such animal
		return err
	}
	found := page.Items[0]
	if err := showPet(ctx, con, store, f, found); err != nil || f.JSON || !terminal.IsTerminal(con.Stdout) || found.Profile == nil {
		return err
	}
	_, err = io.WriteString(con.Stdout, describeProfile(*found.Profile))
	return err
}

// describeProfile returns a line for each thing that is known.
func describeProfile(p client.Profile) string {
	var b strings.Builder
	for _, line := range [][2]string{
		{"Breed", p.Breed}, {"Sex", string(p.Sex)}, {"Born", p.BornOn}, {"Arrived", p.ArrivedOn}, {"Tags", strings.Join(p.Tags, ", ")},
		{"Description", p.Description}, {"Notes", p.Notes},
	} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%-13s%s\n", line[0]+":", indented(line[1]))
		}
	}
	for _, photo := range p.Photos {
		fmt.Fprintf(&b, "%-13s%d  %s\n", "Photo:", photo.ID, terminal.Escape(photo.URL))
	}
	return b.String()
}

// indented returns a text of one or more lines, made safe to print beside a label.
func indented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = terminal.Escape(strings.TrimRight(line, "\r"))
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", 13))
}

// petsPhoto are the commands for the photos of an animal.
type petsPhoto struct {
	Add    photoAdd    `cmd:"" help:"Add a photo to an animal: a JPEG, PNG or WebP file of at most 5 MiB. The store keeps no data about where it was taken."`
	List   photoList   `cmd:"" aliases:"ls" help:"List the photos of an animal, the cover first."`
	Cover  photoCover  `cmd:"" help:"Make a photo the cover of its animal."`
	Delete photoDelete `cmd:"" aliases:"rm" help:"Delete a photo."`
}

var photoView = view[client.Photo]{
	titles: []string{"ID", "WIDTH", "HEIGHT", "ADDED", "URL"},
	row: func(p client.Photo) []string {
		return []string{number(p.ID), number(int64(p.Width)), number(int64(p.Height)), formatTime(p.CreatedAt, time.RFC3339), p.URL}
	},
}

type photoAdd struct {
	profile.Flags
	showFlags
	ID   int64  `arg:"" help:"The animal's id, as pets list shows it."`
	File string `arg:"" help:"The file of the photo, or - for standard input."`
}

// Help shows an example.
func (photoAdd) Help() string { return examples("petstore pets photo add 7 biscuit.jpg") }

func (c *photoAdd) Run(ctx context.Context, con *terminal.Console) error {
	file := os.Stdin
	if c.File != "-" {
		opened, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("the photo cannot be opened: %w", err)
		}
		defer opened.Close()
		file = opened
	}
	return c.Change(con, func(store *client.Client) error {
		added, err := store.AddPhoto(ctx, c.ID, file)
		if err != nil {
			return err
		}
		return show(con, c.showFlags, photoView, added)
	})
}

type photoList struct {
	profile.Flags
	listFlags
	ID int64 `arg:"" help:"The animal's id, as pets list shows it."`
}

func (c *photoList) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		return list(con, c.listFlags, photoView, func(limit int, _ string) (client.Page[client.Photo], error) {
			p, err := store.GetProfile(ctx, c.ID)
			return client.Page[client.Photo]{Items: p.Photos[:min(limit, len(p.Photos))]}, err
		})
	})
}

// photoFlags are the flags of a command for one photo.
type photoFlags struct {
	profile.Flags
	ID    int64 `arg:"" help:"The animal's id, as pets list shows it."`
	Photo int64 `arg:"" help:"The photo's id, as pets photo list shows it."`
}

type photoCover struct{ photoFlags }

func (c *photoCover) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		if _, err := store.CoverPhoto(ctx, c.ID, c.Photo); err != nil {
			return err
		}
		con.Say("Photo %d is the cover of animal %d.", c.Photo, c.ID)
		return nil
	})
}

type photoDelete struct{ photoFlags }

func (c *photoDelete) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		if err := store.DeletePhoto(ctx, c.ID, c.Photo); err != nil {
			return err
		}
		con.Say("Deleted photo %d of animal %d.", c.Photo, c.ID)
		return nil
	})
}
