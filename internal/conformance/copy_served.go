package conformance

import (
	"context"
	"errors"
	"sync"

	"petstore/internal/petstore"
)

var copyServedCases = []copyCase{
	{"a storage that a server has used refuses every copy", func(t copyTest) {
		t.fill(t.from, 3)
		t.copyAll()
		for range 2 { // the second call must change nothing, because a server starts more than once
			t.noError(t.to.MarkServed(t.Context()))
		}
		t.create(t.to, nil)
		before := t.content(t.to)
		if _, err := petstore.Copy(t.Context(), t.from, t.to, func(string, int64, int64) {}); !errors.Is(err, petstore.ErrServed) {
			t.Errorf("got %v, want ErrServed", err)
		}
		pets, keys := []petstore.Pet{{ID: 77, NewPet: rex}}, []petstore.StoredKey{{Key: newKey("b")}}
		records := []petstore.StoredIdempotency{{Owner: "o", Key: "k", Answer: "{}", MadeAt: epoch}}
		for name, replace := range map[string]func(ctx context.Context) error{
			"ReplacePets":        func(ctx context.Context) error { return t.to.ReplacePets(ctx, pets, nil) },
			"ReplaceKeys":        func(ctx context.Context) error { return t.to.ReplaceKeys(ctx, keys) },
			"ReplaceIdempotency": func(ctx context.Context) error { return t.to.ReplaceIdempotency(ctx, records, nil) },
			"ReplaceUsage": func(ctx context.Context) error {
				return t.to.ReplaceUsage(ctx, []petstore.OwnerUsage{usageOf("ann", epoch, 1, 0)}, nil)
			},
			"ReplaceCategories": func(ctx context.Context) error {
				return t.to.ReplaceCategories(ctx, []petstore.Category{{ID: 77, Name: "Dogs"}}, nil)
			},
			"ReplaceOrders": func(ctx context.Context) error {
				return t.to.ReplaceOrders(ctx, []petstore.Order{{ID: 77, PetID: 1, Status: petstore.Open, CreatedAt: epoch, ExpiresAt: epoch}}, nil)
			},
			"ReplaceEvents": func(ctx context.Context) error { return t.to.ReplaceEvents(ctx, nil, nil) },
			"ReplaceFeed":   func(ctx context.Context) error { return t.to.ReplaceFeed(ctx, petstore.Feed{Name: "0000"}) },
			"RaiseCounters": func(ctx context.Context) error { return t.to.RaiseCounters(ctx, petstore.Counters{Pet: 77}) },
		} {
			if err := replace(t.Context()); !errors.Is(err, petstore.ErrServed) {
				t.Errorf("%s: got %v, want ErrServed", name, err)
			}
		}
		t.same("the target", t.content(t.to), before)
	}},
	{"a storage that a server uses can be the source of a copy", func(t copyTest) {
		t.noError(t.from.MarkServed(t.Context()))
		t.create(t.from, idempotency("k", 1))
		for range 2 {
			t.copyAll()
			t.sameContent()
		}
	}},
	{"a running copy ends when a server starts to use the target", func(t copyTest) {
		t.fill(t.from, 2500)
		_, err := petstore.Copy(t.Context(), t.from, t.to, func(string, int64, int64) { t.noError(t.to.MarkServed(t.Context())) })
		if !errors.Is(err, petstore.ErrServed) {
			t.Errorf("got %v, want ErrServed", err)
		}
	}},
	{"once a server is marked as serving, no step of a copy is running", func(t copyTest) {
		var all sync.WaitGroup
		loaded := make(chan bool, 1)
		for i := range 4 {
			all.Go(func() {
				for n := int64(1); ; n++ {
					pet := petstore.Pet{ID: 4*n + int64(i), NewPet: rex}
					if err := t.to.ReplacePets(t.Context(), []petstore.Pet{pet}, nil); err != nil {
						if !errors.Is(err, petstore.ErrServed) {
							t.Error(err)
						}
						return
					}
					select {
					case loaded <- true:
					default:
					}
				}
			})
		}
		<-loaded
		t.noError(t.to.MarkServed(t.Context()))
		before := t.content(t.to)
		all.Wait()
		t.same("the target", t.content(t.to), before)
	}},
}
