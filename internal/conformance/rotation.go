package conformance

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"petstore/internal/petstore"
)

// rotate rotates a key. The new key has the given secret.
func (t storageTest) rotate(id, secret string, now time.Time, overlap time.Duration) petstore.Key {
	t.Helper()
	next, err := t.RotateKey(t.Context(), id, petstore.HashSecret(secret), petstore.Rotation{Overlap: overlap, KeepLifetime: true}, petstore.ByOperator(now))
	t.noError(err)
	return next
}

// wantSuccessor fails the test unless the storage refuses to rotate the key old, and the refusal names the key successor.
func (t storageTest) wantSuccessor(successor, old petstore.Key, now time.Time) {
	t.Helper()
	_, err := t.RotateKey(t.Context(), old.ID, petstore.HashSecret("another"), petstore.Rotation{Overlap: time.Hour}, petstore.ByOperator(now))
	t.refused(err, petstore.KeyRevoked)
	if e, _ := errors.AsType[*petstore.Error](err); e.Key.ID != old.ID || e.Successor != successor.ID {
		t.Fatalf("rotating %s, whose successor is %s, is refused with %+v", old.ID, successor.ID, *e)
	}
}

var rotationCases = []storageCase{
	{"a rotation keeps the owner, name, plan, limits and access", func(t storageTest) {
		fresh := petstore.NewKey("old", petstore.Enterprise, otherLimits, epoch, petstore.Forever)
		fresh.Access = petstore.ReadOnly
		old := t.addKey(fresh)
		now := epoch.Add(time.Hour)
		next := t.rotate(old.ID, "new", now, time.Hour)
		if next.ID == old.ID || next.ID == "" {
			t.Fatalf("the new key has the id %q, the old one %q", next.ID, old.ID)
		}
		t.same("new key", next, petstore.Key{
			ID: next.ID, Name: old.Name, Owner: old.Owner, Plan: old.Plan, Limits: old.Limits, Access: petstore.ReadOnly, CreatedAt: now,
		})
		t.same("found", t.find("new"), next)
	}},
	{"the old key stays usable for the overlap", func(t storageTest) {
		old := t.addKey(newKey("old"))
		now := epoch.Add(time.Hour)
		next := t.rotate(old.ID, "new", now, 24*time.Hour)
		old.ExpiresAt, old.RotatedAt = now.Add(24*time.Hour), now
		t.same("old key", t.find("old"), old)
		t.same("listed", t.keys(), []petstore.Key{old, next})
	}},
	{"without an overlap, the old key expires at once", func(t storageTest) {
		old := t.addKey(newKey("old"))
		now := epoch.Add(time.Hour)
		t.rotate(old.ID, "new", now, 0)
		t.refused(t.find("old").Usable(now), petstore.Unauthorized)
		t.noError(t.find("new").Usable(now))
	}},
	{"the new key gets the lifetime that the old key was given", func(t storageTest) {
		const life = 90 * 24 * time.Hour
		old := t.addKey(petstore.NewKey("old", petstore.Free, limits, epoch, life))
		now := epoch.Add(80 * 24 * time.Hour)
		next := t.rotate(old.ID, "new", now, time.Hour)
		t.same("expiry", next.ExpiresAt, now.Add(life))

		last := t.rotate(next.ID, "newer", now.Add(time.Hour), 0)
		t.same("expiry after a second rotation", last.ExpiresAt, now.Add(time.Hour+life))
		t.same("owner after a second rotation", last.Owner, old.Owner)
	}},
	{"an overlap never extends the expiry of a key", func(t storageTest) {
		old := t.addKey(petstore.NewKey("old", petstore.Free, limits, epoch, time.Hour))
		old.RotatedAt = epoch.Add(30 * time.Minute)
		t.rotate(old.ID, "new", old.RotatedAt, 24*time.Hour)
		t.same("old key", t.find("old"), old)
	}},
	{"a key that is not usable cannot be rotated", func(t storageTest) {
		revoked := t.addKey(newKey("revoked"))
		t.noError(writeError(t.RevokeKey(t.Context(), revoked.ID, operator)))
		expired := t.addKey(petstore.NewKey("expired", petstore.Free, limits, epoch, time.Minute))
		for _, key := range []petstore.Key{revoked, expired} {
			_, err := t.RotateKey(t.Context(), key.ID, petstore.HashSecret("new"), petstore.Rotation{Overlap: time.Hour}, petstore.ByOperator(epoch.Add(time.Minute)))
			t.refused(err, petstore.KeyRevoked)
		}
		t.same("keys", len(t.keys()), 2)
	}},
	{"an unknown key cannot be rotated", func(t storageTest) {
		_, err := t.RotateKey(t.Context(), "key_unknown", petstore.HashSecret("new"), petstore.Rotation{Overlap: time.Hour}, operator)
		t.refused(err, petstore.NotFound)
		t.same("keys", len(t.keys()), 0)
	}},
	{"a rotation to a hash that a key has already changes nothing", func(t storageTest) {
		old := t.addKey(newKey("old"))
		if _, err := t.RotateKey(t.Context(), old.ID, petstore.HashSecret("old"), petstore.Rotation{}, operator); err == nil {
			t.Fatal("two keys share a hash")
		}
		t.same("listed", t.keys(), []petstore.Key{old})
	}},
	{"rotating a rotated key is refused, and the refusal names the successor", func(t storageTest) {
		old := t.addKey(newKey("old"))
		next := t.rotate(old.ID, "new", epoch, time.Hour)
		t.wantSuccessor(next, old, epoch)
		before := t.keys()
		t.wantSuccessor(next, old, epoch.Add(2*time.Hour)) // the key has also expired, but the refusal that names the successor is more useful
		t.same("keys", t.keys(), before)

		t.addKey(newKey("bystander"))
		last := t.rotate(next.ID, "newer", epoch.Add(-time.Hour), time.Hour) // the clock of this rotation is slow
		t.wantSuccessor(last, old, epoch)
		t.wantSuccessor(last, next, epoch)
	}},
	{"concurrent rotations create one new key, whatever the overlap", func(t storageTest) {
		for _, overlap := range []time.Duration{0, time.Hour} {
			var winners atomic.Int64
			old := t.addKey(newKey("old " + overlap.String()))
			before := len(t.keys())
			t.concurrently(10, func(i int) error {
				_, err := t.RotateKey(t.Context(), old.ID, petstore.HashSecret(fmt.Sprint(overlap, i)), petstore.Rotation{Overlap: overlap}, operator)
				if err == nil {
					winners.Add(1)
					return nil
				}
				return checkRefusal(err, petstore.KeyRevoked)
			})
			t.same("winners", winners.Load(), int64(1))
			t.same("new keys", len(t.keys())-before, 1)
		}
	}},
	{"a revoked key is unusable from then on", func(t storageTest) {
		key := t.addKey(newKey("a"))
		bystander := t.addKey(newKey("b"))
		now := epoch.Add(time.Hour)
		t.noError(writeError(t.RevokeKey(t.Context(), key.ID, petstore.ByOperator(now))))
		key.RevokedAt = now
		t.same("found", t.find("a"), key)
		t.refused(t.find("a").Usable(now), petstore.Unauthorized)
		t.same("bystander", t.find("b"), bystander)
	}},
	{"revoking again changes nothing", func(t storageTest) {
		key := t.addKey(newKey("a"))
		for i := range 3 {
			t.noError(writeError(t.RevokeKey(t.Context(), key.ID, petstore.ByOperator(epoch.Add(time.Duration(i)*time.Hour)))))
		}
		t.same("revoked", t.find("a").RevokedAt, epoch)
	}},
	{"an unknown key cannot be revoked", func(t storageTest) {
		t.addKey(newKey("a"))
		t.refused(writeError(t.RevokeKey(t.Context(), "key_unknown", operator)), petstore.NotFound)
	}},
}
