package service

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// placeShortOrder places an order that holds an animal for 50 ms. The API would refuse such a short hold.
func placeShortOrder(t *testing.T, url string, petID int64) petstore.Order {
	t.Helper()
	var order petstore.Order
	err := database.Flags{Environment: petstore.Production, Database: url}.With(t.Context(), database.ToUse, func(storage *database.Storage) (err error) {
		order, _, err = storage.PlaceOrder(t.Context(), petstore.NewOrder{PetID: petID, Hold: 50 * time.Millisecond}, nil)
		return err
	})
	noError(t, err)
	return order
}

// expectFreed waits until the ordered animal is available again, and checks that the inventory and the orders agree.
func expectFreed(t *testing.T, s *testservice.Instance, animals int, order petstore.Order) {
	t.Helper()
	testservice.Eventually(t, "the animal is available again", 30*time.Second, func() bool {
		return testservice.Decode[testservice.Pet](t, s.Ask(t, "GET", fmt.Sprint("/v1/pets/", order.PetID), "").Body).Status == "available"
	})
	if got, want := s.Ask(t, "GET", "/v1/inventory", "").Body, fmt.Sprintf(`{"available":%d,"pending":0,"sold":0}`, animals); got != want {
		t.Errorf("the inventory is %s, want %s", got, want)
	}
	if got := s.Ask(t, "GET", fmt.Sprint("/v1/orders/", order.ID), "").Body; !strings.Contains(got, `"status":"expired"`) {
		t.Errorf("the order is %s", got)
	}
	if got := s.Ask(t, "POST", "/v1/orders", fmt.Sprintf(`{"petId":%d}`, order.PetID)); got.Status != 201 {
		t.Errorf("to order it again: %d %s", got.Status, got.Body)
	}
}

func TestAnAnimalIsAvailableSecondsAfterItsOrderExpired(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s := testservice.ServeRaced(t, "--database", database)
	order := placeShortOrder(t, database, create(t, s, "Rex").ID)
	expectFreed(t, s, 1, order)
}

func TestOrdersExpireAgainAfterADatabaseOutage(t *testing.T) {
	t.Parallel()
	const failed, again = "expired orders cannot be closed", "expired orders are closed again"
	database := testservice.StartPostgres(t)
	s := startReplicas(t, 1, database.URL)[0]
	animal := create(t, s, "Rex")
	database.Stop(t)
	testservice.Eventually(t, "the failure is logged", 30*time.Second, func() bool { return strings.Contains(s.Stderr.String(), failed) })
	database.Start(t)
	testservice.Eventually(t, "the recovery is logged", 30*time.Second, func() bool { return strings.Contains(s.Stderr.String(), again) })
	expectFreed(t, s, 1, placeShortOrder(t, database.URL, animal.ID))
}

// failingExpiry counts the calls of ExpireOrders. It makes the first calls fail, as many as the field failures says.
type failingExpiry struct {
	petstore.Upkeep
	calls, failures atomic.Int64
}

func (s *failingExpiry) ExpireOrders(context.Context) (int64, error) {
	if s.calls.Add(1) <= s.failures.Load() {
		return 0, petstore.NotDone(context.DeadlineExceeded)
	}
	return 0, nil
}

func TestFailureAndRecoveryOfOrderExpiryAreEachLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		storage := &failingExpiry{}
		storage.failures.Store(10)
		stop := expireOrders(storage, slog.New(slog.NewTextHandler(&logged, nil)))
		time.Sleep(20*expireEvery + expireEvery/2)
		stop()
		if calls := storage.calls.Load(); calls != 21 {
			t.Errorf("ExpireOrders was called %d times in 20 seconds", calls)
		}
		if log := logged.String(); strings.Count(log, "level=WARN") != 1 || strings.Count(log, "level=INFO") != 1 || strings.Count(log, "\n") != 2 {
			t.Errorf("the log says\n%s", log)
		}
	})
}

func TestTheLogShowsHowManyAnimalsAreNotIndexed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		left, failures := int64(40), 0
		stop := indexWords(func(context.Context) (int64, error) {
			time.Sleep(time.Second)
			if left == 20 && failures < 3 {
				failures++
				return 0, petstore.NotDone(context.DeadlineExceeded)
			}
			left = max(0, left-1)
			return left, nil
		}, slog.New(slog.NewTextHandler(&logged, nil)))
		time.Sleep(2*time.Minute + time.Second/2)
		stop()
		var got []string
		for line := range strings.Lines(logged.String()) {
			_, message, _ := strings.Cut(strings.TrimSpace(line), "level=")
			got = append(got, message)
		}
		want := []string{
			`INFO msg="animals are being indexed; meanwhile the server may refuse searches" left=39`,
			`INFO msg="animals are being indexed" left=29`,
			`WARN msg="animals cannot be indexed, so searches become slow; the server tries again every second" cause="unavailable: context deadline exceeded"`,
			`INFO msg="animals are being indexed" left=19`,
			`INFO msg="animals are being indexed" left=9`,
			`INFO msg="all animals are indexed for searches" took=42s`,
			`INFO msg="animals are indexed again"`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("the log says\n%s", strings.Join(got, "\n"))
		}
	})
}

// The test finds an expired record as long as it is stored, because its request carries the time at which the record was
// valid.
func TestAServerDeletesExpiredIdempotencyRecords(t *testing.T) {
	t.Parallel()
	flags := database.Flags{Environment: petstore.Production, Database: testservice.NewDatabase(t)}
	old := &petstore.Idempotency{Owner: "key_a", Key: "k", Now: time.Now().Add(-petstore.IdempotencyKept - time.Hour)}
	create := func(why database.Purpose) (replayed bool) {
		err := flags.With(t.Context(), why, func(storage *database.Storage) (err error) {
			_, replayed, err = storage.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", Status: petstore.Available}, old)
			return err
		})
		noError(t, err)
		return replayed
	}
	create(database.ToFill)
	if !create(database.ToFill) {
		t.Fatal("there is no record to delete")
	}
	testservice.Serve(t, "--database", flags.Database)
	testservice.Eventually(t, "the record is gone", 30*time.Second, func() bool { return !create(database.ToUse) })
}

func TestTheDefaultHoldOfAnOrderIsASetting(t *testing.T) {
	t.Parallel()
	for _, hold := range []string{"59s", "30d1s", "721h", "0", "-1h", "31d", "three days"} {
		if _, stderr, status := testservice.Run(t, "serve", "--order-hold", hold); status != 2 || !strings.Contains(stderr, "order-hold") {
			t.Errorf("--order-hold %s ends with %d: %s", hold, status, stderr)
		}
	}
	command := testservice.Command(t, "serve")
	command.Env = append(command.Env, "PETSTORE_ORDER_HOLD=59s")
	if out, _ := command.CombinedOutput(); !strings.Contains(string(out), "PETSTORE_ORDER_HOLD is 59s; it must be a duration from 1m to 30d, such as 72h") {
		t.Errorf("59 seconds are refused with: %s", out)
	}
	for _, c := range []struct {
		args []string
		hold time.Duration
	}{{nil, 72 * time.Hour}, {[]string{"--order-hold", "1m"}, time.Minute}, {[]string{"--order-hold", "30d"}, 30 * 24 * time.Hour}} {
		s := testservice.Serve(t, c.args...)
		got := s.Ask(t, "POST", "/v1/orders", fmt.Sprintf(`{"petId":%d}`, create(t, s, "Rex").ID))
		order := testservice.Decode[struct{ CreatedAt, ExpiresAt time.Time }](t, got.Body)
		if got.Status != 201 || order.ExpiresAt.Sub(order.CreatedAt) != c.hold {
			t.Errorf("with %v an order holds its animal for %s: %d %s", c.args, order.ExpiresAt.Sub(order.CreatedAt), got.Status, got.Body)
		}
		s.Stop(t)
	}
}
