package keys

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"petstore/client"
	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

type usageCommand struct {
	place
	Key   string `arg:"" optional:"" placeholder:"ID|NAME" help:"Show each hour of this key's owner: the id of any key of the owner, or its name if no other owner has a usable key with it. Without it, all owners are shown."`
	Hours int64  `default:"24" help:"How many hours to show, up to and including the current one, from 1 to 744."`
	JSON  bool   `name:"json" help:"Print an array of the API's JSON objects for the hours of a key, or an array of owners with these arrays."`
}

// Help explains the counts, and shows examples.
func (usageCommand) Help() string {
	return "Requests that a rate limit or a ban refused are counted as refused, and all others as passed. In a bar, = stands for passed and x for refused requests; the longest bar is that of the row with the most requests. Servers add their counts every 10 seconds.\n\n" + examples(
		"petstore keys usage",
		"petstore keys usage shop --hours 168",
		"petstore keys usage --json | jq '.[0].owner'")
}

func (c *usageCommand) Run(ctx context.Context, con *terminal.Console) error {
	if most := int64(petstore.UsageKept / time.Hour); c.Hours < 1 || c.Hours > most {
		return terminal.WrongUsage("--hours is %d; it must be from 1 to %d", c.Hours, most)
	}
	return c.open(ctx, con, database.ToUse, func(keys keyring) error {
		if c.Key != "" {
			return c.showKey(ctx, con, keys)
		}
		return c.showOwners(ctx, con, keys)
	})
}

// showKey shows the hours of one owner.
func (c *usageCommand) showKey(ctx context.Context, con *terminal.Console, keys keyring) error {
	key, err := findOwner(ctx, keys, c.Key)
	if err != nil {
		return err
	}
	used, err := keys.usage(ctx, key, int(c.Hours))
	switch {
	case err != nil:
		return err
	case c.JSON:
		return printJSON(con, objects(used, usageObjectOf))
	case len(used) == 0:
		con.Say("The owner of key %s made no requests in the last %s.", named(key), terminal.Plural(c.Hours, "hour"))
		return nil
	}
	most := mostRequests(used)
	return printTable(con, "HOUR\tPASSED\tREFUSED\tREQUESTS", used, func(u client.Usage) []any {
		return []any{formatTime(u.Hour), u.Passed, u.Refused, bar(u, most)}
	})
}

// ownerUsage is what an owner used. The name is that of the owner's newest key, preferably of a usable one.
type ownerUsage struct {
	owner, name string
	hours       []client.Usage
	total       client.Usage
}

// showOwners shows the owners that made requests, those with the most requests first.
func (c *usageCommand) showOwners(ctx context.Context, con *terminal.Console, keys keyring) error {
	owners, silent, err := c.ownersByRequests(ctx, keys)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return printJSON(con, objects(owners, ownerObjectOf))
	case len(owners) == 0:
		con.Say("Nobody made requests in the last %s.", terminal.Plural(c.Hours, "hour"))
		return nil
	}
	most := owners[0].total.Passed + owners[0].total.Refused
	err = printTable(con, "OWNER\tNAME\tPASSED\tREFUSED\tREQUESTS", owners, func(o ownerUsage) []any {
		return []any{o.owner, terminal.OneLine(o.name), o.total.Passed, o.total.Refused, bar(o.total, most)}
	})
	if silent > 0 && err == nil {
		con.Say("%s made no requests in the last %s.", terminal.Plural(silent, "other owner"), terminal.Plural(c.Hours, "hour"))
	}
	return err
}

// ownersByRequests returns the owners that made requests, those with the most requests first, and the number of owners that
// made none.
func (c *usageCommand) ownersByRequests(ctx context.Context, keys keyring) (owners []ownerUsage, silent int64, err error) {
	all, err := keys.list(ctx, false)
	if err != nil {
		return nil, 0, err
	}
	byOwner, err := keys.usageByOwner(ctx, all, int(c.Hours))
	if err != nil {
		return nil, 0, err
	}
	for owner, name := range ownerNames(all) {
		used := byOwner[owner]
		if len(used) == 0 {
			silent++
			continue
		}
		owners = append(owners, ownerUsage{owner, name, used, sum(used)})
	}
	slices.SortFunc(owners, func(a, b ownerUsage) int {
		return cmp.Or(cmp.Compare(b.total.Passed+b.total.Refused, a.total.Passed+a.total.Refused), cmp.Compare(a.owner, b.owner))
	})
	return owners, silent, nil
}

// ownerNames returns a name for each owner of keys that are ordered by age: the name of the newest usable key, or else that of
// the newest key.
func ownerNames(keys []client.Key) map[string]string {
	now := time.Now()
	names, usable := make(map[string]string), make(map[string]bool)
	for _, key := range keys {
		if works := !hasEnded(key, now); works || !usable[key.Owner] {
			names[key.Owner], usable[key.Owner] = key.Name, works
		}
	}
	return names
}

func sum(usage []client.Usage) (total client.Usage) {
	for _, u := range usage {
		total.Passed += u.Passed
		total.Refused += u.Refused
	}
	return total
}

func mostRequests(usage []client.Usage) (most int64) {
	for _, u := range usage {
		most = max(most, u.Passed+u.Refused)
	}
	return most
}

// barWidth is the length of the longest bar.
const barWidth = 30

// bar draws passed and refused requests. The argument most is how many requests the longest bar stands for. What is not zero
// is at least one character long.
func bar(u client.Usage, most int64) string {
	length := func(n int64) int {
		if n == 0 {
			return 0
		}
		return max(1, int(float64(n)/float64(most)*barWidth))
	}
	return strings.Repeat("=", length(u.Passed)) + strings.Repeat("x", length(u.Refused))
}

// usageObject is the usage in one hour as the API shows it.
type usageObject struct {
	Hour    apiTime `json:"hour"`
	Passed  int64   `json:"passed"`
	Refused int64   `json:"refused"`
}

func usageObjectOf(u client.Usage) usageObject {
	return usageObject{apiTime{u.Hour}, u.Passed, u.Refused}
}

// ownerObject is the usage of an owner in JSON.
type ownerObject struct {
	Owner   string        `json:"owner"`
	Name    string        `json:"name"`
	Passed  int64         `json:"passed"`
	Refused int64         `json:"refused"`
	Usage   []usageObject `json:"usage"`
}

func ownerObjectOf(o ownerUsage) ownerObject {
	return ownerObject{o.owner, o.name, o.total.Passed, o.total.Refused, objects(o.hours, usageObjectOf)}
}

// examples returns the section of a help text that shows example commands.
func examples(commands ...string) string {
	return "Examples:\n\n  " + strings.Join(commands, "\n  ")
}
