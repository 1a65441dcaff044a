package main

import (
	"cmp"
	"context"
	"time"

	remote "petstore/client"
	"petstore/internal/petstore"
)

type ordersCmd struct {
	List     ordersListCmd     `cmd:"" aliases:"ls" help:"List orders, the newest first."`
	Place    ordersPlaceCmd    `cmd:"" aliases:"create,add" help:"Hold an available animal, and show the order."`
	Show     ordersShowCmd     `cmd:"" aliases:"view,get" help:"Show an order."`
	Complete ordersCompleteCmd `cmd:"" help:"Close an open order and sell its animal."`
	Cancel   ordersCancelCmd   `cmd:"" help:"Close an open order and make its animal available again."`
}

// shownOrders says how orders are shown. On a terminal one column has the time at which an order closed or expires, so
// that a row fits.
func (con *console) shownOrders() shape[remote.Order] {
	s := wholeOrders
	if isTerminal(con.stdout) {
		const minutes = "2006-01-02 15:04"
		s.titles = []string{"ID", "PET", "STATUS", "REFERENCE", "PLACED (UTC)", "UNTIL (UTC)"}
		s.row = func(o remote.Order) []string {
			until := cmp.Or(moment(o.ClosedAt, minutes), moment(o.ExpiresAt, minutes))
			return []string{number(o.ID), number(o.PetID), string(o.Status), o.Reference, moment(o.CreatedAt, minutes), until}
		}
	}
	return s
}

var wholeOrders = shape[remote.Order]{
	titles: []string{"ID", "PET", "STATUS", "REFERENCE", "CREATED", "EXPIRES", "CLOSED"},
	row: func(o remote.Order) []string {
		return []string{number(o.ID), number(o.PetID), string(o.Status), o.Reference,
			moment(o.CreatedAt, time.RFC3339), moment(o.ExpiresAt, time.RFC3339), moment(o.ClosedAt, time.RFC3339)}
	},
	object: func(o remote.Order) any {
		return struct {
			ID        int64              `json:"id"`
			PetID     int64              `json:"petId"`
			Status    remote.OrderStatus `json:"status"`
			Reference string             `json:"reference,omitempty"`
			CreatedAt instant            `json:"createdAt"`
			ExpiresAt instant            `json:"expiresAt"`
			ClosedAt  instant            `json:"closedAt,omitzero"`
		}{o.ID, o.PetID, o.Status, o.Reference, instant{o.CreatedAt}, instant{o.ExpiresAt}, instant{o.ClosedAt}}
	},
}

// moment writes a time, or nothing if there is none.
func moment(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

type ordersListCmd struct {
	remoteFlags
	listFlags
	Status *remote.OrderStatus `enum:"open,completed,cancelled,expired" help:"Only orders of this status: open, completed, cancelled or expired."`
	Pet    *int64              `placeholder:"ID" help:"Only orders of this animal."`
}

// Help shows examples.
func (ordersListCmd) Help() string {
	return examples(
		"petstore orders list --status open",
		"petstore orders list --pet 7 --json | jq '.[0]'")
}

func (c *ordersListCmd) Run(ctx context.Context, con *console) error {
	if c.Pet != nil && *c.Pet < 1 {
		return wrongUsage("--pet is %d; it may be the id of an animal, from 1 on", *c.Pet)
	}
	return c.with(con, func(store *remote.Client) error {
		query := remote.OrderQuery{Status: given(c.Status), PetID: given(c.Pet)}
		return list(con, c.listFlags, con.shownOrders(), func(limit int, cursor string) (remote.Page[remote.Order], error) {
			query.Limit, query.Cursor = limit, cursor
			return store.ListOrders(ctx, query)
		})
	})
}

type ordersPlaceCmd struct {
	remoteFlags
	showFlags
	Pet       int64     `arg:"" help:"The id of an animal that is available."`
	Reference string    `help:"Your own name for the order, such as its number in a shop."`
	Hold      *duration `placeholder:"72h" help:"How long to hold the animal, from 1m to 30d. By default the server chooses."`
}

// Help shows examples.
func (ordersPlaceCmd) Help() string {
	return examples(
		"petstore orders place 7",
		"petstore orders place 7 --reference shop-1234 --hold 72h")
}

func (c *ordersPlaceCmd) Run(ctx context.Context, con *console) error {
	if hold := time.Duration(given(c.Hold)); c.Hold != nil && (hold < petstore.MinHold || hold > petstore.MaxHold) {
		return wrongUsage("--hold is %s; it may be from 1m to 30d", hold)
	}
	return c.change(con, func(store *remote.Client) error {
		return showOrder(con, c.showFlags)(store.PlaceOrder(ctx, remote.NewOrder{PetID: c.Pet, Reference: c.Reference, Hold: time.Duration(given(c.Hold))}))
	})
}

// showOrder prints the order that a call returns.
func showOrder(con *console, f showFlags) func(remote.Order, error) error {
	return func(o remote.Order, err error) error {
		if err != nil {
			return err
		}
		return show(con, f, con.shownOrders(), o)
	}
}

// oneOrder holds the flags of a command about one order.
type oneOrder struct {
	remoteFlags
	showFlags
	ID int64 `arg:"" help:"The order's id, as orders list shows it."`
}

type ordersShowCmd struct{ oneOrder }

func (c *ordersShowCmd) Run(ctx context.Context, con *console) error {
	return c.with(con, func(store *remote.Client) error { return showOrder(con, c.showFlags)(store.GetOrder(ctx, c.ID)) })
}

type ordersCompleteCmd struct{ oneOrder }

func (c *ordersCompleteCmd) Run(ctx context.Context, con *console) error {
	return c.change(con, func(store *remote.Client) error { return showOrder(con, c.showFlags)(store.CompleteOrder(ctx, c.ID)) })
}

type ordersCancelCmd struct{ oneOrder }

func (c *ordersCancelCmd) Run(ctx context.Context, con *console) error {
	return c.change(con, func(store *remote.Client) error { return showOrder(con, c.showFlags)(store.CancelOrder(ctx, c.ID)) })
}
