package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"petstore/internal/petstore"
)

type keysCmd struct {
	Create keysCreateCmd `cmd:"" help:"Make a key. Standard output shows the key and nothing else, this one time."`
	List   keysListCmd   `cmd:"" help:"List what is known about the keys. The keys themselves are not stored and cannot be shown."`
	Update keysUpdateCmd `cmd:"" help:"Change a key, on every server within 5 seconds: its access, name and expiry, and the plan and limits of all keys of its owner."`
	Rotate keysRotateCmd `cmd:"" help:"Replace a key by a new one of the same owner, plan, limits and access. Standard output shows the new key and nothing else, this one time."`
	Revoke keysRevokeCmd `cmd:"" help:"End a key for good, on every server within 5 seconds."`
	Unban  keysUnbanCmd  `cmd:"" help:"Lift the ban of a key's owner, on every server within 5 seconds."`
}

type keysCreateCmd struct {
	storeFlags
	Name      string          `required:"" help:"What the key is for, or whose it is."`
	Plan      petstore.Plan   `enum:"free,pro,business,enterprise" default:"free" help:"free, pro, business or enterprise."`
	PerMinute int64           `placeholder:"N" help:"Requests per minute; enterprise only."`
	PerDay    int64           `placeholder:"N" help:"Requests per day; enterprise only."`
	Access    petstore.Access `enum:"read,write" default:"write" help:"read, or write, which may read too."`
	Expires   lifetime        `placeholder:"90d" help:"How long the key works. By default, and with never, it works until it is revoked."`
}

func (c *keysCreateCmd) Run(ctx context.Context, con *console) error {
	if err := checkName(c.Name); err != nil {
		return err
	}
	limits, err := c.Plan.Limits(c.PerMinute, c.PerDay)
	if err != nil {
		return wrongUsage("--plan %s: %w", c.Plan, err)
	}
	return c.with(ctx, toManage, func(storage petstore.Storage) error {
		secret := petstore.NewSecret(c.Environment)
		key := petstore.NewKey(c.Name, c.Plan, limits, time.Now(), time.Duration(c.Expires))
		key.Access = c.Access
		if err := storage.CreateKey(ctx, key, petstore.HashSecret(secret)); err != nil {
			return err
		}
		return con.showSecret(secret, key)
	})
}

// showSecret prints only the new key on standard output, so that a script can read it, and the rest on standard error.
func (con *console) showSecret(secret string, key petstore.Key) error {
	if _, err := fmt.Fprintln(con.stdout, secret); err != nil {
		return fmt.Errorf("key %s was made, but standard output did not take it and nobody knows it: %w; petstore keys rotate --now %s makes one in its place", key.ID, err, key.ID)
	}
	until := "until it is revoked"
	if !key.ExpiresAt.IsZero() {
		until = "until " + key.ExpiresAt.UTC().Format(time.RFC3339)
	}
	fmt.Fprintf(con.stderr, "Made key %s (%s), which works %s. It is shown only this once: keep it safe.\n", key.ID, terms(key), until)
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
		return wrongUsage("--name %s; say what the key is for", problem)
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
	if err := (*duration)(l).UnmarshalText(text); err != nil {
		return fmt.Errorf("%w, or never", err)
	}
	if *l == 0 {
		return errors.New("such a key would never work; write never for a key that works until it is revoked")
	}
	return nil
}

type keysUpdateCmd struct {
	storeFlags
	ID        string           `arg:"" help:"The key's id, as keys list shows it."`
	Plan      *petstore.Plan   `enum:"free,pro,business,enterprise" help:"free, pro, business or enterprise, for all keys of the owner."`
	PerMinute *int64           `placeholder:"N" help:"Requests per minute, for all keys of the owner; enterprise only."`
	PerDay    *int64           `placeholder:"N" help:"Requests per day, for all keys of the owner; enterprise only."`
	Access    *petstore.Access `enum:"read,write" help:"read, or write, which may read too."`
	Name      *string          `help:"What the key is for, or whose it is."`
	Expires   *lifetime        `placeholder:"90d" help:"How long the key works from now on; with never, until it is revoked."`
}

func (c *keysUpdateCmd) Run(ctx context.Context, con *console) error {
	change := petstore.KeyChange{Plan: c.Plan, PerMinute: c.PerMinute, PerDay: c.PerDay, Access: c.Access, Name: c.Name, Lifetime: (*time.Duration)(c.Expires)}
	if change == (petstore.KeyChange{}) {
		return wrongUsage("there is nothing to change; give at least one of --plan, --per-minute, --per-day, --access, --name and --expires")
	}
	if c.Name != nil {
		if err := checkName(*c.Name); err != nil {
			return err
		}
	}
	return c.with(ctx, toChange, func(storage petstore.Storage) error {
		now := time.Now()
		key, err := storage.UpdateKey(ctx, c.ID, change, now)
		if petstore.IsCode(err, petstore.InvalidParameter) {
			return usageError{err}
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(con.stderr, "Key %s, %s, is now: %s; %s. Every server follows within 5 seconds.\n", key.ID, oneLine(key.Name), terms(key), state(key, now))
		return nil
	})
}

type keysListCmd struct {
	storeFlags
	JSON bool `name:"json" help:"Print an array of objects."`
}

func (c *keysListCmd) Run(ctx context.Context, con *console) error {
	return c.with(ctx, toChange, func(storage petstore.Storage) error {
		keys, err := storage.Keys(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return con.listJSON(keys, time.Now())
		}
		return con.listText(keys, time.Now())
	})
}

// listedKey is a key as keys list --json shows it.
type listedKey struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Owner       string          `json:"owner"`
	Plan        petstore.Plan   `json:"plan"`
	PerMinute   int64           `json:"perMinute"`
	PerDay      int64           `json:"perDay"`
	Access      petstore.Access `json:"access"`
	CreatedAt   instant         `json:"createdAt"`
	ExpiresAt   instant         `json:"expiresAt"`
	RevokedAt   instant         `json:"revokedAt"`
	BannedUntil instant         `json:"bannedUntil"`
	LastUsedAt  instant         `json:"lastUsedAt"`
}

// instant is a time in JSON: in the published form, which sorts as text, or null if there is none.
type instant struct{ time.Time }

func (i instant) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + petstore.FormatTime(i.Time) + `"`), nil
}

func (con *console) listJSON(keys []petstore.Key, now time.Time) error {
	listed := make([]listedKey, len(keys))
	for i, k := range keys {
		if !k.Banned(now) {
			k.BannedUntil = time.Time{} // the ban is over
		}
		listed[i] = listedKey{k.ID, k.Name, k.Owner, k.Plan, k.Limits.PerMinute, k.Limits.PerDay, k.Access,
			instant{k.CreatedAt}, instant{k.ExpiresAt}, instant{k.RevokedAt}, instant{k.BannedUntil}, instant{k.LastUsedAt}}
	}
	text, err := json.MarshalIndent(listed, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(con.stdout, harmlessJSON(string(text)))
	return err
}

func (con *console) listText(keys []petstore.Key, now time.Time) error {
	if len(keys) == 0 {
		fmt.Fprintln(con.stderr, "There are no keys yet; petstore keys create makes one.")
		return nil
	}
	table := tabwriter.NewWriter(con.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tOWNER\tPLAN\tPER MINUTE\tPER DAY\tACCESS\tCREATED\tLAST USED\tSTATE")
	for _, k := range keys {
		used := "never"
		if !k.LastUsedAt.IsZero() {
			used = k.LastUsedAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", k.ID, oneLine(k.Name), k.Owner, k.Plan, k.Limits.PerMinute, k.Limits.PerDay,
			k.Access, k.CreatedAt.UTC().Format(time.DateOnly), used, state(k, now))
	}
	return table.Flush()
}

// oneLine is a name as it stands in a table or a sentence.
func oneLine(s string) string { return harmless(strings.Join(strings.Fields(s), " ")) }

func state(k petstore.Key, now time.Time) string {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked " + at(k.RevokedAt)
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return "expired " + at(k.ExpiresAt)
	case k.Banned(now):
		return "banned until " + at(k.BannedUntil)
	case !k.ExpiresAt.IsZero():
		return "works until " + at(k.ExpiresAt)
	}
	return "works"
}

type keysRotateCmd struct {
	storeFlags
	ID      string   `arg:"" help:"The key's id, as keys list shows it."`
	Overlap duration `default:"24h" help:"How long the old key still works."`
	Now     bool     `help:"End the old key at once."`
}

func (c *keysRotateCmd) Run(ctx context.Context, con *console) error {
	return c.with(ctx, toChange, func(storage petstore.Storage) error {
		if c.Now {
			c.Overlap = 0
		}
		secret := petstore.NewSecret(c.Environment)
		key, err := storage.RotateKey(ctx, c.ID, petstore.HashSecret(secret), time.Now(), time.Duration(c.Overlap))
		if err != nil {
			return err
		}
		shown := con.showSecret(secret, key)
		if c.Now {
			fmt.Fprintf(con.stderr, "Key %s has ended.\n", c.ID)
		} else {
			fmt.Fprintf(con.stderr, "Key %s works for another %s at most.\n", c.ID, time.Duration(c.Overlap))
		}
		return shown
	})
}

type keysRevokeCmd struct {
	storeFlags
	ID string `arg:"" help:"The key's id, as keys list shows it."`
}

func (c *keysRevokeCmd) Run(ctx context.Context, con *console) error {
	return c.with(ctx, toChange, func(storage petstore.Storage) error {
		if err := storage.RevokeKey(ctx, c.ID, time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(con.stderr, "Key %s is revoked; every server refuses it within 5 seconds.\n", c.ID)
		return nil
	})
}

type keysUnbanCmd struct {
	storeFlags
	ID string `arg:"" help:"The id of any key of the owner, as keys list shows it."`
}

func (c *keysUnbanCmd) Run(ctx context.Context, con *console) error {
	return c.with(ctx, toChange, func(storage petstore.Storage) error {
		keys, err := storage.Keys(ctx)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.ID != c.ID {
				continue
			}
			if err := storage.UnbanOwner(ctx, k.Owner); err != nil {
				return err
			}
			fmt.Fprintf(con.stderr, "The owner of key %s is not banned any more; every server knows within 5 seconds.\n", c.ID)
			return nil
		}
		return petstore.NoSuchKey(c.ID)
	})
}
