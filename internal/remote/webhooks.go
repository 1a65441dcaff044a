package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"petstore/client"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Webhooks are the commands for the webhooks on a server. They need an administrator's key.
type Webhooks struct {
	List       webhooksList       `cmd:"" aliases:"ls" help:"List webhooks, newest first."`
	Create     webhooksCreate     `cmd:"" aliases:"add" help:"Create a webhook and print the secret that signs its deliveries. The secret is shown only this once."`
	Show       webhooksShow       `cmd:"" aliases:"view,get" help:"Show a webhook."`
	Edit       webhooksEdit       `cmd:"" aliases:"update" help:"Change a webhook, enable or disable it, or deliver events again, and show it."`
	Delete     webhooksDelete     `cmd:"" aliases:"rm" help:"Delete a webhook with its deliveries."`
	Rotate     webhooksRotate     `cmd:"" help:"Give a webhook a new secret and print it. The old one signs too, for another 24 hours."`
	Ping       webhooksPing       `cmd:"" help:"Send a ping to a webhook now, and show how that went."`
	Deliveries webhooksDeliveries `cmd:"" help:"List the last deliveries to a webhook, newest first."`
}

var webhookView = view[client.Webhook]{
	titles: []string{"ID", "URL", "TYPES", "STATUS", "REASON", "BEHIND", "DESCRIPTION"},
	row: func(w client.Webhook) []string {
		return []string{w.ID, w.URL, strings.Join(wordsOf(w.Types), ","), string(w.Status), w.Reason, number(w.Behind), w.Description}
	},
	object: func(w client.Webhook) any {
		return struct {
			ID           string               `json:"id"`
			URL          string               `json:"url"`
			Types        []client.EventType   `json:"types"`
			Description  string               `json:"description,omitempty"`
			Enabled      bool                 `json:"enabled"`
			Status       client.WebhookStatus `json:"status"`
			Reason       string               `json:"reason,omitempty"`
			Position     string               `json:"position"`
			Behind       int64                `json:"behind"`
			FailingSince string               `json:"failingSince,omitempty"`
			CreatedAt    string               `json:"createdAt"`
			Secret       string               `json:"secret,omitempty"`
		}{w.ID, w.URL, w.Types, w.Description, w.Enabled, w.Status, w.Reason, w.Position, w.Behind,
			formatTime(w.FailingSince, apiLayout), formatTime(w.CreatedAt, apiLayout), w.Secret}
	},
}

func wordsOf(types []client.EventType) (words []string) {
	for _, t := range types {
		words = append(words, string(t))
	}
	return words
}

type webhooksList struct {
	profile.Flags
	listFlags
}

func (c *webhooksList) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		return list(con, c.listFlags, webhookView, func(limit int, cursor string) (client.Page[client.Webhook], error) {
			return store.ListWebhooks(ctx, client.WebhookQuery{Limit: limit, Cursor: cursor})
		})
	})
}

type webhooksCreate struct {
	profile.Flags
	showFlags
	URL         string             `arg:"" name:"url" help:"The address to which the server posts events, such as https://shop.example.com/hook."`
	Types       []client.EventType `placeholder:"TYPE" help:"The types of events to deliver, such as order.placed or pet.*. The default is all."`
	Description string             `help:"What the webhook is for."`
}

// Help shows examples.
func (webhooksCreate) Help() string {
	return examples(
		"SECRET=$(petstore webhooks create https://shop.example.com/hook)",
		"petstore webhooks create https://shop.example.com/hook --types 'order.*,pet.created' --description 'the shop'")
}

func (c *webhooksCreate) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		created, err := store.CreateWebhook(ctx, client.NewWebhook{URL: c.URL, Types: c.Types, Description: c.Description})
		if err != nil {
			return err
		}
		if err := showWebhookSecret(con, c.showFlags, created); err != nil {
			return err
		}
		con.Say("Created webhook %s. It delivers events once the receiver has answered a ping with 2xx: petstore webhooks show %[1]s. The secret is shown only this once, so store it in a safe place.", created.ID)
		return nil
	})
}

// showWebhookSecret prints only the secret of a webhook, so that a script can read it, or the whole webhook as JSON.
func showWebhookSecret(con *terminal.Console, f showFlags, w client.Webhook) error {
	if f.JSON {
		return show(con, f, webhookView, w)
	}
	_, err := io.WriteString(con.Stdout, terminal.Escape(w.Secret)+"\n")
	return err
}

// webhookFlags are the flags for a command that works on one webhook.
type webhookFlags struct {
	profile.Flags
	showFlags
	ID string `arg:"" help:"The webhook's id, as webhooks list shows it."`
}

type webhooksShow struct{ webhookFlags }

func (c *webhooksShow) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		found, err := store.GetWebhook(ctx, c.ID)
		if err != nil {
			return err
		}
		return show(con, c.showFlags, webhookView, found)
	})
}

type webhooksEdit struct {
	webhookFlags
	URL         *string             `name:"url" help:"The new address. It must answer a ping before it gets events."`
	Types       *[]client.EventType `placeholder:"TYPE" help:"The types of events to deliver, such as order.placed or pet.*; '*' is all."`
	Description *string             `help:"What the webhook is for. An empty text removes the description."`
	Enable      bool                `xor:"enable" help:"Deliver again, from where the webhook stands."`
	Disable     bool                `xor:"enable" help:"Deliver nothing until the webhook is enabled again."`
	Position    *string             `placeholder:"ID" help:"Deliver the events after the one with this id, again if they were delivered before. With now, skip all that were not delivered yet."`
}

// Help shows examples.
func (webhooksEdit) Help() string {
	return examples(
		"petstore webhooks edit wh_4f7k --types 'order.*'",
		"petstore webhooks edit wh_4f7k --enable",
		"petstore webhooks edit wh_4f7k --position evt_4f7k_1234")
}

func (c *webhooksEdit) Run(ctx context.Context, con *terminal.Console) error {
	patch := client.WebhookPatch{URL: c.URL, Types: c.Types, Description: c.Description, Position: c.Position}
	if c.Enable || c.Disable {
		patch.Enabled = &c.Enable
	}
	if patch == (client.WebhookPatch{}) {
		return terminal.WrongUsage("there is nothing to change; give at least one of --url, --types, --description, --enable, --disable and --position")
	}
	return c.Change(con, func(store *client.Client) error {
		changed, err := store.UpdateWebhook(ctx, c.ID, patch)
		if err != nil {
			return err
		}
		return show(con, c.showFlags, webhookView, changed)
	})
}

type webhooksDelete struct {
	profile.Flags
	ID  string `arg:"" help:"The webhook's id, as webhooks list shows it."`
	Yes bool   `help:"Delete without asking."`
}

func (c *webhooksDelete) Run(ctx context.Context, con *terminal.Console) error {
	if !c.Yes && !con.CanAsk() {
		return terminal.WrongUsage("--yes is missing; without a terminal, the command cannot ask for confirmation")
	}
	return c.Change(con, func(store *client.Client) error {
		if !c.Yes {
			found, err := store.GetWebhook(ctx, c.ID)
			if err != nil {
				return err
			}
			if err := con.Confirm(ctx, "Delete the webhook %s to %s?", found.ID, found.URL); err != nil {
				return err
			}
		}
		if err := store.DeleteWebhook(ctx, c.ID); err != nil {
			return err
		}
		con.Say("Deleted webhook %s.", c.ID)
		return nil
	})
}

type webhooksRotate struct{ webhookFlags }

func (c *webhooksRotate) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		rotated, err := store.RotateWebhook(ctx, c.ID)
		if err != nil {
			return err
		}
		if err := showWebhookSecret(con, c.showFlags, rotated); err != nil {
			return err
		}
		con.Say("Webhook %s has a new secret. It is shown only this once, so store it in a safe place. The old one signs too, for another 24 hours.", rotated.ID)
		return nil
	})
}

type webhooksPing struct{ webhookFlags }

func (c *webhooksPing) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		ping, err := store.PingWebhook(ctx, c.ID)
		if err != nil {
			return err
		}
		if err := show(con, c.showFlags, deliveryView, ping); err != nil {
			return err
		}
		if ping.Status < 200 || ping.Status > 299 {
			return errors.New("the receiver did not answer the ping with 2xx: " + terminal.Escape(cmp.Or(ping.Error, fmt.Sprint("it answered ", ping.Status))))
		}
		return nil
	})
}

type webhooksDeliveries struct {
	profile.Flags
	listFlags
	ID string `arg:"" help:"The webhook's id, as webhooks list shows it."`
}

func (c *webhooksDeliveries) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		return list(con, c.listFlags, deliveryView, func(limit int, cursor string) (client.Page[client.Delivery], error) {
			return store.ListDeliveries(ctx, c.ID, client.DeliveryQuery{Limit: limit, Cursor: cursor})
		})
	})
}

var deliveryView = view[client.Delivery]{
	titles: []string{"TIME", "EVENT", "ANSWER", "TOOK", "ERROR", "SKIPPED"},
	row: func(d client.Delivery) []string {
		answer, skipped := "", ""
		if d.Status != 0 {
			answer = strconv.Itoa(d.Status)
		}
		if d.Skipped {
			skipped = "skipped"
		}
		return []string{formatTime(d.At, time.RFC3339), d.EventID, answer, number(d.Milliseconds) + " ms", d.Error, skipped}
	},
	object: func(d client.Delivery) any {
		return struct {
			ID           string `json:"id"`
			EventID      string `json:"eventId"`
			At           string `json:"at"`
			Status       int    `json:"status,omitzero"`
			Milliseconds int64  `json:"milliseconds"`
			Error        string `json:"error,omitempty"`
			Skipped      bool   `json:"skipped,omitempty"`
		}{d.ID, d.EventID, formatTime(d.At, apiLayout), d.Status, d.Milliseconds, d.Error, d.Skipped}
	},
}
