package keys

import (
	"context"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// oneKey is the argument that names a key.
type oneKey struct {
	Key string `arg:"" placeholder:"ID|NAME" help:"The key's id, as keys list shows it, or its name if no other usable key has it."`
}

type updateCommand struct {
	place
	oneKey
	Plan      *petstore.Plan   `enum:"free,pro,business,enterprise" help:"free, pro, business or enterprise, for all keys of the owner."`
	PerMinute *int64           `placeholder:"N" help:"Requests per minute, for all keys of the owner; enterprise only."`
	PerDay    *int64           `placeholder:"N" help:"Requests per day, for all keys of the owner; enterprise only."`
	Access    *petstore.Access `enum:"read,write,admin" help:"read; write, which allows reading too; or admin, which allows everything, including creating and revoking keys over the API."`
	Name      *string          `help:"What the key is for, or who uses it."`
	Expires   *lifetime        `placeholder:"90d" help:"How long the key works from now on; with never, it works until it is revoked."`
}

func (c *updateCommand) Run(ctx context.Context, con *terminal.Console) error {
	change := petstore.KeyChange{Plan: c.Plan, PerMinute: c.PerMinute, PerDay: c.PerDay, Access: c.Access, Name: c.Name, Lifetime: (*time.Duration)(c.Expires)}
	if change == (petstore.KeyChange{}) {
		return terminal.WrongUsage("there is nothing to change; give at least one of --plan, --per-minute, --per-day, --access, --name and --expires")
	}
	if c.Name != nil {
		if err := checkName("--name", *c.Name); err != nil {
			return err
		}
	}
	return c.open(ctx, con, database.ToUse, func(keys keyring) error {
		key, err := find(ctx, keys, c.Key)
		if err != nil {
			return err
		}
		if key, err = keys.update(ctx, key.ID, change); err != nil {
			return err
		}
		con.Say("Key %s is now: %s; %s. Every server follows within 5 seconds.", named(key), describeTerms(key), describeState(key, time.Now()))
		if c.Name != nil {
			noteSameName(ctx, con, keys, key)
		}
		return nil
	})
}

type rotateCommand struct {
	place
	oneKey
	Overlap terminal.Duration `default:"24h" help:"How long the old key keeps working."`
	Now     bool              `help:"Make the old key stop working at once."`
}

func (c *rotateCommand) Run(ctx context.Context, con *terminal.Console) error {
	if c.Now {
		c.Overlap = 0
	}
	return c.open(ctx, con, database.ToUse, func(keys keyring) error {
		old, err := find(ctx, keys, c.Key)
		if err != nil {
			return err
		}
		key, err := keys.rotate(ctx, old.ID, time.Duration(c.Overlap))
		if err != nil {
			return err
		}
		err = showSecret(con, key)
		if c.Now {
			con.Say("Key %s no longer works; every server refuses it within 5 seconds.", named(old))
		} else {
			con.Say("Key %s works for another %s at most.", named(old), time.Duration(c.Overlap))
		}
		return err
	})
}

type revokeCommand struct {
	place
	oneKey
}

func (c *revokeCommand) Run(ctx context.Context, con *terminal.Console) error {
	return c.open(ctx, con, database.ToUse, func(keys keyring) error {
		key, err := find(ctx, keys, c.Key)
		if err != nil {
			return err
		}
		if _, err := keys.revoke(ctx, key.ID); err != nil {
			return err
		}
		con.Say("Key %s is revoked; every server refuses it within 5 seconds.", named(key))
		return nil
	})
}

type unbanCommand struct {
	place
	Key string `arg:"" placeholder:"ID|NAME" help:"The id of any key of the owner, as keys list shows it, or its name if no other owner has a usable key with it."`
}

func (c *unbanCommand) Run(ctx context.Context, con *terminal.Console) error {
	return c.open(ctx, con, database.ToUse, func(keys keyring) error {
		key, err := findOwner(ctx, keys, c.Key)
		if err != nil {
			return err
		}
		if _, err := keys.unban(ctx, key.ID); err != nil {
			return err
		}
		if key.BannedUntil.IsZero() {
			con.Say("The owner of key %s was not banned. Its earlier bans no longer make the next one longer.", named(key))
		} else {
			con.Say("The owner of key %s is no longer banned; every server follows within 5 seconds.", named(key))
		}
		return nil
	})
}
