package main

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// uses stores usage of an owner in one hour.
func (p keyPlace) uses(t *testing.T, key testservice.Key, hour time.Time, passed, refused int64) {
	t.Helper()
	p.storage(t, func(storage petstore.Database) error {
		added := []petstore.OwnerUsage{{Owner: key.Owner, Usage: petstore.Usage{Hour: hour, Passed: passed, Refused: refused}}}
		if _, err := storage.AddUsage(t.Context(), added, nil); err != nil {
			return err
		}
		return storage.UseKey(t.Context(), key.ID, hour)
	})
}

// hourBefore returns the beginning of the hour that is so many hours before the hour of now.
func hourBefore(now time.Time, hours int) time.Time {
	return now.UTC().Truncate(time.Hour).Add(-time.Duration(hours) * time.Hour)
}

// rows returns the rows of a table, with | between the columns.
func rows(table string) (rows []string) {
	for line := range strings.Lines(table) {
		rows = append(rows, strings.Join(regexp.MustCompile(" {2,}").Split(strings.TrimSpace(line), -1), "|"))
	}
	return rows
}

func expectRows(t *testing.T, what, table string, want ...string) {
	t.Helper()
	if got := rows(table); !reflect.DeepEqual(got, want) {
		t.Errorf("%s shows\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestKeysUsageShowsOwnersAndHours(t *testing.T) {
	t.Parallel()
	onEveryKeyPlace(t, func(t *testing.T, p keyPlace) {
		busy, quiet := p.creates(t, "busy"), p.creates(t, "quiet")
		p.creates(t, "silent")
		now := time.Now() // the tests below hold even if the hour ends meanwhile
		p.uses(t, quiet, hourBefore(now, 30), 500, 0)
		p.uses(t, quiet, hourBefore(now, 22), 1, 0)
		p.uses(t, busy, hourBefore(now, 22), 30, 0)
		p.uses(t, busy, hourBefore(now, 2), 20, 10)
		p.does(t, "rotate", "busy", "--now")
		p.does(t, "update", "busy", "--name", "newer")
		p.does(t, "update", quiet.ID, "--name", "ending")
		p.does(t, "rotate", "ending")
		p.does(t, "update", quiet.ID, "--name", "quiet")
		p.does(t, "revoke", "ending") // the newest key of the owner, but no longer usable

		// The requests of the commands over the API are those of the first key. The server stores them every few seconds.
		first := p.shows(t, "first key")
		ownRow := regexp.MustCompile(`(?m)^` + first.ID + `.*\n`)
		owners := func(args ...string) string {
			table, said := p.does(t, append([]string{"usage"}, args...)...)
			if !regexp.MustCompile(`(?m)^[12] other owners? made no requests in the last \d+ hours\.$`).MatchString(said) {
				t.Errorf("keys usage %q said %q", args, said)
			}
			return ownRow.ReplaceAllString(table, "")
		}
		expectRows(t, "keys usage", owners(), "OWNER|NAME|PASSED|REFUSED|REQUESTS",
			busy.Owner+"|newer|50|10|"+strings.Repeat("=", 25)+strings.Repeat("x", 5), quiet.Owner+"|quiet|1|0|=")
		expectRows(t, "keys usage --hours 48", owners("--hours", "48"), "OWNER|NAME|PASSED|REFUSED|REQUESTS",
			quiet.Owner+"|quiet|501|0|"+strings.Repeat("=", 30), busy.Owner+"|newer|50|10|==x")

		hour := func(ago int) string { return hourBefore(now, ago).Format(time.RFC3339) }
		hours, _ := p.does(t, "usage", "newer")
		expectRows(t, "keys usage newer", hours, "HOUR|PASSED|REFUSED|REQUESTS",
			hour(22)+"|30|0|"+strings.Repeat("=", 30), hour(2)+"|20|10|"+strings.Repeat("=", 20)+strings.Repeat("x", 10))
		if hours, _ := p.does(t, "usage", busy.ID, "--hours", "4"); len(rows(hours)) != 2 {
			t.Errorf("keys usage %s --hours 4 shows\n%s", busy.ID, hours)
		}
		if out, said := p.does(t, "usage", "silent", "--hours", "1"); out != "" || !strings.Contains(said, ", silent, made no requests in the last 1 hour.") {
			t.Errorf("keys usage silent printed %q and said %q", out, said)
		}
	})
}

func TestKeysUsageInJSONIsThatOfTheAPI(t *testing.T) {
	t.Parallel()
	onEveryKeyPlace(t, func(t *testing.T, p keyPlace) {
		shop := p.creates(t, "shop")
		p.uses(t, shop, hourBefore(time.Now(), 700), 1<<40, 3)
		p.uses(t, shop, hourBefore(time.Now(), 1), 7, 0)
		printed, _ := p.does(t, "usage", "shop", "--json", "--hours", "744")
		fromAPI := p.Ask(t, "GET", "/v1/keys/"+shop.ID+"/usage?hours=744", "").Body
		if got, want := testservice.Decode[any](t, printed), testservice.Decode[any](t, fromAPI); !reflect.DeepEqual(got, want) || strings.Count(printed, "hour") != 2 {
			t.Errorf("keys usage --json printed\n%s\nthe API says\n%s", printed, fromAPI)
		}
		if none, _ := p.does(t, "usage", p.creates(t, "silent").ID, "--json"); none != "[]\n" {
			t.Errorf("without requests, keys usage --json printed %q", none)
		}
		type owner struct {
			Owner, Name     string
			Passed, Refused int64
			Usage           []map[string]any
		}
		printed, _ = p.does(t, "usage", "--json", "--hours", "744")
		owners := testservice.Decode[[]owner](t, printed)
		if len(owners) == 0 {
			t.Fatalf("keys usage --json printed %s", printed)
		}
		if got, want := fmt.Sprintf("%v", owners[0].Usage), fmt.Sprintf("%v", testservice.Decode[[]map[string]any](t, fromAPI)); got != want {
			t.Errorf("the hours of the owner are %s, want %s", got, want)
		}
		if got := owners[0]; got.Owner != shop.Owner || got.Name != "shop" || got.Passed != 1<<40+7 || got.Refused != 3 {
			t.Errorf("the owner with the most requests is %+v", got)
		}
	})
}
