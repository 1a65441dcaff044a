package remote

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"petstore/client"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Events is the command that lists the events of a server, and follows them.
type Events struct {
	profile.Flags
	listFlags
	eventFlags
	Follow bool `short:"f" help:"Print the events as they happen, until Ctrl-C. Without --after, it begins with the next event."`
}

// eventFlags select events.
type eventFlags struct {
	After string             `placeholder:"ID" help:"Begin after the event with this id, with the oldest event that is kept (oldest), or with the next (now)."`
	Types []client.EventType `placeholder:"TYPE" help:"Only events of these types, such as order.placed or pet.*."`
	Pet   *int64             `placeholder:"ID" help:"Only events of this animal, its orders and its profile."`
}

// Help explains the order and --follow, and shows examples.
func (Events) Help() string {
	return "The oldest events come first. With --follow, the command opens a lost connection again, says so, and goes on where it was; --json then prints one event per line.\n\n" + examples(
		"petstore events --types 'order.*' --json",
		"petstore events --pet 7 --all",
		"petstore events --follow --json | jq --unbuffered -r .type")
}

// Run lists the events or follows them.
func (c *Events) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		if c.Follow {
			return c.follow(ctx, con, store)
		}
		return list(con, c.listFlags, eventView, func(limit int, cursor string) (client.Page[client.Event], error) {
			query := client.EventQuery{After: c.After, Types: c.Types, PetID: c.Pet, Limit: limit}
			if cursor != "" {
				query.After = cursor
			}
			page, err := store.ListEvents(ctx, query)
			if page.End {
				page.Next = ""
			}
			return client.Page[client.Event]{Items: page.Items, Next: page.Next}, err
		})
	})
}

func (c *Events) follow(ctx context.Context, con *terminal.Console, store *client.Client) error {
	table, left := con.Table(eventView.titles...), orZero(c.Limit)
	return followEvents(ctx, con, store, c.eventFlags, func() {}, func(e client.Event) (more bool, err error) {
		if c.JSON {
			_, err = io.WriteString(con.Stdout, terminal.EscapeJSON(eventJSON(e))+"\n")
		} else {
			err = table.Print(eventView.rows([]client.Event{e}))
		}
		left--
		return left != 0, err
	})
}

// followEvents calls the function handle with each event, until handle returns false or an error, or until ctx ends. It says
// when the connection is lost and when it is back, and when events are missing. It calls the function opened when the first
// stream is open.
func followEvents(ctx context.Context, con *terminal.Console, store *client.Client, f eventFlags, opened func(), handle func(client.Event) (more bool, err error)) error {
	opens, connected := 0, true
	options := client.FollowOptions{
		After: f.After, Types: f.Types, PetID: f.Pet,
		OnOpen: func() {
			if !connected {
				con.Say("The connection is back. The events go on where they stopped.")
			}
			if opens++; opens == 1 {
				opened()
			}
			connected = true
		},
		OnBreak: func(because error, wait time.Duration) {
			if connected {
				con.Say("The connection is lost: %v. Trying again in %s.", profile.Explain(because), terminal.Rough(max(time.Second, wait)))
			}
			connected = false
		},
		OnGap: func(_ string, refusal *client.Error) {
			con.Say("Events are missing: %s The oldest that are kept follow.", refusal.Message)
		},
	}
	for e, err := range store.Follow(ctx, options) {
		if ctx.Err() != nil {
			return nil // Ctrl-C is the usual end
		}
		if err != nil {
			return err
		}
		if more, err := handle(e); err != nil || !more {
			return err
		}
	}
	return nil
}

var eventView = view[client.Event]{
	titles: []string{"ID", "TIME", "TYPE", "OF", "NOW", "BEFORE"},
	row: func(e client.Event) []string {
		id, now := describeData(e)
		return []string{e.ID, formatTime(e.Timestamp, time.RFC3339), string(e.Type), number(id), now, describePrevious(e.Previous)}
	},
	object: func(e client.Event) any { return asSent(e) },
}

// describeData returns the id of what an event is about, and what it is after the event. Of a profile, the id is that of the
// animal.
func describeData(e client.Event) (id int64, now string) {
	if p, err := e.Pet(); err == nil {
		return p.ID, p.Name + ", " + string(p.Status)
	}
	if o, err := e.Order(); err == nil {
		return o.ID, "pet " + number(o.PetID) + ", " + string(o.Status)
	}
	if c, err := e.Category(); err == nil {
		return c.ID, c.Name
	}
	petID, _, _ := e.Profile()
	return petID, ""
}

// describePrevious returns the old values of what an event has changed, such as "status available".
func describePrevious(previous json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(previous, &members) != nil {
		return ""
	}
	if profile, ok := members["profile"]; ok {
		return describePrevious(profile)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text := string(members[name])
		json.Unmarshal(members[name], &text) // what is not a string stays JSON
		parts = append(parts, name+" "+text)
	}
	return strings.Join(parts, ", ")
}

// sentEvent is an event as the API sends it.
type sentEvent struct {
	ID        string           `json:"id"`
	Sequence  int64            `json:"sequence"`
	Type      client.EventType `json:"type"`
	Timestamp string           `json:"timestamp"`
	Data      json.RawMessage  `json:"data"`
	Previous  json.RawMessage  `json:"previous,omitempty"`
}

func asSent(e client.Event) sentEvent {
	return sentEvent{e.ID, e.Sequence, e.Type, formatTime(e.Timestamp, apiLayout), e.Data, e.Previous}
}

// eventJSON returns the bytes of an event as the API and webhooks send it.
func eventJSON(e client.Event) string {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.Encode(asSent(e)) // cannot fail, because the event comes from JSON
	return strings.TrimSuffix(b.String(), "\n")
}
