package conformance

import (
	"context"
	"crypto/rand"
	"time"

	"petstore/internal/petstore"
)

// callAll calls each method of a Storage once, with arguments that an open storage accepts. It returns the errors by
// method.
func callAll(ctx context.Context, s petstore.Database) map[string]error {
	ask, again := petstore.NewOrder{PetID: 1, Hold: time.Hour}, idempotency("k", 1)
	key, hash := newKey("b"), petstore.HashSecret("b")
	errs := make(map[string]error)
	_, errs["ListPets"] = s.ListPets(ctx, petstore.PetQuery{Limit: 20})
	_, errs["GetPet"] = s.GetPet(ctx, 1)
	_, _, errs["CreatePet"] = s.CreatePet(ctx, rex, nil)
	_, _, errs["CreatePet with an idempotency"] = s.CreatePet(ctx, rex, again)
	_, _, errs["UpdatePet"] = s.UpdatePet(ctx, 1, withStatus(petstore.Sold), nil)
	_, errs["DeletePet"] = s.DeletePet(ctx, 1, again)
	_, errs["Inventory"] = s.Inventory(ctx)
	_, errs["ListCategories"] = s.ListCategories(ctx, petstore.CategoryQuery{Limit: 20})
	_, errs["GetCategory"] = s.GetCategory(ctx, 1)
	_, _, errs["CreateCategory"] = s.CreateCategory(ctx, "Dogs", nil)
	_, _, errs["NameCategory"] = s.NameCategory(ctx, petstore.Category{ID: 1, Name: "Dogs"}, nil)
	_, errs["DeleteCategory"] = s.DeleteCategory(ctx, 1, nil)
	_, errs["ListOrders"] = s.ListOrders(ctx, petstore.OrderQuery{Limit: 20})
	_, errs["GetOrder"] = s.GetOrder(ctx, 1)
	_, _, errs["PlaceOrder"] = s.PlaceOrder(ctx, ask, nil)
	_, _, errs["PlaceOrder with an idempotency"] = s.PlaceOrder(ctx, ask, again)
	_, _, errs["UpdateOrder"] = s.UpdateOrder(ctx, 1, petstore.OrderPatch{}, nil)
	_, _, errs["CloseOrder"] = s.CloseOrder(ctx, 1, petstore.Completed, nil)
	_, errs["Describe"] = s.Describe(ctx)
	_, errs["ExpireOrders"] = s.ExpireOrders(ctx)
	_, errs["PurgeIdempotency"] = s.PurgeIdempotency(ctx, epoch)
	errs["CreateKey"] = s.CreateKey(ctx, key, hash, operator)
	_, errs["CreateFirstKey"] = s.CreateFirstKey(ctx, key, hash)
	errs["EnsureKey"] = s.EnsureKey(ctx, key, hash)
	_, errs["FindKey"] = s.FindKey(ctx, petstore.HashSecret("a"))
	_, errs["GetKey"] = s.GetKey(ctx, "key_a")
	_, errs["ListKeys"] = s.ListKeys(ctx, petstore.KeyQuery{Limit: 20})
	_, errs["Keys"] = s.Keys(ctx)
	_, errs["RotateKey"] = s.RotateKey(ctx, "key_a", hash, petstore.Rotation{Overlap: time.Hour}, operator)
	_, _, errs["UpdateKey"] = s.UpdateKey(ctx, "key_a", petstore.KeyChange{Name: new("b")}, operator)
	errs["UseKey"] = s.UseKey(ctx, "key_a", epoch)
	_, _, errs["RevokeKey"] = s.RevokeKey(ctx, "key_a", operator)
	_, errs["BanOwner"] = s.BanOwner(ctx, "key_a", epoch)
	_, _, errs["UnbanKey"] = s.UnbanKey(ctx, "key_a", operator)
	_, errs["Usage"] = s.Usage(ctx, "key_a", epoch)
	_, errs["AddUsage"] = s.AddUsage(ctx, []petstore.OwnerUsage{{Owner: "key_a"}}, nil)
	_, errs["PurgeUsage"] = s.PurgeUsage(ctx, epoch)
	errs["Ping"] = s.Ping(ctx)
	return errs
}

func (t storageTest) allUnavailable(ctx context.Context) {
	t.Helper()
	for method, err := range callAll(ctx, t.Database) {
		if wrong := checkRefusal(err, petstore.Unavailable); wrong != nil {
			t.Errorf("%s: %v", method, wrong)
		}
	}
}

var lifecycleCases = []storageCase{
	{"a storage describes itself", func(t storageTest) {
		before, err := t.Describe(t.Context())
		t.noError(err)
		_, _, err = t.CreatePet(t.Context(), rex, nil)
		t.noError(err)
		_, _, err = t.AddPhoto(t.Context(), 1, petstore.NewPhoto{Width: 1, Height: 1, Large: noise(300_000), Small: noise(4_000)}, nil)
		t.noError(err)
		after, err := t.Describe(t.Context())
		t.noError(err)
		if before.Database == "" || before.Schema == 0 || before.DatabaseBytes == 0 || before.PhotoBytes != 0 || before.Events != 0 {
			t.Errorf("at first: %+v", before)
		}
		if after.Schema != before.Schema || after.DatabaseBytes <= before.DatabaseBytes || after.PhotoBytes != 304_000 {
			t.Errorf("with a photo: %+v, before: %+v", after, before)
		}
	}},
	{"an open storage answers a ping", func(t storageTest) {
		t.noError(t.Ping(t.Context()))
	}},
	{"a call whose context has ended is refused and stores nothing", func(t storageTest) {
		key := newKey("a")
		key.ID, key.Owner = "key_a", "key_a"
		t.addKey(key)
		pet := t.add(rex)
		t.allUnavailable(canceledContext())
		t.same("pets", t.all(), []petstore.Pet{pet})
		t.same("keys", t.keys(), []petstore.Key{key})
		t.same("orders", len(t.orders(petstore.OrderQuery{Limit: 9})), 0)
		t.same("categories", t.createCategory("Dogs").Name, "Dogs")
		t.addOnce(rex, idempotency("k", 1), false)
	}},
	{"a closed storage refuses every call", func(t storageTest) {
		t.add(rex)
		t.noError(t.Close())
		t.allUnavailable(t.Context())
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

// noise returns n bytes that cannot be compressed.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}
