package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"petstore/client"
	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

type createCommand struct {
	place
	Name      *string         `help:"What the key is for, or who uses it."`
	Staff     *string         `placeholder:"NAME" help:"Create a key for this person, and print the link that signs the person in at the desk instead of the key alone. The plan is business unless --plan is pro or enterprise."`
	BaseURL   string          `name:"base-url" placeholder:"URL" help:"The address at which --staff opens the desk, such as https://pets.example.com. The default is the server of --server or --profile; without these, http://localhost:8080."`
	Plan      petstore.Plan   `enum:"free,pro,business,enterprise" default:"free" help:"free, pro, business or enterprise."`
	PerMinute int64           `placeholder:"N" help:"Requests per minute; enterprise only."`
	PerDay    int64           `placeholder:"N" help:"Requests per day; enterprise only."`
	Access    petstore.Access `enum:"read,write,admin" default:"write" help:"read; write, which allows reading too; or admin, which allows everything, including creating and revoking keys over the API."`
	Expires   lifetime        `placeholder:"90d" help:"How long the key works. By default, and with never, it works until it is revoked."`
}

// Help shows examples.
func (createCommand) Help() string {
	return examples(
		"KEY=$(petstore keys create --name shop --plan pro)",
		"petstore keys create --name backoffice --access admin --expires 90d",
		"petstore keys create --staff Ann --base-url https://pets.example.com")
}

func (c *createCommand) Run(ctx context.Context, con *terminal.Console) error {
	if err := c.checkPerson(); err != nil {
		return err
	}
	if _, err := c.Plan.Limits(c.PerMinute, c.PerDay); err != nil {
		return terminal.WrongUsage("--plan %s: %w", c.Plan, err)
	}
	desk, err := c.desk(con)
	if err != nil {
		return err
	}
	return c.open(ctx, con, database.ToCreateKeys, func(keys keyring) error {
		key, err := keys.create(ctx, petstore.KeyChange{
			Name: c.Name, Plan: &c.Plan, PerMinute: givenLimit(c.PerMinute), PerDay: givenLimit(c.PerDay), Access: &c.Access,
			Lifetime: (*time.Duration)(&c.Expires),
		})
		if err != nil {
			return err
		}
		if c.Staff == nil {
			err = showSecret(con, key)
		} else {
			err = showLink(con, key, desk)
		}
		noteSameName(ctx, con, keys, key)
		return err
	})
}

// checkPerson checks --name and --staff. The key of a person has the person's name.
func (c *createCommand) checkPerson() error {
	switch {
	case c.Staff == nil && c.Name == nil:
		return terminal.WrongUsage("--name is missing: What the key is for, or who uses it; for a person at the desk, give --staff instead")
	case c.Staff == nil:
		return checkName("--name", *c.Name)
	case c.Name != nil:
		return terminal.WrongUsage("--staff cannot be combined with --name; the key has the name of the person")
	}
	c.Name = c.Staff
	if c.Plan == petstore.Free {
		c.Plan = petstore.Business
	}
	return checkName("--staff", *c.Staff)
}

// desk returns the address of the desk.
func (c *createCommand) desk(con *terminal.Console) (address string, err error) {
	address, err = profile.ParseAddress("--base-url", c.BaseURL)
	if err == nil && address == "" && c.onServer() {
		var target profile.Profile
		target, err = c.server().Target(con)
		address = target.Server
	}
	return cmp.Or(address, profile.DefaultServer), err
}

// givenLimit returns nil for 0, which is no limit.
func givenLimit(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// showSecret prints only the new key on standard output, so that a script can read it. Everything else goes to standard
// error.
func showSecret(con *terminal.Console, key client.Key) error {
	if err := printSecret(con, key, key.Secret); err != nil {
		return err
	}
	con.Say("Created key %s. It is shown only this once, so store it in a safe place.", describeNew(key))
	return nil
}

// showLink prints only the link that signs a person in at the desk on standard output.
func showLink(con *terminal.Console, key client.Key, desk string) error {
	if err := printSecret(con, key, desk+"/#key="+key.Secret); err != nil {
		return err
	}
	con.Say("Created key %s. The link signs %s in at the desk. It contains the key and is shown only this once; send it to nobody else.", describeNew(key), terminal.OneLine(key.Name))
	if desk == profile.DefaultServer {
		con.Say("The link leads to %s. If people reach the server at another address, give that with --base-url.", desk)
	}
	return nil
}

func printSecret(con *terminal.Console, key client.Key, text string) error {
	if _, err := fmt.Fprintln(con.Stdout, text); err != nil {
		return fmt.Errorf("key %s was created but could not be printed, so nobody knows it: %w; replace it with petstore keys rotate --now %s", key.ID, err, key.ID)
	}
	return nil
}

// describeNew names a new key, its terms, and how long it works.
func describeNew(key client.Key) string {
	until := "until it is revoked"
	if !key.ExpiresAt.IsZero() {
		until = "until " + formatTime(key.ExpiresAt)
	}
	return fmt.Sprintf("%s (%s), which works %s", key.ID, describeTerms(key), until)
}

func checkName(flag, name string) error {
	if problem := petstore.CheckText(name, petstore.MaxNameLength); problem != "" {
		return terminal.WrongUsage("%s %s; say what the key is for", flag, problem)
	}
	return nil
}

// lifetime is how long a key works. A lifetime of 0, written "never" on the command line, means that the key does not
// expire.
type lifetime time.Duration

// UnmarshalText parses a lifetime such as 90d, 36h or never.
func (l *lifetime) UnmarshalText(text []byte) error {
	if string(text) == "never" {
		*l = 0
		return nil
	}
	if err := (*terminal.Duration)(l).UnmarshalText(text); err != nil {
		return fmt.Errorf("%w, or never", err)
	}
	if *l == 0 {
		return errors.New("such a key would never work; for a key that works until it is revoked, write never")
	}
	return nil
}
