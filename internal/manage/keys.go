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
	Create keysCreate `cmd:"" help:"Make a key. Standard output shows the key and nothing else, this one time."`
	List   keysList   `cmd:"" help:"List what is known about the keys. The keys themselves are not stored and cannot be shown."`
	Update keysUpdate `cmd:"" help:"Change a key, on every server within 5 seconds: its access, name and expiry, and the plan and limits of all keys of its owner."`
	Rotate keysRotate `cmd:"" help:"Replace a key by a new one of the same owner, plan, limits and access. Standard output shows the new key and nothing else, this one time."`
	Revoke keysRevoke `cmd:"" help:"End a key for good, on every server within 5 seconds."`
	Unban  keysUnban  `cmd:"" help:"Lift the ban of a key's owner, on every server within 5 seconds."`
}

// keyFlags are the flags of every command for keys.
type keyFlags struct{ database.Flags }

// Interrupted says how to find out what a command did that was broken off.
func (keyFlags) Interrupted() string { return "petstore keys list shows what was done" }

type keysCreate struct {
	keyFlags
	Name      string          `required:"" help:"What the key is for, or whose it is."`
	Plan      petstore.Plan   `enum:"free,pro,business,enterprise" default:"free" help:"free, pro, business or enterprise."`
	PerMinute int64           `placeholder:"N" help:"Requests per minute; enterprise only."`
	PerDay    int64           `placeholder:"N" help:"Requests per day; enterprise only."`
	Access    petstore.Access `enum:"read,write" default:"write" help:"read, or write, which may read too."`
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
	return c.With(ctx, database.ToManage, func(storage *database.Storage) error {
		secret := petstore.NewSecret(c.Environment)
		key := petstore.NewKey(c.Name, c.Plan, limits, time.Now(), time.Duration(c.Expires))
		key.Access = c.Access
		if err := storage.CreateKey(ctx, key, petstore.HashSecret(secret)); err != nil {
			return err
		}
		return showSecret(con, secret, key)
	})
}

// showSecret prints only the new key on standard output, so that a script can read it, and the rest on standard error.
func showSecret(con *terminal.Console, secret string, key petstore.Key) error {
	if _, err := fmt.Fprintln(con.Stdout, secret); err != nil {
		return fmt.Errorf("key %s was made, but standard output did not take it and nobody knows it: %w; petstore keys rotate --now %s makes one in its place", key.ID, err, key.ID)
	}
	until := "until it is revoked"
	if !key.ExpiresAt.IsZero() {
		until = "until " + key.ExpiresAt.UTC().Format(time.RFC3339)
	}
	fmt.Fprintf(con.Stderr, "Made key %s (%s), which works %s. It is shown only this once: keep it safe.\n", key.ID, terms(key), until)
	return nil
}

// terms says what a key may do, and how often.
func terms(key petstore.Key) string {
	may := "read and write"
	if key.Access == petstore.ReadOnly {
		may = "read only"
	}
	return fmt.Sprintf("%s, %d requests per minute, %d per day, %s", key.Plan, key.Limits.PerMinute, key.Limits.PerDay, may)
}

func checkName(name string) error {
	if problem := petstore.CheckText(name, petstore.MaxNameLength); problem != "" {
		return terminal.WrongUsage("--name %s; say what the key is for", problem)
	}
	return nil
}

// lifetime is how long a key works. 0, written as never, means until it is revoked.
type lifetime time.Duration

// UnmarshalText reads 90d, 36h or never.
func (l *lifetime) UnmarshalText(text []byte) error {
	if string(text) == "never" {
		*l = 0
		return nil
	}
	if err := (*terminal.Duration)(l).UnmarshalText(text); err != nil {
		return fmt.Errorf("%w, or never", err)
	}
	if *l == 0 {
		return errors.New("such a key would never work; write never for a key that works until it is revoked")
	}
	return nil
}

type keysUpdate struct {
	keyFlags
	ID        string           `arg:"" help:"The key's id, as keys list shows it."`
	Plan      *petstore.Plan   `enum:"free,pro,business,enterprise" help:"free, pro, business or enterprise, for all keys of the owner."`
	PerMinute *int64           `placeholder:"N" help:"Requests per minute, for all keys of the owner; enterprise only."`
	PerDay    *int64           `placeholder:"N" help:"Requests per day, for all keys of the owner; enterprise only."`
	Access    *petstore.Access `enum:"read,write" help:"read, or write, which may read too."`
	Name      *string          `help:"What the key is for, or whose it is."`
	Expires   *lifetime        `placeholder:"90d" help:"How long the key works from now on; with never, until it is revoked."`
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
	return c.With(ctx, database.ToChange, func(storage *database.Storage) error {
		now := time.Now()
		key, err := storage.UpdateKey(ctx, c.ID, change, now)
		if err != nil {
			return keyRefused(err)
		}
		fmt.Fprintf(con.Stderr, "Key %s, %s, is now: %s; %s. Every server follows within 5 seconds.\n", key.ID, terminal.OneLine(key.Name), terms(key), state(key, now))
		return nil
	})
}

type keysRotate struct {
	keyFlags
	ID      string            `arg:"" help:"The key's id, as keys list shows it."`
	Overlap terminal.Duration `default:"24h" help:"How long the old key still works."`
	Now     bool              `help:"End the old key at once."`
}

func (c *keysRotate) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(ctx, database.ToChange, func(storage *database.Storage) error {
		if c.Now {
			c.Overlap = 0
		}
		secret := petstore.NewSecret(c.Environment)
		key, err := storage.RotateKey(ctx, c.ID, petstore.HashSecret(secret), time.Now(), time.Duration(c.Overlap))
		if err != nil {
			return keyRefused(err)
		}
		shown := showSecret(con, secret, key)
		if c.Now {
			fmt.Fprintf(con.Stderr, "Key %s has ended.\n", c.ID)
		} else {
			fmt.Fprintf(con.Stderr, "Key %s works for another %s at most.\n", c.ID, time.Duration(c.Overlap))
		}
		return shown
	})
}

type keysRevoke struct {
	keyFlags
	ID string `arg:"" help:"The key's id, as keys list shows it."`
}

func (c *keysRevoke) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(ctx, database.ToChange, func(storage *database.Storage) error {
		if err := storage.RevokeKey(ctx, c.ID, time.Now()); err != nil {
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
	return c.With(ctx, database.ToChange, func(storage *database.Storage) error {
		keys, err := storage.Keys(ctx)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.ID != c.ID {
				continue
			}
			if err := storage.UnbanOwner(ctx, k.Owner); err != nil {
				return keyRefused(err)
			}
			fmt.Fprintf(con.Stderr, "The owner of key %s is not banned any more; every server knows within 5 seconds.\n", c.ID)
			return nil
		}
		return keyRefused(petstore.NoSuchKey(c.ID))
	})
}
