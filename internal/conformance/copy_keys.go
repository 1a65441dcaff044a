package conformance

import (
	"time"

	"petstore/internal/petstore"
)

var copyKeyCases = []copyCase{
	{"the next copy brings what changed in a key at the source", func(t copyTest) {
		key := t.addKey(t.from, "one")
		t.copyAll()
		t.noError(writeError(t.from.RevokeKey(t.Context(), key.ID, operator)))
		_, err := t.from.BanOwner(t.Context(), key.Owner, epoch)
		t.noError(err)
		t.same("the keys", t.copyAll()[0], petstore.Tally{Kind: "keys", Changed: 1})
		t.sameContent()
	}},
	{"a key revoked at the target stays revoked", func(t copyTest) {
		key := t.addKey(t.from, "one")
		t.copyAll()
		t.noError(writeError(t.to.RevokeKey(t.Context(), key.ID, operator)))
		t.same("what was done", t.copyAll(), nothingDone)
		t.same("revoked", t.keys(t.to)[0].RevokedAt, epoch)
	}},
	{"a key that was restricted, rotated or used at the target stays so", func(t copyTest) {
		restricted, rotated, used := t.addKey(t.from, "restricted"), t.addKey(t.from, "rotated"), t.addKey(t.from, "used")
		t.copyAll()
		_, _, err := t.to.UpdateKey(t.Context(), restricted.ID, petstore.KeyChange{Access: new(petstore.ReadOnly)}, operator)
		t.noError(err)
		t.rotate(t.to, rotated, time.Hour)
		t.noError(t.to.UseKey(t.Context(), used.ID, epoch))
		before := t.keys(t.to)
		t.same("the keys", t.copyAll()[0], petstore.Tally{Kind: "keys", Kept: 1})
		t.same("what the target has", t.keys(t.to), before)
	}},
	{"the lower of two accesses counts, also of a key that changes while it is copied", func(t copyTest) {
		for _, from := range petstore.Accesses {
			for _, to := range petstore.Accesses {
				key := t.addKey(t.from, string(from+to))
				t.copyAll()
				set := func(s petstore.Database, access petstore.Access) {
					t.noError(writeError(s.UpdateKey(t.Context(), key.ID, petstore.KeyChange{Access: &access}, operator)))
				}
				set(t.from, from)
				set(t.to, to)
				t.noError(t.to.ReplaceKeys(t.Context(), t.keys(t.from)))
				for _, got := range t.keys(t.to) {
					if got.ID == key.ID {
						t.same(key.Name, got.Access, from.Lower(to))
					}
				}
			}
		}
		t.copyAll()
		t.same("what was done again", t.copyAll(), nothingDone)
	}},
	{"the earlier of two revocations counts", func(t copyTest) {
		early, late := t.addKey(t.from, "early here"), t.addKey(t.from, "late here")
		t.copyAll()
		for s, at := range map[petstore.Database]time.Duration{t.from: 1, t.to: 2} {
			t.noError(writeError(s.RevokeKey(t.Context(), early.ID, petstore.ByOperator(epoch.Add(at*time.Minute)))))
			t.noError(writeError(s.RevokeKey(t.Context(), late.ID, petstore.ByOperator(epoch.Add((3-at)*time.Minute)))))
		}
		t.same("the keys", t.copyAll()[0], petstore.Tally{Kind: "keys", Changed: 1})
		for _, key := range t.keys(t.to) {
			t.same(key.Name, key.RevokedAt, epoch.Add(time.Minute))
		}
	}},
	{"the earlier of two expiries counts", func(t copyTest) {
		early, late, never := t.addKey(t.from, "early here"), t.addKey(t.from, "late here"), t.addKey(t.from, "here forever")
		t.copyAll()
		for s, overlap := range map[petstore.Database]time.Duration{t.from: 1, t.to: 2} {
			t.rotate(s, early, overlap*time.Hour)
			t.rotate(s, late, (3-overlap)*time.Hour)
		}
		t.rotate(t.to, never, time.Hour)
		t.copyAll()
		for _, key := range t.keys(t.to) {
			if key.ID == early.ID || key.ID == late.ID || key.ID == never.ID {
				t.same(key.Name, key.ExpiresAt, epoch.Add(time.Hour))
			}
		}
	}},
	{"a ban that was lifted at the source stays at the target", func(t copyTest) {
		key := t.addKey(t.from, "one")
		ban, err := t.from.BanOwner(t.Context(), key.Owner, epoch)
		t.noError(err)
		t.copyAll()
		t.noError(writeError(t.from.UnbanKey(t.Context(), key.Owner, operator)))
		t.rotate(t.from, key, time.Hour) // creates a key for the same owner that the target does not have
		for range 2 {
			t.copyAll()
			for _, key := range t.keys(t.to) {
				t.same("banned", key.Ban, ban)
			}
		}
	}},
	{"the ban that ends later and the longer streak count", func(t copyTest) {
		key := t.addKey(t.from, "one")
		t.copyAll()
		ban := func(s petstore.Database, at time.Duration) (ban petstore.Ban) {
			ban, err := s.BanOwner(t.Context(), key.Owner, epoch.Add(at))
			t.noError(err)
			return ban
		}
		ban(t.to, 0)
		ban(t.to, 10*time.Minute)
		late := ban(t.from, time.Hour)
		t.same("the keys", t.copyAll()[0], petstore.Tally{Kind: "keys", Changed: 1})
		t.same("banned", t.keys(t.to)[0].Ban, petstore.Ban{Start: late.Start, Until: late.Until, Streak: 2})
		t.same("what was done again", t.copyAll(), nothingDone)
	}},
	{"a key revoked while it is copied stays revoked", func(t copyTest) {
		key := t.addKey(t.from, "one")
		t.copyAll()
		stale := t.keys(t.to)
		t.noError(writeError(t.to.RevokeKey(t.Context(), key.ID, operator)))
		_, err := t.to.BanOwner(t.Context(), key.Owner, epoch)
		t.noError(err)
		t.noError(t.to.ReplaceKeys(t.Context(), stale))
		if got := t.keys(t.to)[0]; got.RevokedAt != epoch || got.Ban.Streak != 1 {
			t.Errorf("the copied key is %+v", got)
		}
	}},
}

func (t copyTest) addKey(s petstore.Database, name string) petstore.Key {
	t.Helper()
	key := petstore.NewKey(name, petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, epoch, petstore.Forever)
	t.noError(s.CreateKey(t.Context(), key, petstore.HashSecret(key.ID), operator))
	return key
}

// rotate rotates the key, so that it expires after the overlap.
func (t copyTest) rotate(s petstore.Database, key petstore.Key, overlap time.Duration) {
	t.Helper()
	_, err := s.RotateKey(t.Context(), key.ID, petstore.HashSecret(petstore.NewSecret(petstore.Production)), petstore.Rotation{Overlap: overlap}, operator)
	t.noError(err)
}

func (t copyTest) keys(s petstore.Database) []petstore.StoredKey {
	t.Helper()
	keys, err := s.StoredKeys(t.Context(), petstore.StoredKey{}, 10_000)
	t.noError(err)
	return keys
}
