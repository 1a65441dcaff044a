package remote

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"petstore/client"
	"petstore/internal/petstore"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Orders are the commands for the orders on a server.
type Orders struct {
	List     ordersList     `cmd:"" aliases:"ls" help:"List orders, newest first."`
	Place    ordersPlace    `cmd:"" aliases:"create,add" help:"Place an order, which holds an available animal, and show the order."`
	Show     ordersShow     `cmd:"" aliases:"view,get" help:"Show an order."`
	Edit     ordersEdit     `cmd:"" aliases:"update" help:"Change the reference of an order, or how long it holds its animal, and show the order."`
	Complete ordersComplete `cmd:"" help:"Complete an open order, which marks its animal as sold."`
	Cancel   ordersCancel   `cmd:"" help:"Cancel an open order, which makes its animal available again."`
}

// orderView returns how to show orders. On a terminal, the known name of an animal follows its id. A single column shows
// when an order was closed or expires, so that a row fits on the terminal.
func orderView(con *terminal.Console, names map[int64]string) view[client.Order] {
	v := fullOrderView
	if terminal.IsTerminal(con.Stdout) {
		const minutes = "2006-01-02 15:04"
		v.titles = []string{"ID", "PET", "STATUS", "REFERENCE", "PLACED (UTC)", "UNTIL (UTC)"}
		v.row = func(o client.Order) []string {
			until := cmp.Or(formatTime(o.ClosedAt, minutes), formatTime(o.ExpiresAt, minutes))
			pet := strings.TrimSpace(number(o.PetID) + " " + names[o.PetID])
			return []string{number(o.ID), pet, string(o.Status), o.Reference, formatTime(o.CreatedAt, minutes), until}
		}
	}
	return v
}

var fullOrderView = view[client.Order]{
	titles: []string{"ID", "PET", "STATUS", "REFERENCE", "CREATED", "EXPIRES", "CLOSED"},
	row: func(o client.Order) []string {
		return []string{number(o.ID), number(o.PetID), string(o.Status), o.Reference,
			formatTime(o.CreatedAt, time.RFC3339), formatTime(o.ExpiresAt, time.RFC3339), formatTime(o.ClosedAt, time.RFC3339)}
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
		}{o.ID, o.PetID, o.Status, o.Reference, formatTime(o.CreatedAt, apiLayout), formatTime(o.ExpiresAt, apiLayout), formatTime(o.ClosedAt, apiLayout)}
	},
}

// apiLayout is the layout of times in API answers.
const apiLayout = "2006-01-02T15:04:05.000Z"

// formatTime formats a time in UTC. It returns "" for the zero time.
func formatTime(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

type ordersList struct {
	profile.Flags
	listFlags
	Status *client.OrderStatus `enum:"open,completed,cancelled,expired" help:"List only orders with this status: open, completed, cancelled or expired."`
	Pet    *int64              `placeholder:"ID" help:"List only orders for this animal."`
}

// Help shows examples.
func (ordersList) Help() string {
	return examples(
		"petstore orders list --status open",
		"petstore orders list --pet 7 --json | jq '.[0]'")
}

func (c *ordersList) Run(ctx context.Context, con *terminal.Console) error {
	if c.Pet != nil && *c.Pet < 1 {
		return terminal.WrongUsage("--pet is %d; it must be the id of an animal, which is at least 1", *c.Pet)
	}
	return c.With(con, func(store *client.Client) error {
		names := map[int64]string{}
		query := client.OrderQuery{Status: orZero(c.Status), PetID: c.Pet}
		return list(con, c.listFlags, orderView(con, names), func(limit int, cursor string) (client.Page[client.Order], error) {
			query.Limit, query.Cursor = limit, cursor
			page, err := store.ListOrders(ctx, query)
			if terminal.IsTerminal(con.Stdout) && !c.JSON {
				addPetNames(ctx, store, page.Items, names)
			}
			return page, err
		})
	})
}

type ordersPlace struct {
	profile.Flags
	showFlags
	Pet       int64              `arg:"" help:"The id of an available animal."`
	Reference string             `help:"Your own name for the order, such as the number it has in your shop. A key that may only read does not get it."`
	Hold      *terminal.Duration `placeholder:"72h" help:"How long to hold the animal, from 1m to 30d. By default, the server decides."`
}

// Help shows examples.
func (ordersPlace) Help() string {
	return examples(
		"petstore orders place 7",
		"petstore orders place 7 --reference shop-1234 --hold 72h")
}

func (c *ordersPlace) Run(ctx context.Context, con *terminal.Console) error {
	if err := checkHold((*time.Duration)(c.Hold)); err != nil {
		return err
	}
	return c.Change(con, func(store *client.Client) error {
		return showOrder(ctx, con, store, c.showFlags)(store.PlaceOrder(ctx, client.NewOrder{PetID: c.Pet, Reference: c.Reference, Hold: time.Duration(orZero(c.Hold))}))
	})
}

func checkHold(hold *time.Duration) error {
	if hold != nil && (*hold < petstore.MinHold || *hold > petstore.MaxHold) {
		return terminal.WrongUsage("--hold is %s; it must be from 1m to 30d", *hold)
	}
	return nil
}

// showOrder returns a function that takes the result of a call to the API. That function prints the order, or returns the
// error. On a terminal, it also prints the name of the animal.
func showOrder(ctx context.Context, con *terminal.Console, store *client.Client, f showFlags) func(client.Order, error) error {
	return func(o client.Order, err error) error {
		if err != nil {
			return err
		}
		names := map[int64]string{}
		if terminal.IsTerminal(con.Stdout) && !f.JSON {
			addPetNames(ctx, store, []client.Order{o}, names)
		}
		return show(con, f, orderView(con, names), o)
	}
}

// nameConcurrency is how many animals addPetNames looks up at the same time.
const nameConcurrency = 8

// addPetNames looks up the names of the animals in orders, unless the map names already has them. If an animal was deleted
// or cannot be read, its name is empty. Each lookup is a request. If the lookups would take more than half of the requests
// that the key has left, addPetNames adds no names.
func addPetNames(ctx context.Context, store *client.Client, orders []client.Order, names map[int64]string) {
	var unknown []int64
	for _, o := range orders {
		if _, known := names[o.PetID]; !known {
			names[o.PetID] = ""
			unknown = append(unknown, o.PetID)
		}
	}
	if left := store.Limits(); left.Limit > 0 && int64(len(unknown)) > left.Remaining/2 {
		return
	}
	var mu sync.Mutex
	var lookups sync.WaitGroup
	slots := make(chan struct{}, nameConcurrency)
	for _, id := range unknown {
		slots <- struct{}{}
		lookups.Go(func() {
			defer func() { <-slots }()
			if pet, err := store.FindPet(ctx, id); err == nil {
				mu.Lock()
				defer mu.Unlock()
				names[id] = pet.Name
			}
		})
	}
	lookups.Wait()
}

// orderFlags are the flags for a command that works on one order.
type orderFlags struct {
	profile.Flags
	showFlags
	ID int64 `arg:"" help:"The order's id, as orders list shows it."`
}

type ordersShow struct{ orderFlags }

func (c *ordersShow) Run(ctx context.Context, con *terminal.Console) error {
	return c.With(con, func(store *client.Client) error {
		return showOrder(ctx, con, store, c.showFlags)(store.GetOrder(ctx, c.ID))
	})
}

type ordersEdit struct {
	orderFlags
	Reference *string            `help:"The new reference. An empty one removes the reference, also from a closed order."`
	Hold      *terminal.Duration `placeholder:"72h" help:"How long to hold the animal from now on, from 1m to 30d."`
}

// Help shows examples.
func (ordersEdit) Help() string {
	return examples(
		"petstore orders edit 7 --hold 72h",
		"petstore orders edit 7 --reference ''")
}

func (c *ordersEdit) Run(ctx context.Context, con *terminal.Console) error {
	if c.Reference == nil && c.Hold == nil {
		return terminal.WrongUsage("there is nothing to change; give at least one of --reference and --hold")
	}
	if err := checkHold((*time.Duration)(c.Hold)); err != nil {
		return err
	}
	return c.Change(con, func(store *client.Client) error {
		return showOrder(ctx, con, store, c.showFlags)(store.UpdateOrder(ctx, c.ID, client.OrderPatch{Reference: c.Reference, Hold: (*time.Duration)(c.Hold)}))
	})
}

type ordersComplete struct{ orderFlags }

func (c *ordersComplete) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		return showOrder(ctx, con, store, c.showFlags)(store.CompleteOrder(ctx, c.ID))
	})
}

type ordersCancel struct{ orderFlags }

func (c *ordersCancel) Run(ctx context.Context, con *terminal.Console) error {
	return c.Change(con, func(store *client.Client) error {
		return showOrder(ctx, con, store, c.showFlags)(store.CancelOrder(ctx, c.ID))
	})
}
