package conformance

import (
	"context"
	"time"

	"petstore/internal/petstore"
)

// everyCall has one call of each method of a Storage, with arguments that an open storage accepts.
var everyCall = []struct {
	name string
	call func(ctx context.Context, s petstore.Database) error
}{
	{"ListPets", func(ctx context.Context, s petstore.Database) error {
		_, err := s.ListPets(ctx, petstore.PetQuery{Limit: 20})
		return err
	}},
	{"GetPet", func(ctx context.Context, s petstore.Database) error {
		_, err := s.GetPet(ctx, 1)
		return err
	}},
	{"CreatePet", func(ctx context.Context, s petstore.Database) error {
		_, _, err := s.CreatePet(ctx, rex, nil)
		return err
	}},
	{"CreatePet with an idempotency", func(ctx context.Context, s petstore.Database) error {
		_, _, err := s.CreatePet(ctx, rex, idempotency("k", 1))
		return err
	}},
	{"UpdatePet", func(ctx context.Context, s petstore.Database) error {
		_, _, err := s.UpdatePet(ctx, 1, withStatus(petstore.Sold), nil)
		return err
	}},
	{"DeletePet", func(ctx context.Context, s petstore.Database) error { return errorOf(s.DeletePet(ctx, 1, nil)) }},
	{"Inventory", func(ctx context.Context, s petstore.Database) error {
		_, err := s.Inventory(ctx)
		return err
	}},
	{"ListCategories", func(ctx context.Context, s petstore.Database) error {
		_, err := s.ListCategories(ctx, petstore.CategoryQuery{Limit: 20})
		return err
	}},
	{"GetCategory", func(ctx context.Context, s petstore.Database) error {
		_, err := s.GetCategory(ctx, 1)
		return err
	}},
	{"CreateCategory", func(ctx context.Context, s petstore.Database) error {
		_, _, err := s.CreateCategory(ctx, "Dogs", nil)
		return err
	}},
	{"NameCategory", func(ctx context.Context, s petstore.Database) error {
		_, _, err := s.NameCategory(ctx, petstore.Category{ID: 1, Name: "Dogs"}, nil)
		return err
	}},
	{"DeleteCategory", func(ctx context.Context, s petstore.Database) error { return errorOf(s.DeleteCategory(ctx, 1, nil)) }},
	{"ListOrders", func(ctx context.Context, s petstore.Database) error {
		_, err := s.ListOrders(ctx, petstore.OrderQuery{Limit: 20})
		return err
	}},
	{"GetOrder", func(ctx context.Context, s petstore.Database) error {
		_, err := s.GetOrder(ctx, 1)
		return err
	}},
	{"PlaceOrder", func(ctx context.Context, s petstore.Database) error {
		_, _, err := s.PlaceOrder(ctx, petstore.NewOrder{PetID: 1, Hold: time.Hour}, nil)
		return err
	}},
	{"PlaceOrder with an idempotency", func(ctx context.Context, s petstore.Database) error {
		_, _, err := s.PlaceOrder(ctx, petstore.NewOrder{PetID: 1, Hold: time.Hour}, idempotency("k", 1))
		return err
	}},
	{"CloseOrder", func(ctx context.Context, s petstore.Database) error {
		_, _, err := s.CloseOrder(ctx, 1, petstore.Completed, nil)
		return err
	}},
	{"ExpireOrders", func(ctx context.Context, s petstore.Database) error {
		_, err := s.ExpireOrders(ctx)
		return err
	}},
	{"PurgeIdempotency", func(ctx context.Context, s petstore.Database) error {
		_, err := s.PurgeIdempotency(ctx, epoch)
		return err
	}},
	{"CreateKey", func(ctx context.Context, s petstore.Database) error {
		return s.CreateKey(ctx, newKey("b"), petstore.HashSecret("b"))
	}},
	{"CreateFirstKey", func(ctx context.Context, s petstore.Database) error {
		_, err := s.CreateFirstKey(ctx, newKey("b"), petstore.HashSecret("b"))
		return err
	}},
	{"EnsureKey", func(ctx context.Context, s petstore.Database) error {
		return s.EnsureKey(ctx, newKey("b"), petstore.HashSecret("b"))
	}},
	{"FindKey", func(ctx context.Context, s petstore.Database) error {
		_, err := s.FindKey(ctx, petstore.HashSecret("a"))
		return err
	}},
	{"Keys", func(ctx context.Context, s petstore.Database) error {
		_, err := s.Keys(ctx)
		return err
	}},
	{"RotateKey", func(ctx context.Context, s petstore.Database) error {
		_, err := s.RotateKey(ctx, "key_a", petstore.HashSecret("b"), epoch, time.Hour)
		return err
	}},
	{"UpdateKey", func(ctx context.Context, s petstore.Database) error {
		_, err := s.UpdateKey(ctx, "key_a", petstore.KeyChange{Name: new("b")}, epoch)
		return err
	}},
	{"UseKey", func(ctx context.Context, s petstore.Database) error { return s.UseKey(ctx, "key_a", epoch) }},
	{"RevokeKey", func(ctx context.Context, s petstore.Database) error { return s.RevokeKey(ctx, "key_a", epoch) }},
	{"BanOwner", func(ctx context.Context, s petstore.Database) error {
		_, err := s.BanOwner(ctx, "key_a", epoch)
		return err
	}},
	{"UnbanOwner", func(ctx context.Context, s petstore.Database) error { return s.UnbanOwner(ctx, "key_a") }},
	{"Ping", func(ctx context.Context, s petstore.Database) error { return s.Ping(ctx) }},
}

var lifecycleCases = []storageCase{
	{"an open storage answers a ping", func(t storageTest) {
		t.noError(t.Ping(t.Context()))
	}},
	{"a call whose context has ended is refused and stores nothing", func(t storageTest) {
		key := newKey("a")
		key.ID, key.Owner = "key_a", "key_a"
		t.addKey(key)
		pet := t.add(rex)
		for _, method := range everyCall {
			if wrong := checkRefusal(method.call(canceledContext(), t.Database), petstore.Unavailable); wrong != nil {
				t.Errorf("%s: %v", method.name, wrong)
			}
		}
		t.same("pets", t.all(), []petstore.Pet{pet})
		t.same("keys", t.keys(), []petstore.Key{key})
		t.same("orders", len(t.orders(petstore.OrderQuery{Limit: 9})), 0)
		t.same("categories", t.createCategory("Dogs").Name, "Dogs")
		t.addOnce(rex, idempotency("k", 1), false)
	}},
	{"a closed storage refuses every call", func(t storageTest) {
		t.add(rex)
		t.noError(t.Close())
		for _, method := range everyCall {
			if wrong := checkRefusal(method.call(t.Context(), t.Database), petstore.Unavailable); wrong != nil {
				t.Errorf("%s: %v", method.name, wrong)
			}
		}
	}},
	{"closing again does nothing", func(t storageTest) {
		t.noError(t.Close())
		t.noError(t.Close())
	}},
	{"a call during Close is done or refused", func(t storageTest) {
		t.concurrently(60, func(i int) error {
			if i == 30 {
				return t.Close()
			}
			pet, _, err := t.CreatePet(t.Context(), rex, nil)
			if err != nil {
				return checkRefusal(err, petstore.Unavailable)
			}
			if pet.NewPet != rex || pet.ID == 0 {
				t.Errorf("created %+v", pet)
			}
			if _, err = t.ListPets(t.Context(), petstore.PetQuery{Limit: 1}); err != nil {
				return checkRefusal(err, petstore.Unavailable)
			}
			return nil
		})
	}},
}
