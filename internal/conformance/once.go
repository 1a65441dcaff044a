package conformance

import (
	"reflect"
	"time"

	"petstore/internal/petstore"
)

// write makes one change. It returns the answer, and whether the answer is a replay.
type write func(t storageTest, o *petstore.Idempotency) (answer any, replayed bool, err error)

// writes has every kind of write that creates nothing. Each function prepares the storage and returns two functions: do
// makes the write, and undo makes another change to the same thing, as another client might.
var writes = map[string]func(t storageTest) (do write, undo func()){
	"UpdatePet": func(t storageTest) (write, func()) {
		pet := t.add(rex)
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.UpdatePet(t.Context(), pet.ID, withName("First"), o)
		}, func() { t.patch(pet.ID, withName("Second")) }
	},
	"DeletePet": func(t storageTest) (write, func()) {
		pet := t.add(rex)
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			replayed, err := t.DeletePet(t.Context(), pet.ID, o)
			return nil, replayed, err
		}, func() {}
	},
	"NameCategory": func(t storageTest) (write, func()) {
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.NameCategory(t.Context(), petstore.Category{ID: 7, Name: "Cats"}, o)
		}, func() { t.noError(errorOf(t.DeleteCategory(t.Context(), 7, nil))) }
	},
	"DeleteCategory": func(t storageTest) (write, func()) {
		category := petstore.Category{ID: 8, Name: "Dogs"}
		name := func() {
			_, _, err := t.NameCategory(t.Context(), category, nil)
			t.noError(err)
		}
		name()
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			replayed, err := t.DeleteCategory(t.Context(), category.ID, o)
			return nil, replayed, err
		}, name
	},
	"UpdateWebhook": func(t storageTest) (write, func()) {
		webhook := t.addWebhook("*")
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.UpdateWebhook(t.Context(), webhook.ID, petstore.WebhookPatch{Description: new("first")}, o)
		}, func() { t.patchWebhook(webhook.ID, petstore.WebhookPatch{Description: new("second")}) }
	},
	"DeleteWebhook": func(t storageTest) (write, func()) {
		webhook := t.addWebhook("*")
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			replayed, err := t.DeleteWebhook(t.Context(), webhook.ID, o)
			return nil, replayed, err
		}, func() {}
	},
	"UpdateOrder": func(t storageTest) (write, func()) {
		order, first, second := t.place(t.add(rex).ID), "Ann", "Bob"
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.UpdateOrder(t.Context(), order.ID, petstore.OrderPatch{Reference: &first}, o)
		}, func() { t.updateOrder(order.ID, petstore.OrderPatch{Reference: &second}) }
	},
	"CloseOrder": func(t storageTest) (write, func()) {
		order := t.place(t.add(rex).ID)
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.CloseOrder(t.Context(), order.ID, petstore.Completed, o)
		}, func() { t.patch(order.PetID, withStatus(petstore.Available)) }
	},
	"UpdateProfile": func(t storageTest) (write, func()) {
		pet := t.add(rex)
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.UpdateProfile(t.Context(), pet.ID, withBreed("Beagle"), o)
		}, func() { t.updateProfile(pet.ID, withBreed("Poodle")) }
	},
	"AddPhoto": func(t storageTest) (write, func()) {
		pet := t.add(rex)
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.AddPhoto(t.Context(), pet.ID, smallPhoto, o)
		}, func() { t.deletePhoto(pet.ID, t.profile(pet.ID).Photos[0].ID) }
	},
	"CoverPhoto": func(t storageTest) (write, func()) {
		pet := t.add(rex)
		first, second := t.addPhoto(pet.ID), t.addPhoto(pet.ID)
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.CoverPhoto(t.Context(), pet.ID, second.ID, o)
		}, func() { t.coverPhoto(pet.ID, first.ID) }
	},
	"DeletePhoto": func(t storageTest) (write, func()) {
		pet := t.add(rex)
		photo := t.addPhoto(pet.ID)
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			replayed, err := t.DeletePhoto(t.Context(), pet.ID, photo.ID, o)
			return nil, replayed, err
		}, func() { t.addPhoto(pet.ID) }
	},
	"UpdateKey": func(t storageTest) (write, func()) {
		key := t.addKey(newKey("changed"))
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.UpdateKey(t.Context(), key.ID, petstore.KeyChange{Plan: new(petstore.Pro), Lifetime: new(time.Hour)}, once(o))
		}, func() { t.update(key.ID, petstore.KeyChange{Plan: new(petstore.Business)}, epoch) }
	},
	"RevokeKey": func(t storageTest) (write, func()) {
		key := t.addKey(newKey("revoked"))
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.RevokeKey(t.Context(), key.ID, once(o))
		}, func() { t.noError(t.EnsureKey(t.Context(), newKey("revoked"), petstore.HashSecret("revoked"))) }
	},
	"UnbanKey": func(t storageTest) (write, func()) {
		key := t.addKey(newKey("banned"))
		t.ban(key.Owner, epoch)
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			return t.UnbanKey(t.Context(), key.ID, once(o))
		}, func() { t.ban(key.Owner, epoch) }
	},
	"AddUsage": func(t storageTest) (write, func()) {
		more := []petstore.OwnerUsage{{Owner: "ann", Usage: petstore.Usage{Hour: thisHour(), Passed: 7}}}
		return func(t storageTest, o *petstore.Idempotency) (any, bool, error) {
			replayed, err := t.AddUsage(t.Context(), more, o)
			return nil, replayed, err
		}, func() { t.addUsage(more...) }
	},
}

// once returns the request of an operator that must be done only once.
func once(o *petstore.Idempotency) petstore.KeyRequest {
	return petstore.KeyRequest{Now: epoch, Idempotency: o}
}

// everything returns all that the storage shows, so that a case can compare it with an earlier result.
func (t storageTest) everything() any {
	t.Helper()
	categories, err := t.ListCategories(t.Context(), petstore.CategoryQuery{Limit: 100})
	t.noError(err)
	profiles, err := t.StoredProfiles(t.Context(), petstore.StoredProfile{}, 100)
	t.noError(err)
	photos, err := t.StoredPhotos(t.Context(), petstore.StoredPhoto{}, 100)
	t.noError(err)
	return []any{t.all(), categories, t.orders(petstore.OrderQuery{Limit: 100}), t.inventory(), profiles, photos, t.keys(), t.usage("ann"), t.feed()}
}

var onceCases = []storageCase{
	{"a repeat of any write returns the first answer and undoes nothing that others did since", func(t storageTest) {
		for name, prepare := range writes {
			do, undo := prepare(t)
			first, replayed, err := do(t, idempotency(name, 1))
			t.noError(err)
			t.same(name+" replayed", replayed, false)
			undo()
			before := t.everything()
			for range 2 {
				again, replayed, err := do(t, idempotency(name, 1))
				t.noError(err)
				t.same(name+" replayed", replayed, true)
				t.same(name+" again", again, first)
				t.same("everything after "+name, t.everything(), before)
			}
		}
	}},
	{"a key that was used for another write is a conflict and changes nothing", func(t storageTest) {
		t.addOnce(rex, idempotency("taken", 1), false)
		for name, prepare := range writes {
			do, _ := prepare(t)
			before := t.everything()
			_, _, err := do(t, idempotency("taken", 2))
			t.refused(err, petstore.IdempotencyConflict)
			t.same("everything after "+name, t.everything(), before)
		}
	}},
	{"a refused write does not use its key", func(t storageTest) {
		pet := t.add(rex)
		order := t.place(pet.ID)
		for range 2 {
			_, _, err := t.UpdatePet(t.Context(), pet.ID, withStatus(petstore.Sold), idempotency("k", 1))
			t.refused(err, petstore.PetReserved)
			_, err = t.DeletePet(t.Context(), pet.ID, idempotency("k", 2))
			t.refused(err, petstore.PetReserved)
			_, err = t.DeleteCategory(t.Context(), 7, idempotency("k", 3))
			t.refused(err, petstore.NotFound)
			_, _, err = t.CloseOrder(t.Context(), order.ID+1, petstore.Completed, idempotency("k", 4))
			t.refused(err, petstore.NotFound)
			_, _, err = t.UpdateOrder(t.Context(), order.ID+1, petstore.OrderPatch{}, idempotency("k", 5))
			t.refused(err, petstore.NotFound)
			_, _, err = t.UpdateProfile(t.Context(), pet.ID+1, withBreed("Beagle"), idempotency("k", 6))
			t.refused(err, petstore.NotFound)
			_, _, err = t.AddPhoto(t.Context(), pet.ID+1, smallPhoto, idempotency("k", 7))
			t.refused(err, petstore.NotFound)
			_, _, err = t.CoverPhoto(t.Context(), pet.ID, 1, idempotency("k", 8))
			t.refused(err, petstore.NotFound)
			_, err = t.DeletePhoto(t.Context(), pet.ID, 1, idempotency("k", 9))
			t.refused(err, petstore.NotFound)
		}
		t.addOnce(rex, idempotency("k", 10), false)
	}},
	{"a refusal of an overdue order stores that it has expired and does not use the key", func(t storageTest) {
		hold := time.Hour
		for name, write := range map[string]func(id int64, o *petstore.Idempotency) error{
			"CloseOrder": func(id int64, o *petstore.Idempotency) error {
				_, _, err := t.CloseOrder(t.Context(), id, petstore.Completed, o)
				return err
			},
			"UpdateOrder": func(id int64, o *petstore.Idempotency) error {
				_, _, err := t.UpdateOrder(t.Context(), id, petstore.OrderPatch{Hold: &hold}, o)
				return err
			},
		} {
			order := t.placeFor(t.add(rex).ID, shortHold)
			t.awaitExpiry(order)
			t.refused(write(order.ID, idempotency(name, 1)), petstore.OrderClosed)
			t.same("its animal", t.status(order.PetID), petstore.Available)
			t.addOnce(rex, idempotency(name, 2), false)
		}
	}},
	{"concurrent duplicates of any write are made once, and all of them get its answer", func(t storageTest) {
		const many = 20
		for name, prepare := range writes {
			do, _ := prepare(t)
			answers, replays := make([]any, many), make([]bool, many)
			t.concurrently(many, func(i int) (err error) {
				answers[i], replays[i], err = do(t, idempotency(name, 1))
				return err
			})
			first := 0
			for i := range many {
				if !reflect.DeepEqual(answers[i], answers[0]) {
					t.Fatalf("%s: got %+v and %+v", name, answers[i], answers[0])
				}
				if !replays[i] {
					first++
				}
			}
			t.same(name+": answers that are not replays", first, 1)
		}
	}},
}
