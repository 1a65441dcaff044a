package manage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// Keys are the commands for API keys.
type Keys struct {
	Create keysCreate `cmd:"" help:"Create a key. It is printed on standard output this once, and nothing else is."`
	List   keysList   `cmd:"" help:"List the keys with their names, plans, limits and states. The keys themselves are not stored and cannot be shown."`
	Update keysUpdate `cmd:"" help:"Change the access, name and expiry of a key, and the plan and limits of all keys of its owner. Every server follows within 5 seconds."`
	Rotate keysRotate `cmd:"" help:"Replace a key with a new one of the same owner, plan, limits and access. The new key is printed on standard output this once, and nothing else is."`
	Revoke keysRevoke `cmd:"" help:"Revoke a key for good. Every server follows within 5 seconds."`
	Unban  keysUnban  `cmd:"" help:"Lift the ban of a key's owner. Every server follows within 5 seconds."`
}

// keyFlags are the flags that all commands for keys share.
type keyFlags struct{ flags }

// Interrupted says how to find out what an interrupted command has done.
func (keyFlags) Interrupted() string { return "petstore keys list shows what was done" }

type keysCreate struct {
	keyFlags
	Name      string          `required:"" help:"What the key is for, or who uses it."`
	Plan      petstore.Plan   `enum:"free,pro,business,enterprise" default:"free" help:"free, pro, business or enterprise."`
	PerMinute int64           `placeholder:"N" help:"Requests per minute; enterprise only."`
	PerDay    int64           `placeholder:"N" help:"Requests per day; enterprise only."`
	Access    petstore.Access `enum:"read,write" default:"write" help:"read, or write, which allows reading too."`
	Expires   lifetime        `placeholder:"90d" help:"How long the key works. By default, and with never, it works until it is revoked."`
}

func (c *keysCreate) Run(ctx context.Context, con *terminal.Console) error {
	if err := checkName(c.Name); err != nil {
		return err
	}
	limits, err := c.Plan.Limits(c.PerMinute, c.PerDay)
	if err != nil {
		return terminal.WrongUsage("--plan %s: %w", c.Plan, err)
	}
	return c.With(ctx, database.ToCreateKeys, func(storage *database.Storage) error {
		secret := petstore.NewSecret(c.Environment)
		key := petstore.NewKey(c.Name, c.Plan, limits, time.Now(), time.Duration(c.Expires))
		key.Access = c.Access
		if err := storage.CreateKey(ctx, key, petstore.HashSecret(secret), petstore.ByOperator(key.CreatedAt)); err != nil {
			return err
		}
		return showSecret(con, secret, key)
	})
}

// showSecret prints only the new key on standard output, so that a script can read it. Everything else goes to standard
// error.
func showSecret(con *terminal.Console, secret string, key petstore.Key) error {
	if _, err := fmt.Fprintln(con.Stdout, secret); err != nil {
		return fmt.Errorf("key %s was created but could not be printed, so nobody knows it: %w; replace it with petstore keys rotate --now %s", key.ID, err, key.ID)
	}
	until := "until it is revoked"
	if !key.ExpiresAt.IsZero() {
		until = "until " + key.ExpiresAt.UTC().Format(time.RFC3339)
	}
	fmt.Fprintf(con.Stderr, "Created key %s (%s), which works %s. It is shown only this once, so store it in a safe place.\n", key.ID, describeTerms(key), until)
	return nil
}

// describeTerms names the plan, the limits and the access of a key.
func describeTerms(key petstore.Key) string {
	access := "read and write"
	if key.Access == petstore.ReadOnly {
		access = "read only"
	}
	return fmt.Sprintf("%s, %d requests per minute, %d per day, %s", key.Plan, key.Limits.PerMinute, key.Limits.PerDay, access)
}

func checkName(name string) error {
	if problem := petstore.CheckText(name, petstore.MaxNameLength); problem != "" {
		return terminal.WrongUsage("--name %s; say what the key is for", problem)
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

type keysUpdate struct {
	keyFlags
	ID        string           `arg:"" help:"The key's id, as keys list shows it."`
	Plan      *petstore.Plan   `enum:"free,pro,business,enterprise" help:"free, pro, business or enterprise, for all keys of the owner."`
	PerMinute *int64           `placeholder:"N" help:"Requests per minute, for all keys of the owner; enterprise only."`
	PerDay    *int64           `placeholder:"N" help:"Requests per day, for all keys of the owner; enterprise only."`
	Access    *petstore.Access `enum:"read,write" help:"read, or write, which allows reading too."`
	Name      *string          `help:"What the key is for, or who uses it."`
	Expires   *lifetime        `placeholder:"90d" help:"How long the key works from now on; with never, it works until it is revoked."`
}

func (c *keysUpdate) Run(ctx context.Context, con *terminal.Console) error {
	change := petstore.KeyChange{Plan: c.Plan, PerMinute: c.PerMinute, PerDay: c.PerDay, Access: c.Access, Name: c.Name, Lifetime: (*time.Duration)(c.Expires)}
	if change == (petstore.KeyChange{}) {
		return terminal.WrongUsage("there is nothing to change; give at least one of --plan, --per-minute, --per-day, --access, --name and --expires")
	}
	if c.Name != nil {
		if err := checkName(*c.Name); err != nil {
			return err
		}
	}
	return c.With(ctx, database.ToUse, func(storage *database.Storage) error {
		now := time.Now()
		key, _, err := storage.UpdateKey(ctx, c.ID, change, petstore.ByOperator(now))
		if err != nil {
			return keyRefused(err)
		}
		fmt.Fprintf(con.Stderr, "Key %s, %s, is now: %s; %s. Every server follows within 5 seconds.\n", key.ID, terminal.OneLine(key.Name), describeTerms(key), describeState(key, now))
		return nil
	})
}

type keysRotate struct {
	keyFlags
	ID      string            `arg:"" help:"The key's id, as keys list shows it."`
	Overlap terminal.Duration `default:"24h" help:"How long the old key keeps working."`
	Now     bool              `help:"Make the old key stop working at once."`
}

func (c *keysRotate) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(ctx, database.ToUse, func(storage *database.Storage) error {
		if c.Now {
			c.Overlap = 0
		}
		secret := petstore.NewSecret(c.Environment)
		key, err := storage.RotateKey(ctx, c.ID, petstore.HashSecret(secret), petstore.Rotation{Overlap: time.Duration(c.Overlap), KeepLifetime: true}, petstore.ByOperator(time.Now()))
		if err != nil {
			return keyRefused(err)
		}
		err = showSecret(con, secret, key)
		if c.Now {
			fmt.Fprintf(con.Stderr, "Key %s no longer works; every server refuses it within 5 seconds.\n", c.ID)
		} else {
			fmt.Fprintf(con.Stderr, "Key %s works for another %s at most.\n", c.ID, time.Duration(c.Overlap))
		}
		return err
	})
}

type keysRevoke struct {
	keyFlags
	ID string `arg:"" help:"The key's id, as keys list shows it."`
}

func (c *keysRevoke) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(ctx, database.ToUse, func(storage *database.Storage) error {
		if _, _, err := storage.RevokeKey(ctx, c.ID, petstore.ByOperator(time.Now())); err != nil {
			return keyRefused(err)
		}
		fmt.Fprintf(con.Stderr, "Key %s is revoked; every server refuses it within 5 seconds.\n", c.ID)
		return nil
	})
}

type keysUnban struct {
	keyFlags
	ID string `arg:"" help:"The id of any key of the owner, as keys list shows it."`
}

func (c *keysUnban) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(ctx, database.ToUse, func(storage *database.Storage) error {
		if _, _, err := storage.UnbanKey(ctx, c.ID, petstore.ByOperator(time.Now())); err != nil {
			return keyRefused(err)
		}
		fmt.Fprintf(con.Stderr, "The owner of key %s is no longer banned; every server follows within 5 seconds.\n", c.ID)
		return nil
	})
}
