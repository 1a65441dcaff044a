package conformance

import (
	"fmt"
	"time"

	"petstore/internal/petstore"
)

func (t storageTest) update(id string, change petstore.KeyChange, now time.Time) petstore.Key {
	t.Helper()
	key, _, err := t.UpdateKey(t.Context(), id, change, petstore.ByOperator(now))
	t.noError(err)
	return key
}

var keyChangeCases = []storageCase{
	{"a change of access, name and expiry applies to one key", func(t storageTest) {
		old := t.addKey(newKey("old"))
		want := t.rotate(old.ID, "new", epoch, time.Hour)
		t.noError(t.UseKey(t.Context(), old.ID, epoch.Truncate(time.Hour)))
		old = t.find("old")
		now := epoch.Add(time.Minute + 456*time.Microsecond)
		got := t.update(want.ID, petstore.KeyChange{Access: new(petstore.ReadOnly), Name: new("ci 🔑 'quoted'"), Lifetime: new(90 * 24 * time.Hour)}, now)
		want.Access, want.Name, want.Lifetime, want.ExpiresAt = petstore.ReadOnly, "ci 🔑 'quoted'", 90*24*time.Hour, epoch.Add(time.Minute+90*24*time.Hour)
		t.same("returned", got, want)
		t.same("found", t.find("new"), want)
		t.same("the owner's other key", t.find("old"), old)
	}},
	{"a change of plan applies to all keys of the owner, and to no other key", func(t storageTest) {
		old, bystander := t.addKey(newKey("old")), t.addKey(newKey("bystander"))
		next := t.rotate(old.ID, "new", epoch, time.Hour)
		t.noError(writeError(t.RevokeKey(t.Context(), next.ID, operator)))
		t.update(old.ID, petstore.KeyChange{Plan: new(petstore.Pro)}, epoch)
		for _, secret := range []string{"old", "new"} {
			t.same("plan of "+secret, t.find(secret).Plan, petstore.Pro)
			t.same("limits of "+secret, t.find(secret).Limits, petstore.Limits{PerMinute: 300, PerDay: 10_000})
		}
		t.same("bystander", t.find("bystander"), bystander)
	}},
	{"if keys of one owner have different plans, only a change of plan makes them equal", func(t storageTest) {
		a, b := newKey("a"), newKey("b")
		b.Owner, b.Plan = a.Owner, petstore.Pro
		t.addKey(a)
		t.addKey(b)
		t.update(a.ID, petstore.KeyChange{Access: new(petstore.ReadOnly)}, epoch)
		t.same("the other key", t.find("b"), b)
		t.update(a.ID, petstore.KeyChange{Plan: new(petstore.Free)}, epoch)
		t.same("the other key's plan", t.find("b").Plan, petstore.Free)
	}},
	{"an enterprise key keeps the limit that is not named", func(t storageTest) {
		key := t.addKey(petstore.NewKey("a", petstore.Enterprise, petstore.Limits{PerMinute: 500, PerDay: 7000}, epoch, petstore.Forever))
		t.update(key.ID, petstore.KeyChange{PerMinute: new(int64(600))}, epoch)
		t.same("limits", t.find("a").Limits, petstore.Limits{PerMinute: 600, PerDay: 7000})
		t.update(key.ID, petstore.KeyChange{PerDay: new(int64(petstore.MaxLimit))}, epoch)
		t.same("limits", t.find("a").Limits, petstore.Limits{PerMinute: 600, PerDay: petstore.MaxLimit})
		t.update(key.ID, petstore.KeyChange{Plan: new(petstore.Enterprise)}, epoch)
		t.same("limits", t.find("a").Limits, petstore.Limits{PerMinute: 600, PerDay: petstore.MaxLimit})
		t.update(key.ID, petstore.KeyChange{Plan: new(petstore.Free)}, epoch)
		t.same("limits", t.find("a").Limits, limits)
	}},
	{"limits that the plan does not allow are refused and change nothing", func(t storageTest) {
		free := t.addKey(newKey("free"))
		wide := t.addKey(petstore.NewKey("wide", petstore.Enterprise, petstore.Limits{PerMinute: 500, PerDay: 7000}, epoch, petstore.Forever))
		for _, c := range []struct {
			key    petstore.Key
			change petstore.KeyChange
		}{
			{free, petstore.KeyChange{PerMinute: new(int64(5))}},
			{free, petstore.KeyChange{Plan: new(petstore.Enterprise)}},
			{free, petstore.KeyChange{Plan: new(petstore.Enterprise), PerMinute: new(int64(5))}},
			{free, petstore.KeyChange{Plan: new(petstore.Plan("gold"))}},
			{wide, petstore.KeyChange{PerMinute: new(int64(7001))}},
			{wide, petstore.KeyChange{PerDay: new(int64(-1))}},
			{wide, petstore.KeyChange{Plan: new(petstore.Pro), PerMinute: new(int64(5)), PerDay: new(int64(5))}},
		} {
			c.change.Name = new("changed")
			_, _, err := t.UpdateKey(t.Context(), c.key.ID, c.change, operator)
			t.refused(err, petstore.InvalidField)
		}
		t.same("free", t.find("free"), free)
		t.same("wide", t.find("wide"), wide)
	}},
	{"the expiry of a key can be moved and removed, even after it has passed", func(t storageTest) {
		key := t.addKey(petstore.NewKey("a", petstore.Free, limits, epoch, time.Hour))
		now := epoch.Add(2 * time.Hour)
		t.refused(t.find("a").Usable(now), petstore.Unauthorized)
		t.update(key.ID, petstore.KeyChange{Lifetime: new(time.Minute)}, now)
		t.same("end", t.find("a").ExpiresAt, now.Add(time.Minute))
		key.Lifetime, key.ExpiresAt = petstore.Forever, time.Time{}
		t.same("forever", t.update(key.ID, petstore.KeyChange{Lifetime: new(petstore.Forever)}, now), key)
		t.same("found", t.find("a"), key)
	}},
	{"an empty change changes nothing", func(t storageTest) {
		key := t.addKey(petstore.NewKey("a", petstore.Enterprise, petstore.Limits{PerMinute: 9}, epoch, time.Hour))
		t.same("returned", t.update(key.ID, petstore.KeyChange{}, epoch), key)
		t.same("found", t.find("a"), key)
	}},
	{"a change keeps the ban and the time of the last use", func(t storageTest) {
		key := t.addKey(newKey("a"))
		ban := t.ban(key.Owner, epoch)
		hour := epoch.Truncate(time.Hour)
		t.noError(t.UseKey(t.Context(), key.ID, hour))
		key.Plan, key.Limits = petstore.Business, petstore.Limits{PerMinute: 1000, PerDay: 100_000}
		key.BannedFrom, key.BannedUntil, key.LastUsedAt = ban.Start, ban.Until, hour
		t.same("returned", t.update(key.ID, petstore.KeyChange{Plan: new(petstore.Business)}, epoch), key)
		t.same("found", t.find("a"), key)
	}},
	{"a revoked or unknown key cannot be changed", func(t storageTest) {
		key := t.addKey(newKey("a"))
		t.noError(writeError(t.RevokeKey(t.Context(), key.ID, operator)))
		before := t.keys()
		_, _, err := t.UpdateKey(t.Context(), key.ID, petstore.KeyChange{Plan: new(petstore.Pro)}, operator)
		t.refused(err, petstore.KeyRevoked)
		_, _, err = t.UpdateKey(t.Context(), "key_unknown", petstore.KeyChange{Plan: new(petstore.Pro)}, operator)
		t.refused(err, petstore.NotFound)
		t.same("keys", t.keys(), before)
	}},
	{"the successor of a changed key has the changed properties", func(t storageTest) {
		key := t.addKey(newKey("a"))
		t.update(key.ID, petstore.KeyChange{Plan: new(petstore.Pro), Access: new(petstore.ReadOnly), Name: new("b"), Lifetime: new(time.Hour)}, epoch)
		next := t.rotate(key.ID, "new", epoch.Add(time.Minute), 0)
		t.same("plan", next.Plan, petstore.Pro)
		t.same("access", next.Access, petstore.ReadOnly)
		t.same("name", next.Name, "b")
		t.same("end", next.ExpiresAt, epoch.Add(time.Hour+time.Minute))
	}},
	{"after concurrent changes and a rotation, all keys of the owner have the same plan", func(t storageTest) {
		for round := range 10 {
			first := t.addKey(newKey(fmt.Sprint("first ", round)))
			second := t.rotate(first.ID, fmt.Sprint("second ", round), epoch, time.Hour)
			t.concurrently(3, func(i int) error {
				if i == 0 {
					_, err := t.RotateKey(t.Context(), second.ID, petstore.HashSecret(fmt.Sprint("third ", round)), petstore.Rotation{Overlap: time.Hour}, operator)
					return err
				}
				id := []string{first.ID, second.ID}[i-1]
				_, _, err := t.UpdateKey(t.Context(), id, petstore.KeyChange{Plan: new([]petstore.Plan{petstore.Pro, petstore.Business}[i-1])}, operator)
				return err
			})
			plan := t.find(fmt.Sprint("first ", round)).Plan
			for _, name := range []string{"second ", "third "} {
				t.same("plan of the "+name, t.find(fmt.Sprint(name, round)).Plan, plan)
			}
			if plan == petstore.Free {
				t.Fatal("both changes are lost")
			}
		}
	}},
	{"the hour of the last use never goes back", func(t storageTest) {
		key, bystander := t.addKey(newKey("a")), t.addKey(newKey("b"))
		noon := epoch.Truncate(24 * time.Hour).Add(12 * time.Hour)
		for _, hour := range []time.Duration{0, 0, 1, -1, 3, 2} {
			t.noError(t.UseKey(t.Context(), key.ID, noon.Add(hour*time.Hour)))
		}
		key.LastUsedAt = noon.Add(3 * time.Hour)
		t.same("found", t.find("a"), key)
		t.same("bystander", t.find("b"), bystander)
		t.noError(t.UseKey(t.Context(), "key_unknown", noon))
	}},
	{"of concurrent uses, the latest is kept", func(t storageTest) {
		key := t.addKey(newKey("a"))
		hour := epoch.Truncate(time.Hour)
		t.concurrently(20, func(i int) error { return t.UseKey(t.Context(), key.ID, hour.Add(time.Duration(i%10)*time.Hour)) })
		t.same("last used", t.find("a").LastUsedAt, hour.Add(9*time.Hour))
	}},
	{"a successor does not inherit the last use", func(t storageTest) {
		key := t.addKey(newKey("a"))
		t.noError(t.UseKey(t.Context(), key.ID, epoch.Truncate(time.Hour)))
		t.same("last used", t.rotate(key.ID, "new", epoch, 0).LastUsedAt.IsZero(), true)
	}},
}
