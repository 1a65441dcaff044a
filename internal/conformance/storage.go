// Package conformance holds the suites of tests that every Storage must pass. Only tests import the package.
//
// An implementation runs a suite with one call, such as Storage(t, open), where open returns an empty storage. Whenever two
// storages turn out to differ, the difference becomes a case in a suite.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// Storage checks that a storage keeps every promise of petstore.Storage, Upkeep and Loader. For each case, the function
// open returns a new, empty storage of the production environment, and registers a cleanup that closes the storage.
func Storage(t *testing.T, open func(t *testing.T) petstore.Database) {
	groups := []struct {
		name  string
		cases []storageCase
	}{
		{"pets", petCases},
		{"changes of pets", changeCases},
		{"searches", searchCases},
		{"inventory", inventoryCases},
		{"profiles", profileCases},
		{"photos", photoCases},
		{"categories", categoryCases},
		{"orders", orderCases},
		{"expiry of orders", expiryCases},
		{"patches of orders", orderPatchCases},
		{"idempotency", idempotencyCases},
		{"idempotency of every write", onceCases},
		{"many pets in one call", addPetsCases},
		{"webhooks", webhookCases},
		{"leases of webhooks", leaseCases},
		{"deliveries", deliveryCases},
		{"keys", keyCases},
		{"rotation", rotationCases},
		{"changes of keys", keyChangeCases},
		{"lists of keys", keyListCases},
		{"administrators", adminCases},
		{"bans", banCases},
		{"usage", usageCases},
		{"lifecycle", lifecycleCases},
		{"history", historyCases},
		{"events", eventCases},
		{"pages of events", eventPageCases},
		{"events that are kept", eventsKeptCases},
		{"the feed, replayed", eventModelCases},
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) { runCases(t, group.cases, open) })
	}
}

// Searches checks only the searches of a storage, as Storage does. A storage with several ways to search needs it for each.
func Searches(t *testing.T, open func(t *testing.T) petstore.Database) {
	runCases(t, searchCases, open)
}

func runCases(t *testing.T, cases []storageCase, open func(t *testing.T) petstore.Database) {
	for _, c := range cases {
		t.Run(c.behavior, func(t *testing.T) { c.check(storageTest{checks{t}, open(t)}) })
	}
}

type storageCase struct {
	behavior string
	check    func(t storageTest)
}

// The type checks holds a running test, and has the checks that all suites use.
type checks struct{ *testing.T }

// storageTest is a running case: the test, and the storage under test.
type storageTest struct {
	checks
	petstore.Database
}

// epoch is the time at which the cases begin. It is a whole number of milliseconds, so that every storage can store it
// exactly.
var epoch = time.Date(2026, time.November, 15, 9, 30, 0, int(123*time.Millisecond), time.UTC)

func (t checks) same(what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func (t checks) noError(err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func (t storageTest) refused(err error, code petstore.Code) {
	t.Helper()
	if wrong := checkRefusal(err, code); wrong != nil {
		t.Fatal(wrong)
	}
}

// checkRefusal returns nil if err is a refusal with the given code. Otherwise it returns what is wrong with err.
func checkRefusal(err error, code petstore.Code) error {
	var refusal *petstore.Error
	switch {
	case !errors.As(err, &refusal):
		return fmt.Errorf("got %v, want a refusal with the code %s", err, code)
	case refusal.Code != code:
		return fmt.Errorf("got the code %s (%w), want %s", refusal.Code, err, code)
	case lacksFacts(refusal):
		return fmt.Errorf("the refusal %s lacks its facts", code)
	}
	return nil
}

// lacksFacts reports whether a refusal lacks the facts that belong to its code. Without these facts, nobody can explain the
// refusal.
func lacksFacts(refusal *petstore.Error) bool {
	switch refusal.Code {
	case petstore.NotFound:
		return refusal.Noun == ""
	case petstore.InvalidField:
		return len(refusal.Faults) == 0
	case petstore.PetReserved, petstore.OrderClosed:
		return refusal.Order == nil || refusal.Order.ID == 0
	case petstore.PetUnavailable:
		return refusal.Status == 0
	case petstore.NameTaken:
		return refusal.Category == nil
	case petstore.SecretShown:
		return (refusal.Key == nil || refusal.Key.ID == "") == (refusal.Webhook == "")
	case petstore.EventsGone:
		return refusal.Oldest.Feed == ""
	case petstore.Unauthorized, petstore.Forbidden, petstore.KeyRevoked, petstore.OwnKey:
		return refusal.Key == nil || refusal.Key.ID == ""
	}
	return false
}

// errorOf returns the error of a write. It drops the other result, which says whether the answer is a replay.
func errorOf(_ bool, err error) error { return err }

// writeError returns the error of a write that also returns what was changed.
func writeError[T any](_ T, _ bool, err error) error { return err }

// operator is the request of an operator.
var operator = petstore.ByOperator(epoch)

// The method concurrently calls f(0) to f(n-1) at the same time, and fails the test with the first error.
func (t storageTest) concurrently(n int, f func(i int) error) {
	t.Helper()
	start, failures := make(chan struct{}), make(chan error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			if err := f(i); err != nil {
				failures <- fmt.Errorf("call %d: %w", i, err)
			}
		})
	}
	close(start)
	all.Wait()
	close(failures)
	if err := <-failures; err != nil {
		t.Fatal(err)
	}
}

func (t storageTest) add(pet petstore.NewPet) petstore.Pet {
	t.Helper()
	got, replayed, err := t.CreatePet(t.Context(), pet, nil)
	t.noError(err)
	if replayed {
		t.Fatal("a create without an idempotency was called a replay")
	}
	return got
}

// addMany creates n animals one after the other, with each status in turn. It returns the animals, newest first.
func (t storageTest) addMany(n int) []petstore.Pet {
	t.Helper()
	pets := make([]petstore.Pet, n)
	for i := range n {
		status := petstore.Statuses[i%len(petstore.Statuses)]
		pets[n-1-i] = t.add(petstore.NewPet{Name: fmt.Sprintf("Pet %d", i), CategoryID: int64(i), Status: status})
	}
	return pets
}

func (t storageTest) list(q petstore.PetQuery) []petstore.Pet {
	t.Helper()
	pets, err := t.ListPets(t.Context(), q)
	t.noError(err)
	if len(pets) > q.Limit {
		t.Fatalf("the list has %d animals, more than the limit of %d", len(pets), q.Limit)
	}
	return append([]petstore.Pet{}, pets...)
}

// The method all lists every animal, newest first.
func (t storageTest) all() []petstore.Pet {
	t.Helper()
	return t.list(petstore.PetQuery{Limit: 10_000})
}

// sameKeys fails the test unless got and want have the same keys, in any order.
func (t storageTest) sameKeys(what string, got, want []petstore.Key) {
	t.Helper()
	byID := func(a, b petstore.Key) int { return cmp.Compare(a.ID, b.ID) }
	t.same(what, slices.SortedFunc(slices.Values(got), byID), slices.SortedFunc(slices.Values(want), byID))
}

func canceledContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
