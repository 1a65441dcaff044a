package petstore_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

var (
	placedAt = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	heldTill = placedAt.Add(time.Hour)
	closedAt = placedAt.Add(time.Minute)
)

// orderIn returns an order with a hold of one hour, stored in the given state.
func orderIn(status petstore.OrderStatus) petstore.Order {
	o := petstore.Order{ID: 3, PetID: 7, Status: status, Reference: "Ann", CreatedAt: placedAt, ExpiresAt: heldTill}
	switch status {
	case petstore.Completed, petstore.Cancelled:
		o.ClosedAt = closedAt
	case petstore.Expired:
		o.ClosedAt = heldTill
	}
	return o
}

func TestOnlyAnOpenOrderChangesItsState(t *testing.T) {
	const (
		before = -time.Millisecond
		at     = time.Duration(0)
		after  = time.Millisecond
	)
	times := map[time.Duration]string{before: "before its end", at: "at its end", after: "after its end"}
	type moment struct {
		stored petstore.OrderStatus
		when   time.Duration
	}
	// Each row has the state of an order at that moment, and the state of the order after a client completes or cancels it.
	// Zero means that the change is refused.
	table := map[moment]struct{ asOf, completed, cancelled petstore.OrderStatus }{
		{petstore.Open, before}:      {petstore.Open, petstore.Completed, petstore.Cancelled},
		{petstore.Open, at}:          {petstore.Expired, 0, 0},
		{petstore.Open, after}:       {petstore.Expired, 0, 0},
		{petstore.Completed, before}: {petstore.Completed, petstore.Completed, 0},
		{petstore.Completed, at}:     {petstore.Completed, petstore.Completed, 0},
		{petstore.Completed, after}:  {petstore.Completed, petstore.Completed, 0},
		{petstore.Cancelled, before}: {petstore.Cancelled, 0, petstore.Cancelled},
		{petstore.Cancelled, at}:     {petstore.Cancelled, 0, petstore.Cancelled},
		{petstore.Cancelled, after}:  {petstore.Cancelled, 0, petstore.Cancelled},
		{petstore.Expired, before}:   {petstore.Expired, 0, 0},
		{petstore.Expired, at}:       {petstore.Expired, 0, 0},
		{petstore.Expired, after}:    {petstore.Expired, 0, 0},
	}
	if want := len(petstore.OrderStatuses) * len(times); len(table) != want {
		t.Fatalf("the table has %d rows, want %d", len(table), want)
	}
	for from, want := range table {
		now := heldTill.Add(from.when)
		for to, becomes := range map[petstore.OrderStatus]petstore.OrderStatus{petstore.Completed: want.completed, petstore.Cancelled: want.cancelled} {
			t.Run(from.stored.String()+" "+times[from.when]+" to "+to.String(), func(t *testing.T) {
				order := orderIn(from.stored)
				if got := order.AsOf(now); got != orderAs(order, want.asOf, got.ClosedAt) {
					t.Errorf("it is %+v, want %s", got, want.asOf)
				}
				got, err := order.Close(to, now)
				if becomes == 0 {
					if !petstore.IsCode(err, petstore.OrderClosed) || got != (petstore.Order{}) {
						t.Errorf("got %+v, %v; want a refusal", got, err)
					}
					return
				}
				closed := order.ClosedAt
				if from.stored == petstore.Open {
					closed = now
				}
				if wanted := orderAs(order, becomes, closed); err != nil || got != wanted {
					t.Errorf("got %+v, %v; want %+v", got, err, wanted)
				}
			})
		}
	}
}

func orderAs(o petstore.Order, status petstore.OrderStatus, closed time.Time) petstore.Order {
	o.Status, o.ClosedAt = status, closed
	return o
}

func TestTheRefusalToCloseAnOrderNamesItsState(t *testing.T) {
	for status, end := range map[petstore.OrderStatus]petstore.OrderStatus{
		petstore.Open:      petstore.Expired,
		petstore.Expired:   petstore.Expired,
		petstore.Cancelled: petstore.Cancelled,
	} {
		_, err := orderIn(status).Close(petstore.Completed, heldTill)
		expectRefusal(t, err, petstore.Error{Code: petstore.OrderClosed, Order: new(orderIn(end))})
	}
}

func TestOnlyAnAvailableAnimalCanBeOrdered(t *testing.T) {
	newOrder := petstore.NewOrder{PetID: 7, Reference: "Ann", Hold: time.Hour}
	for _, status := range petstore.Statuses {
		pet := petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: "Rex", Status: status}}
		got, err := newOrder.Place(3, pet, placedAt)
		switch {
		case status == petstore.Available && (err != nil || got != orderIn(petstore.Open)):
			t.Errorf("got %+v, %v; want %+v", got, err, orderIn(petstore.Open))
		case status != petstore.Available:
			expectRefusal(t, err, petstore.Error{Code: petstore.PetUnavailable, Status: status})
		}
	}
}

func TestAClosedOrderLeavesItsAnimalSoldOrAvailable(t *testing.T) {
	for status, leaves := range map[petstore.OrderStatus]petstore.Status{petstore.Completed: petstore.Sold, petstore.Cancelled: petstore.Available, petstore.Expired: petstore.Available} {
		if got := status.Leaves(); got != leaves {
			t.Errorf("%s leaves its animal %s", status, got)
		}
	}
}

func TestOrderStatusesAreThePublishedOnes(t *testing.T) {
	var names []string
	for _, status := range petstore.OrderStatuses {
		names = append(names, status.String())
		if again, ok := petstore.ParseOrderStatus(status.String()); !ok || again != status {
			t.Errorf("%s is read as %v, %v", status, again, ok)
		}
	}
	if got := strings.Join(names, " "); got != "open completed cancelled expired" {
		t.Errorf("got %s", got)
	}
	for _, other := range []string{"", "Open", "canceled", "open ", "pending", "1"} {
		if status, ok := petstore.ParseOrderStatus(other); ok {
			t.Errorf("%q is read as %v", other, status)
		}
	}
	for _, unknown := range []petstore.OrderStatus{0, 5, 255} {
		if name := unknown.String(); name != "" {
			t.Errorf("the status %d is called %q", unknown, name)
		}
	}
}

func TestAHoldIsBounded(t *testing.T) {
	for seconds, allowed := range map[int64]bool{-60: false, 0: false, 59: false, 60: true, 259200: true, 2592000: true, 2592001: false, 1 << 62: false} {
		problem := petstore.CheckHold(seconds)
		if allowed != (problem == "") || !allowed && problem != "must be a whole number from 60 to 2592000" {
			t.Errorf("a hold of %d seconds: %q", seconds, problem)
		}
	}
}

// The test closes orders at random times and in a random sequence.
func TestAnOrderChangesItsStateAtMostOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hold := time.Duration(rapid.Int64Range(60, 2592000).Draw(t, "hold")) * time.Second
		pet := petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: "Rex", Status: petstore.Available}}
		order, err := petstore.NewOrder{PetID: 7, Hold: hold}.Place(3, pet, placedAt.Add(time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "nanoseconds"))))
		if err != nil || order.ExpiresAt.Sub(order.CreatedAt) != hold || order.CreatedAt != order.CreatedAt.Truncate(time.Millisecond) {
			t.Fatalf("placed %+v, %v", order, err)
		}
		now := order.CreatedAt
		for _, to := range rapid.SliceOf(rapid.SampledFrom([]petstore.OrderStatus{petstore.Completed, petstore.Cancelled})).Draw(t, "states") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(hold)).Draw(t, "later")))
			if at := order.AsOf(now); at != at.AsOf(now.Add(hold)) && at.Status != petstore.Open {
				t.Fatalf("closed as %+v, later %+v", at, at.AsOf(now.Add(hold)))
			}
			after, err := order.Close(to, now)
			if err == nil && (after.Status != to || order.Status != petstore.Open && after != order) {
				t.Fatalf("%+v became %+v", order, after)
			}
			if err != nil && order.AsOf(now).Status == petstore.Open {
				t.Fatalf("%+v is open at %s and refused: %v", order, now, err)
			}
			if err == nil {
				order = after
			}
			if closed := order.ClosedAt; order.Status != petstore.Open && (closed.Before(order.CreatedAt) || !closed.Before(order.ExpiresAt)) {
				t.Fatalf("%+v is closed before it was created or after it expired", order)
			}
		}
	})
}
