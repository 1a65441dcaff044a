package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"petstore/internal/petstore"
)

type keysCmd struct {
	Create keysCreateCmd `cmd:"" help:"Make a key. It is printed alone on standard output, this once."`
	List   keysListCmd   `cmd:"" help:"List the keys; the keys themselves are not stored and cannot be shown."`
	Rotate keysRotateCmd `cmd:"" help:"Replace a key by a new one of the same owner, plan and limits. It is printed alone on standard output, this once."`
	Revoke keysRevokeCmd `cmd:"" help:"End a key for good, on every server within 5 seconds."`
	Unban  keysUnbanCmd  `cmd:"" help:"Lift the ban of a key's owner, on every server within 5 seconds."`
}

type keysCreateCmd struct {
	storeFlags
	Name      string        `required:"" help:"What the key is for, or whose it is."`
	Plan      petstore.Plan `enum:"free,pro,business,enterprise" default:"free" help:"free, pro, business or enterprise."`
	PerMinute int64         `placeholder:"N" help:"Requests per minute; enterprise only."`
	PerDay    int64         `placeholder:"N" help:"Requests per day; enterprise only."`
	Expires   *duration     `placeholder:"90d" help:"How long the key works; without it, until it is revoked."`
}

func (c *keysCreateCmd) Run(ctx context.Context, con *console) error {
	if strings.TrimSpace(c.Name) == "" {
		return wrongUsage("--name is empty; say what the key is for")
	}
	limits, err := c.Plan.Limits(c.PerMinute, c.PerDay)
	if err != nil {
		return wrongUsage("--plan %s: %w", c.Plan, err)
	}
	var lifetime time.Duration
	if c.Expires != nil {
		lifetime = time.Duration(*c.Expires)
		if lifetime == 0 {
			return wrongUsage("--expires is 0: such a key would never work; leave it out for one that works until it is revoked")
		}
	}
	return c.with(ctx, toManage, func(storage petstore.Storage) error {
		secret := petstore.NewSecret(c.Environment)
		key := petstore.NewKey(c.Name, c.Plan, limits, time.Now(), lifetime)
		if err := storage.CreateKey(ctx, key, petstore.HashSecret(secret)); err != nil {
			return err
		}
		con.showSecret(secret, key)
		return nil
	})
}

// showSecret prints a new key alone on standard output, so that a script can take it, and the rest beside it.
func (con *console) showSecret(secret string, key petstore.Key) {
	fmt.Fprintln(con.stdout, secret)
	until := "until it is revoked"
	if !key.ExpiresAt.IsZero() {
		until = "until " + key.ExpiresAt.UTC().Format(time.RFC3339)
	}
	fmt.Fprintf(con.stderr, "Made key %s (%s, %d requests per minute, %d per day), which works %s. It is shown this once: keep it safe.\n",
		key.ID, key.Plan, key.Limits.PerMinute, key.Limits.PerDay, until)
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
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Owner       string        `json:"owner"`
	Plan        petstore.Plan `json:"plan"`
	PerMinute   int64         `json:"perMinute"`
	PerDay      int64         `json:"perDay"`
	CreatedAt   time.Time     `json:"createdAt"`
	ExpiresAt   *time.Time    `json:"expiresAt"`
	RevokedAt   *time.Time    `json:"revokedAt"`
	BannedUntil *time.Time    `json:"bannedUntil"`
}

func (con *console) listJSON(keys []petstore.Key, now time.Time) error {
	listed := make([]listedKey, len(keys))
	for i, k := range keys {
		if !k.Banned(now) {
			k.BannedUntil = time.Time{} // a ban that is over is none
		}
		listed[i] = listedKey{k.ID, k.Name, k.Owner, k.Plan, k.Limits.PerMinute, k.Limits.PerDay,
			k.CreatedAt, optional(k.ExpiresAt), optional(k.RevokedAt), optional(k.BannedUntil)}
	}
	out := json.NewEncoder(con.stdout)
	out.SetIndent("", "  ")
	return out.Encode(listed)
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (con *console) listText(keys []petstore.Key, now time.Time) error {
	if len(keys) == 0 {
		fmt.Fprintln(con.stderr, "There are no keys yet; petstore keys create makes one.")
		return nil
	}
	table := tabwriter.NewWriter(con.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tOWNER\tPLAN\tPER MINUTE\tPER DAY\tCREATED\tSTATE")
	for _, k := range keys {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", k.ID, oneLine(k.Name), k.Owner, k.Plan, k.Limits.PerMinute, k.Limits.PerDay,
			k.CreatedAt.UTC().Format(time.DateOnly), state(k, now))
	}
	return table.Flush()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

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
		con.showSecret(secret, key)
		if c.Now {
			fmt.Fprintf(con.stderr, "Key %s has ended.\n", c.ID)
		} else {
			fmt.Fprintf(con.stderr, "Key %s works for another %s at the most.\n", c.ID, time.Duration(c.Overlap))
		}
		return nil
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
