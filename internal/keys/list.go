package keys

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"petstore/client"
	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

type listCommand struct {
	place
	Active bool `help:"Leave out the keys that are revoked or have expired."`
	JSON   bool `name:"json" help:"Print an array of the JSON objects of the API."`
}

func (c *listCommand) Run(ctx context.Context, con *terminal.Console) error {
	return c.open(ctx, con, database.ToUse, func(keys keyring) error {
		all, err := keys.list(ctx, c.Active)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return printJSON(con, objects(all, keyObjectOf))
		case len(all) == 0:
			con.Say("There are no keys to list. Create one with petstore keys create.")
			return nil
		}
		return printKeys(con, all)
	})
}

type showCommand struct {
	place
	oneKey
	JSON bool `name:"json" help:"Print the JSON object of the API."`
}

func (c *showCommand) Run(ctx context.Context, con *terminal.Console) error {
	return c.open(ctx, con, database.ToUse, func(keys keyring) error {
		key, err := find(ctx, keys, c.Key)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return printJSON(con, keyObjectOf(key))
		}
		return printKeys(con, []client.Key{key})
	})
}

// keyObject is a key as the API shows it.
type keyObject struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Owner       string        `json:"owner"`
	Plan        client.Plan   `json:"plan"`
	PerMinute   int64         `json:"perMinute"`
	PerDay      int64         `json:"perDay"`
	Access      client.Access `json:"access"`
	CreatedAt   apiTime       `json:"createdAt"`
	ExpiresAt   apiTime       `json:"expiresAt,omitzero"`
	RevokedAt   apiTime       `json:"revokedAt,omitzero"`
	BannedUntil apiTime       `json:"bannedUntil,omitzero"`
	LastUsedAt  apiTime       `json:"lastUsedAt,omitzero"`
}

func keyObjectOf(k client.Key) keyObject {
	return keyObject{k.ID, k.Name, k.Owner, k.Plan, k.PerMinute, k.PerDay, k.Access,
		apiTime{k.CreatedAt}, apiTime{k.ExpiresAt}, apiTime{k.RevokedAt}, apiTime{k.BannedUntil}, apiTime{k.LastUsedAt}}
}

// apiTime is a time that becomes JSON in the format of the API, whose texts sort by time.
type apiTime struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t apiTime) MarshalJSON() ([]byte, error) {
	return []byte(`"` + petstore.FormatTime(t.Time) + `"`), nil
}

// objects converts a list. The result is never nil, which would become null in JSON.
func objects[T, O any](list []T, object func(T) O) []O {
	converted := make([]O, len(list))
	for i, item := range list {
		converted[i] = object(item)
	}
	return converted
}

func printJSON(con *terminal.Console, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(con.Stdout, terminal.EscapeJSON(string(text)))
	return err
}

func printKeys(con *terminal.Console, keys []client.Key) error {
	now := time.Now()
	return printTable(con, "ID\tNAME\tOWNER\tPLAN\tPER MINUTE\tPER DAY\tACCESS\tCREATED\tLAST USED\tSTATE", keys, func(k client.Key) []any {
		used := "never"
		if !k.LastUsedAt.IsZero() {
			used = formatTime(k.LastUsedAt)
		}
		return []any{k.ID, terminal.OneLine(k.Name), k.Owner, k.Plan, k.PerMinute, k.PerDay, k.Access, k.CreatedAt.UTC().Format(time.DateOnly), used, describeState(k, now)}
	})
}

// printTable prints a row for each item below the titles.
func printTable[T any](con *terminal.Console, titles string, items []T, row func(T) []any) error {
	table := tabwriter.NewWriter(con.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, titles)
	for _, item := range items {
		values := row(item)
		fmt.Fprintf(table, strings.Repeat("%v\t", len(values)-1)+"%v\n", values...)
	}
	return table.Flush()
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// named names a key with its id and its name.
func named(key client.Key) string { return key.ID + ", " + terminal.OneLine(key.Name) + "," }

// describeTerms names the plan, the limits and the access of a key.
func describeTerms(key client.Key) string {
	access := string(key.Access)
	switch key.Access {
	case client.ReadOnly:
		access = "read only"
	case client.ReadWrite:
		access = "read and write"
	case client.Admin:
		access = "administrator"
	}
	return fmt.Sprintf("%s, %d requests per minute, %d per day, %s", key.Plan, key.PerMinute, key.PerDay, access)
}

// describeState says whether a key works, and until when, or since when the key has not worked.
func describeState(k client.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked " + formatTime(k.RevokedAt)
	case hasEnded(k, now):
		return "expired " + formatTime(k.ExpiresAt)
	case !k.BannedUntil.IsZero():
		return "banned until " + formatTime(k.BannedUntil)
	case !k.ExpiresAt.IsZero():
		return "works until " + formatTime(k.ExpiresAt)
	}
	return "works"
}

// hasEnded reports whether a key was revoked or has expired.
func hasEnded(k client.Key, now time.Time) bool {
	return !k.RevokedAt.IsZero() || !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt)
}
