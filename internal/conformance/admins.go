package conformance

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"petstore/internal/petstore"
)

// addAdmin stores an administrator's key, whose name is also its secret.
func (t storageTest) addAdmin(name string, lifetime time.Duration) petstore.Key {
	t.Helper()
	key := petstore.NewKey(name, petstore.Free, limits, epoch, lifetime)
	key.Access = petstore.Admin
	return t.addKey(key)
}

// by returns a request of the key.
func by(key petstore.Key) petstore.KeyRequest { return petstore.KeyRequest{By: key.ID, Now: epoch} }

// keyWrite is a change that an administrator can ask for.
type keyWrite func(t storageTest, id string, request petstore.KeyRequest) error

func updateTo(change petstore.KeyChange) keyWrite {
	return func(t storageTest, id string, request petstore.KeyRequest) error {
		return writeError(t.UpdateKey(t.Context(), id, change, request))
	}
}

func revoke(t storageTest, id string, request petstore.KeyRequest) error {
	return writeError(t.RevokeKey(t.Context(), id, request))
}

func rotate(t storageTest, id string, request petstore.KeyRequest) error {
	_, err := t.RotateKey(t.Context(), id, petstore.HashSecret("successor of "+id), petstore.Rotation{Overlap: time.Hour}, request)
	return err
}

// endings has every change that ends or lowers an administrator's key without a successor.
var endings = map[string]keyWrite{
	"revoke":             revoke,
	"lower to write":     updateTo(petstore.KeyChange{Access: new(petstore.ReadWrite)}),
	"lower to read":      updateTo(petstore.KeyChange{Access: new(petstore.ReadOnly)}),
	"give a lifetime":    updateTo(petstore.KeyChange{Lifetime: new(time.Hour)}),
	"give an end":        updateTo(petstore.KeyChange{ExpiresAt: new(epoch.Add(time.Hour))}),
	"name and lower":     updateTo(petstore.KeyChange{Name: new("b"), Access: new(petstore.ReadOnly)}),
	"raise and end":      updateTo(petstore.KeyChange{Plan: new(petstore.Pro), Lifetime: new(time.Hour)}),
	"give a distant end": updateTo(petstore.KeyChange{ExpiresAt: new(epoch.AddDate(500, 0, 0))}),
}

// permanentAdmins counts the usable administrators' keys without an end.
func (t storageTest) permanentAdmins() (n int) {
	t.Helper()
	for _, key := range t.keys() {
		if key.Access == petstore.Admin && key.RevokedAt.IsZero() && key.ExpiresAt.IsZero() {
			n++
		}
	}
	return n
}

var adminCases = []storageCase{
	{"an administrator's key creates and changes keys as an operator does", func(t storageTest) {
		admin := t.addAdmin("admin", petstore.Forever)
		key := petstore.NewKey("ci", petstore.Free, limits, epoch, petstore.Forever)
		t.noError(t.CreateKey(t.Context(), key, petstore.HashSecret("ci"), by(admin)))
		t.same("created", t.find("ci"), key)

		changed, replayed, err := t.UpdateKey(t.Context(), key.ID, petstore.KeyChange{Access: new(petstore.Admin), Plan: new(petstore.Pro)}, by(admin))
		t.noError(err)
		key.Access, key.Plan, key.Limits = petstore.Admin, petstore.Pro, petstore.Limits{PerMinute: 300, PerDay: 10_000}
		t.same("replayed", replayed, false)
		t.same("changed", changed, key)
		t.same("found", t.find("ci"), key)

		t.ban(key.Owner, epoch)
		unbanned, _, err := t.UnbanKey(t.Context(), key.ID, by(admin))
		t.noError(err)
		t.same("unbanned", unbanned, key)
		t.same("found", t.find("ci"), key)

		next, err := t.RotateKey(t.Context(), key.ID, petstore.HashSecret("next"), petstore.Rotation{Overlap: time.Minute}, by(admin))
		t.noError(err)
		t.same("found", t.find("next"), next)
		revoked, _, err := t.RevokeKey(t.Context(), next.ID, by(admin))
		t.noError(err)
		next.RevokedAt = epoch
		t.same("revoked", revoked, next)
		t.same("found", t.find("next"), next)
		again, _, err := t.RevokeKey(t.Context(), next.ID, petstore.KeyRequest{By: admin.ID, Now: epoch.Add(time.Hour)})
		t.noError(err)
		t.same("revoked again", again, next)
	}},
	{"a key that is no administrator's, or not usable, changes nothing and learns nothing", func(t storageTest) {
		target := t.addAdmin("target", petstore.Forever)
		t.addAdmin("another", petstore.Forever)
		writer, reader := t.addKey(newKey("writer")), t.addKey(newKey("reader"))
		t.update(reader.ID, petstore.KeyChange{Access: new(petstore.ReadOnly)}, epoch)
		revoked, expired := t.addAdmin("revoked", petstore.Forever), t.addAdmin("expired", time.Hour)
		t.noError(revoke(t, revoked.ID, operator))
		before := t.keys()
		for _, c := range []struct {
			asking petstore.Key
			now    time.Time
			code   petstore.Code
		}{
			{writer, epoch, petstore.Forbidden},
			{reader, epoch, petstore.Forbidden},
			{revoked, epoch, petstore.Unauthorized},
			{expired, epoch.Add(time.Hour), petstore.Unauthorized},
		} {
			request := petstore.KeyRequest{By: c.asking.ID, Now: c.now, Idempotency: idempotency("k", 1)}
			for _, id := range []string{target.ID, "key_unknown", c.asking.ID} {
				for _, write := range endings {
					t.refused(write(t, id, request), c.code)
				}
				t.refused(rotate(t, id, request), c.code)
				t.refused(writeError(t.UnbanKey(t.Context(), id, request)), c.code)
			}
			t.refused(t.CreateKey(t.Context(), newKey("new"), petstore.HashSecret("new"), request), c.code)
		}
		err := t.CreateKey(t.Context(), newKey("new"), petstore.HashSecret("new"), petstore.KeyRequest{By: "key_unknown", Now: epoch})
		t.same("an unknown key is refused", petstore.IsCode(err, petstore.Unauthorized), true)
		t.same("keys", t.keys(), before)
	}},
	{"no key ends or lowers itself", func(t storageTest) {
		admin := t.addAdmin("admin", petstore.Forever)
		t.addAdmin("another", petstore.Forever)
		before := t.keys()
		for name, write := range endings {
			err := write(t, admin.ID, by(admin))
			t.refused(err, petstore.OwnKey)
			if e, _ := errors.AsType[*petstore.Error](err); e.LastAdmin || e.Key.ID != admin.ID {
				t.Fatalf("%s is refused with %+v", name, e)
			}
		}
		t.refused(rotate(t, admin.ID, by(admin)), petstore.OwnKey)
		t.same("keys", t.keys(), before)
	}},
	{"a key whose end is near does not rotate itself either", func(t storageTest) {
		admin := t.addAdmin("admin", time.Minute)
		t.refused(rotate(t, admin.ID, by(admin)), petstore.OwnKey)
		t.same("keys", t.keys(), []petstore.Key{admin})
	}},
	{"a key may change its own name, plan and ban, keep its access, and remove its end", func(t storageTest) {
		admin := t.addAdmin("admin", time.Hour)
		change := petstore.KeyChange{Name: new("b"), Plan: new(petstore.Pro), Access: new(petstore.Admin), ExpiresAt: new(time.Time{})}
		t.noError(updateTo(change)(t, admin.ID, by(admin)))
		t.noError(writeError(t.UnbanKey(t.Context(), admin.ID, by(admin))))
		got := t.find("admin")
		t.same("name", got.Name, "b")
		t.same("end", got.ExpiresAt.IsZero(), true)
	}},
	{"the last administrator's key without an end can be neither ended nor lowered", func(t storageTest) {
		last, asking := t.addAdmin("last", petstore.Forever), t.addAdmin("asking", time.Hour)
		revoked := t.addAdmin("revoked", petstore.Forever)
		t.noError(revoke(t, revoked.ID, operator))
		t.addKey(newKey("writer"))
		before := t.keys()
		for name, write := range endings {
			err := write(t, last.ID, by(asking))
			t.refused(err, petstore.OwnKey)
			if e, _ := errors.AsType[*petstore.Error](err); !e.LastAdmin || e.Key.ID != last.ID {
				t.Fatalf("%s is refused with %+v", name, e)
			}
		}
		t.same("keys", t.keys(), before)
		t.noError(revoke(t, revoked.ID, by(asking)))
		t.noError(updateTo(petstore.KeyChange{Name: new("b"), Plan: new(petstore.Pro)})(t, last.ID, by(asking)))
	}},
	{"the last administrator's key can be rotated, and its successor is the last then", func(t storageTest) {
		last, asking := t.addAdmin("last", petstore.Forever), t.addAdmin("asking", time.Hour)
		next, err := t.RotateKey(t.Context(), last.ID, petstore.HashSecret("next"), petstore.Rotation{}, by(asking))
		t.noError(err)
		t.same("access", next.Access, petstore.Admin)
		t.refused(revoke(t, next.ID, by(asking)), petstore.OwnKey)
		t.noError(revoke(t, last.ID, by(asking)))
	}},
	{"an operator is bound by no rule for administrators", func(t storageTest) {
		for name, write := range endings {
			t.noError(write(t, t.addAdmin(name, petstore.Forever).ID, operator))
		}
		t.noError(rotate(t, t.addAdmin("last", petstore.Forever).ID, operator))
		t.noError(updateTo(petstore.KeyChange{Access: new(petstore.Admin)})(t, t.addKey(newKey("next")).ID, operator))
		t.same("administrators", t.permanentAdmins(), 2)
	}},
	{"of two administrators who end each other's keys at the same time, one remains", func(t storageTest) {
		for name, write := range endings {
			for round := range 5 {
				admins := []petstore.Key{t.addAdmin(fmt.Sprint(name, round, "a"), petstore.Forever), t.addAdmin(fmt.Sprint(name, round, "b"), petstore.Forever)}
				var done atomic.Int64
				t.concurrently(2, func(i int) error {
					err := write(t, admins[1-i].ID, by(admins[i]))
					switch {
					case err == nil:
						done.Add(1)
					case petstore.IsCode(err, petstore.Unauthorized), petstore.IsCode(err, petstore.Forbidden), petstore.IsCode(err, petstore.OwnKey):
						return nil
					}
					return err
				})
				t.same(name+": administrators that remain", t.permanentAdmins(), 1)
				t.same(name+": changes", done.Load(), int64(1))
				for _, admin := range admins {
					t.noError(revoke(t, admin.ID, operator))
				}
			}
		}
	}},
	{"of all administrators' keys without an end, one remains, however many are ended at the same time", func(t storageTest) {
		const many = 8
		var asking, targets []petstore.Key
		for i := range many {
			asking = append(asking, t.addAdmin(fmt.Sprint("asking ", i), time.Hour))
			targets = append(targets, t.addAdmin(fmt.Sprint("target ", i), petstore.Forever))
		}
		var refused atomic.Int64
		t.concurrently(many, func(i int) error {
			err := revoke(t, targets[i].ID, by(asking[i]))
			if err != nil {
				refused.Add(1)
				return checkRefusal(err, petstore.OwnKey)
			}
			return nil
		})
		t.same("refused", refused.Load(), int64(1))
		t.same("administrators that remain", t.permanentAdmins(), 1)
	}},
	{"a repeat of a creation or a rotation does not show the secret again, names the key, and makes nothing", func(t storageTest) {
		admin, old := t.addAdmin("admin", petstore.Forever), t.addKey(newKey("old"))
		made := newKey("made")
		create := func(o *petstore.Idempotency) error {
			key := newKey("made")
			if o.Fingerprint[31] == 0 {
				key = made
			}
			request := by(admin)
			request.Idempotency = o
			return t.CreateKey(t.Context(), key, petstore.HashSecret(key.ID), request)
		}
		rotateOnce := func(o *petstore.Idempotency) (petstore.Key, error) {
			request := by(admin)
			request.Idempotency = o
			secret := petstore.NewSecret(petstore.Production)
			return t.RotateKey(t.Context(), old.ID, petstore.HashSecret(secret), petstore.Rotation{Overlap: time.Hour}, request)
		}
		t.noError(create(idempotency("create", 0)))
		next, err := rotateOnce(idempotency("rotate", 0))
		t.noError(err)
		before := t.keys()
		for range 2 {
			t.wantShown(create(idempotency("create", 0)), made.ID)
			_, err := rotateOnce(idempotency("rotate", 0))
			t.wantShown(err, next.ID)
			t.refused(create(idempotency("create", 1)), petstore.IdempotencyConflict)
			_, err = rotateOnce(idempotency("create", 1))
			t.refused(err, petstore.IdempotencyConflict)
		}
		t.same("keys", t.keys(), before)
	}},
	{"concurrent duplicates of a creation or a rotation make one key, whose secret one of them shows", func(t storageTest) {
		admin, old := t.addAdmin("admin", petstore.Forever), t.addKey(newKey("old"))
		for name, write := range map[string]func(request petstore.KeyRequest) error{
			"create": func(request petstore.KeyRequest) error {
				key := newKey("made")
				return t.CreateKey(t.Context(), key, petstore.HashSecret(key.ID), request)
			},
			"rotate": func(request petstore.KeyRequest) error {
				_, err := t.RotateKey(t.Context(), old.ID, petstore.HashSecret(petstore.NewSecret(petstore.Production)), petstore.Rotation{}, request)
				return err
			},
		} {
			before := len(t.keys())
			var shown atomic.Int64
			t.concurrently(10, func(int) error {
				request := by(admin)
				request.Idempotency = idempotency(name, 1)
				err := write(request)
				if err == nil {
					shown.Add(1)
					return nil
				}
				return checkRefusal(err, petstore.SecretShown)
			})
			t.same(name+": secrets shown", shown.Load(), int64(1))
			t.same(name+": new keys", len(t.keys())-before, 1)
		}
	}},
	{"a repeat is refused once the key that asks is no longer an administrator's", func(t storageTest) {
		admin, key := t.addAdmin("admin", petstore.Forever), t.addKey(newKey("a"))
		request := by(admin)
		request.Idempotency = idempotency("k", 1)
		for range 2 {
			t.noError(revoke(t, key.ID, request))
		}
		t.update(admin.ID, petstore.KeyChange{Access: new(petstore.ReadWrite)}, epoch)
		t.refused(revoke(t, key.ID, request), petstore.Forbidden)
	}},
	{"an end that a client gives is kept to the millisecond, however distant it is", func(t storageTest) {
		key := t.addKey(newKey("a"))
		for _, end := range []time.Time{epoch.Add(time.Hour + 456*time.Microsecond), epoch.AddDate(7000, 0, 0), {}} {
			got := t.update(key.ID, petstore.KeyChange{ExpiresAt: &end}, epoch)
			t.same("end", got.ExpiresAt, end.Truncate(time.Millisecond))
			t.same("found", t.find("a"), got)
		}
	}},
}

// wantShown fails the test unless the storage refuses to show the secret of the key again.
func (t storageTest) wantShown(err error, id string) {
	t.Helper()
	t.refused(err, petstore.SecretShown)
	if e, _ := errors.AsType[*petstore.Error](err); e.Key.ID != id {
		t.Fatalf("the refusal names the key %s, want %s", e.Key.ID, id)
	}
}
