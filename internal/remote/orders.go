package remote

import (
	"cmp"
	"context"
	"time"

	"petstore/client"
	"petstore/internal/petstore"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Orders are the commands for orders on a server.
type Orders struct {
	List     ordersList     `cmd:"" aliases:"ls" help:"List orders, the newest first."`
	Place    ordersPlace    `cmd:"" aliases:"create,add" help:"Hold an available animal, and show the order."`
	Show     ordersShow     `cmd:"" aliases:"view,get" help:"Show an order."`
	Complete ordersComplete `cmd:"" help:"Close an open order and sell its animal."`
	Cancel   ordersCancel   `cmd:"" help:"Close an open order and make its animal available again."`
}

// shownOrders says how orders are shown. On a terminal one column has the time at which an order closed or expires, so
// that a row fits.
func shownOrders(con *terminal.Console) shape[client.Order] {
	s := wholeOrders
	if terminal.IsTerminal(con.Stdout) {
		const minutes = "2006-01-02 15:04"
		s.titles = []string{"ID", "PET", "STATUS", "REFERENCE", "PLACED (UTC)", "UNTIL (UTC)"}
		s.row = func(o client.Order) []string {
			until := cmp.Or(moment(o.ClosedAt, minutes), moment(o.ExpiresAt, minutes))
			return []string{number(o.ID), number(o.PetID), string(o.Status), o.Reference, moment(o.CreatedAt, minutes), until}
		}
	}
	return s
}

var wholeOrders = shape[client.Order]{
	titles: []string{"ID", "PET", "STATUS", "REFERENCE", "CREATED", "EXPIRES", "CLOSED"},
	row: func(o client.Order) []string {
		return []string{number(o.ID), number(o.PetID), string(o.Status), o.Reference,
			moment(o.CreatedAt, time.RFC3339), moment(o.ExpiresAt, time.RFC3339), moment(o.ClosedAt, time.RFC3339)}
	},
	object: func(o client.Order) any {
		return struct {
			ID        int64              `json:"id"`
			PetID     int64              `json:"petId"`
			Status    client.OrderStatus `json:"status"`
			Reference string             `json:"reference,omitempty"`
			CreatedAt string             `json:"createdAt"`
			ExpiresAt string             `json:"expiresAt"`
			ClosedAt  string             `json:"closedAt,omitempty"`
		}{o.ID, o.PetID, o.Status, o.Reference, moment(o.CreatedAt, published), moment(o.ExpiresAt, published), moment(o.ClosedAt, published)}
	},
}

// published is the layout of a time in the answers of the API.
const published = "2006-01-02T15:04:05.000Z"

// moment writes a time in UTC, or nothing if there is none.
func moment(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

type ordersList struct {
	profile.Flags
	listFlags
	Status *client.OrderStatus `enum:"open,completed,cancelled,expired" help:"Only orders of this status: open, completed, cancelled or expired."`
	Pet    *int64              `placeholder:"ID" help:"Only orders of this animal."`
}

// Help shows examples.
func (ordersList) Help() string {
	return examples(
		"petstore orders list --status open",
		"petstore orders list --pet 7 --json | jq '.[0]'")
}

func (c *ordersList) Run(ctx context.Context, con *terminal.Console) error {
	if c.Pet != nil && *c.Pet < 1 {
		return terminal.WrongUsage("--pet is %d; it may be the id of an animal, from 1 on", *c.Pet)
	}
	return c.With(con, func(store *client.Client) error {
		query := client.OrderQuery{Status: given(c.Status), PetID: given(c.Pet)}
		return list(con, c.listFlags, shownOrders(con), func(limit int, cursor string) (client.Page[client.Order], error) {
			query.Limit, query.Cursor = limit, cursor
			return store.ListOrders(ctx, query)
		})
	})
}

type ordersPlace struct {
	profile.Flags
	showFlags
	Pet       int64              `arg:"" help:"The id of an animal that is available."`
	Reference string             `help:"Your own name for the order, such as its number in a shop."`
	Hold      *terminal.Duration `placeholder:"72h" help:"How long to hold the animal, from 1m to 30d. By default the server chooses."`
}

// Help shows examples.
func (ordersPlace) Help() string {
	return examples(
		"petstore orders place 7",
		"petstore orders place 7 --reference shop-1234 --hold 72h")
}

func (c *ordersPlace) Run(ctx context.Context, con *terminal.Console) error {
	if hold := time.Duration(given(c.Hold)); c.Hold != nil && (hold < petstore.MinHold || hold > petstore.MaxHold) {
		return terminal.WrongUsage("--hold is %s; it may be from 1m to 30d", hold)
	}
	return c.Change(con, func(store *client.Client) error {
		return showOrder(con, c.showFlags)(store.PlaceOrder(ctx, client.NewOrder{PetID: c.Pet, Reference: c.Reference, Hold: time.Duration(given(c.Hold))}))
	})
}

// showOrder prints the order that a call returns.
func showOrder(con *terminal.Console, f showFlags) func(client.Order, error) error {
	return func(o client.Order, err error) error {
		if err != nil {
			return err
		}
		return show(con, f, shownOrders(con), o)
	}
}

// oneOrder holds the flags of a command about one order.
type oneOrder struct {
	profile.Flags
	showFlags
	ID int64 `arg:"" help:"The order's id, as orders list shows it."`
}

type ordersShow struct{ oneOrder }

func (c *ordersShow) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error { return showOrder(con, c.showFlags)(store.GetOrder(ctx, c.ID)) })
}

type ordersComplete struct{ oneOrder }

func (c *ordersComplete) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error { return showOrder(con, c.showFlags)(store.CompleteOrder(ctx, c.ID)) })
}

type ordersCancel struct{ oneOrder }

func (c *ordersCancel) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error { return showOrder(con, c.showFlags)(store.CancelOrder(ctx, c.ID)) })
}
