package manage

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

type keysList struct {
	keyFlags
	JSON bool `name:"json" help:"Print an array of objects."`
}

func (c *keysList) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(ctx, database.ToUse, func(storage *database.Storage) error {
		keys, err := storage.Keys(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con, keys, time.Now())
		}
		return printTable(con, keys, time.Now())
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
	CreatedAt   timeOrNull      `json:"createdAt"`
	ExpiresAt   timeOrNull      `json:"expiresAt"`
	RevokedAt   timeOrNull      `json:"revokedAt"`
	BannedUntil timeOrNull      `json:"bannedUntil"`
	LastUsedAt  timeOrNull      `json:"lastUsedAt"`
}

// timeOrNull is a time that becomes JSON text in the format of the API, which sorts by time. The zero time becomes null.
type timeOrNull struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t timeOrNull) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + petstore.FormatTime(t.Time) + `"`), nil
}

func printJSON(con *terminal.Console, keys []petstore.Key, now time.Time) error {
	listed := make([]listedKey, len(keys))
	for i, k := range keys {
		if !k.Banned(now) {
			k.BannedUntil = time.Time{} // a ban that has ended is not listed
		}
		listed[i] = listedKey{k.ID, k.Name, k.Owner, k.Plan, k.Limits.PerMinute, k.Limits.PerDay, k.Access,
			timeOrNull{k.CreatedAt}, timeOrNull{k.ExpiresAt}, timeOrNull{k.RevokedAt}, timeOrNull{k.BannedUntil}, timeOrNull{k.LastUsedAt}}
	}
	text, err := json.MarshalIndent(listed, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(con.Stdout, terminal.EscapeJSON(string(text)))
	return err
}

func printTable(con *terminal.Console, keys []petstore.Key, now time.Time) error {
	if len(keys) == 0 {
		fmt.Fprintln(con.Stderr, "There are no keys yet. Create one with petstore keys create.")
		return nil
	}
	table := tabwriter.NewWriter(con.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tOWNER\tPLAN\tPER MINUTE\tPER DAY\tACCESS\tCREATED\tLAST USED\tSTATE")
	for _, k := range keys {
		used := "never"
		if !k.LastUsedAt.IsZero() {
			used = k.LastUsedAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", k.ID, terminal.OneLine(k.Name), k.Owner, k.Plan, k.Limits.PerMinute, k.Limits.PerDay,
			k.Access, k.CreatedAt.UTC().Format(time.DateOnly), used, describeState(k, now))
	}
	return table.Flush()
}

// describeState says whether a key works, and until when, or since when the key has not worked.
func describeState(k petstore.Key, now time.Time) string {
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
