package petstore_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
)

var keyNoon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

func adminKey() petstore.Key {
	key := petstore.NewKey("admin", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, keyNoon, petstore.Forever)
	key.Access = petstore.Admin
	return key
}

func TestOnlyAUsableAdministratorsKeyIsAuthorized(t *testing.T) {
	request := petstore.KeyRequest{By: "key_1", Now: keyNoon}
	key := adminKey()
	if err := request.Authorize(key); err != nil {
		t.Error(err)
	}
	for _, access := range []petstore.Access{petstore.ReadOnly, petstore.ReadWrite, "", "owner"} {
		key.Access = access
		expectRefusal(t, request.Authorize(key), petstore.Error{Code: petstore.Forbidden, Key: &key})
	}
	revoked := adminKey().Revoke(keyNoon)
	expectRefusal(t, request.Authorize(revoked), petstore.Error{Code: petstore.Unauthorized, Key: &revoked})
	expired := adminKey()
	expired.ExpiresAt = keyNoon
	expectRefusal(t, request.Authorize(expired), petstore.Error{Code: petstore.Unauthorized, Key: &expired})
}

func TestEffectsOfAChangeOnAdministrators(t *testing.T) {
	admin := adminKey()
	with := func(change func(*petstore.Key)) petstore.Key {
		after := admin
		change(&after)
		return after
	}
	temporary := with(func(k *petstore.Key) { k.ExpiresAt = keyNoon.Add(time.Hour) })
	for _, c := range []struct {
		behaviour     string
		before, after petstore.Key
		weakens       bool
	}{
		{"a revocation", admin, admin.Revoke(keyNoon), true},
		{"a lower access", admin, with(func(k *petstore.Key) { k.Access = petstore.ReadWrite }), true},
		{"an end", admin, temporary, true},
		{"a rotation", admin, with(func(k *petstore.Key) { k.RotatedAt, k.ExpiresAt = keyNoon, keyNoon.Add(time.Hour) }), true},
		{"another name", admin, with(func(k *petstore.Key) { k.Name = "b" }), false},
		{"another plan", admin, with(func(k *petstore.Key) { k.Plan = petstore.Pro }), false},
		{"no change", admin, admin, false},
		{"no change of an end", temporary, temporary, false},
		{"the removal of an end", temporary, admin, false},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			own := petstore.KeyRequest{By: admin.ID}.CheckEffect(c.before, c.after, 1)
			last := petstore.KeyRequest{By: "key_2"}.CheckEffect(c.before, c.after, 0)
			if !c.weakens {
				if own != nil || last != nil {
					t.Errorf("by itself %v, by another %v", own, last)
				}
				return
			}
			expectRefusal(t, own, petstore.Error{Code: petstore.OwnKey, Key: &c.before})
			expectRefusal(t, last, petstore.Error{Code: petstore.OwnKey, Key: &c.before, LastAdmin: true})
			if err := (petstore.KeyRequest{By: "key_2"}).CheckEffect(c.before, c.after, 1); err != nil {
				t.Errorf("by another, while one remains: %v", err)
			}
			if err := petstore.ByOperator(keyNoon).CheckEffect(c.before, c.after, 0); err != nil {
				t.Errorf("by an operator: %v", err)
			}
		})
	}
	if err := (petstore.KeyRequest{By: "key_2"}).CheckEffect(temporary, temporary.Revoke(keyNoon), 0); err != nil {
		t.Errorf("a key with an end is not the last: %v", err)
	}
}

func TestTheFieldsOfAClientsChangeAreChecked(t *testing.T) {
	for _, good := range []string{
		petstore.CheckKeyName(strings.Repeat("é", 100)), petstore.CheckPlan(petstore.Enterprise), petstore.CheckLimit(1), petstore.CheckLimit(petstore.MaxLimit),
		petstore.CheckAccess(petstore.Admin), petstore.CheckEnd(keyNoon.Add(time.Millisecond), keyNoon), petstore.CheckOverlap(0), petstore.CheckOverlap(2_592_000),
	} {
		if good != "" {
			t.Errorf("refused: %s", good)
		}
	}
	for _, c := range []struct{ problem, want string }{
		{petstore.CheckKeyName(strings.Repeat("é", 101)), "must be at most 100 characters long"},
		{petstore.CheckPlan("gold"), "must be one of free, pro, business, enterprise"},
		{petstore.CheckPlan(""), "must be one of free, pro, business, enterprise"},
		{petstore.CheckLimit(0), "must be a whole number from 1 to 9007199254740991"},
		{petstore.CheckLimit(petstore.MaxLimit + 1), "must be a whole number from 1 to 9007199254740991"},
		{petstore.CheckAccess("owner"), "must be one of read, write, admin"},
		{petstore.CheckEnd(keyNoon, keyNoon), "must be in the future"},
		{petstore.CheckEnd(time.Time{}, keyNoon), "must be in the future"},
		{petstore.CheckEnd(keyNoon.Add(time.Millisecond-1), keyNoon), "must be in the future"},
		{petstore.CheckEnd(time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), keyNoon), "must be before the year 10000"},
		{petstore.CheckOverlap(-1), "must be a whole number from 0 to 2592000"},
		{petstore.CheckOverlap(2_592_001), "must be a whole number from 0 to 2592000"},
	} {
		if c.problem != c.want {
			t.Errorf("got %q, want %q", c.problem, c.want)
		}
	}
}

func TestFormOfAKeyID(t *testing.T) {
	for range 100 {
		if id := petstore.NewKey("ci", petstore.Free, petstore.Limits{}, keyNoon, petstore.Forever).ID; !petstore.CanBeKeyID(id) {
			t.Errorf("%s cannot be a key's id", id)
		}
	}
	for _, id := range []string{"", "key_", "7", "key_12345678", "key_1234567890", "KEY_123456789", "key_12345678-", "key_12345678é", "key_%31234567"} {
		if petstore.CanBeKeyID(id) {
			t.Errorf("%q can be a key's id", id)
		}
	}
}

func TestANewKeyHasWhatItsChangeNames(t *testing.T) {
	plain, err := petstore.KeyChange{Name: new("ci")}.NewKey(keyNoon)
	want := petstore.Key{
		ID: plain.ID, Name: "ci", Owner: plain.ID, Plan: petstore.Free, Limits: petstore.Limits{PerMinute: 60, PerDay: 1000},
		Access: petstore.ReadWrite, CreatedAt: keyNoon,
	}
	if err != nil || !reflect.DeepEqual(plain, want) || plain.ID == "" {
		t.Errorf("got %+v, %v; want %+v", plain, err, want)
	}
	end := keyNoon.Add(36 * time.Hour)
	full, err := petstore.KeyChange{
		Name: new("ci"), Plan: new(petstore.Enterprise), PerMinute: new(int64(5)), PerDay: new(int64(50)), Access: new(petstore.Admin), ExpiresAt: &end,
	}.NewKey(keyNoon)
	want.ID, want.Owner, want.Plan, want.Limits, want.Access = full.ID, full.ID, petstore.Enterprise, petstore.Limits{PerMinute: 5, PerDay: 50}, petstore.Admin
	want.Lifetime, want.ExpiresAt = 36*time.Hour, end
	if err != nil || !reflect.DeepEqual(full, want) {
		t.Errorf("got %+v, %v; want %+v", full, err, want)
	}
	_, err = petstore.KeyChange{}.NewKey(keyNoon)
	expectRefusal(t, err, petstore.Error{Code: petstore.MissingField, Faults: petstore.Faults{{Field: "name", Problem: "is required", Missing: true}}})
	for _, change := range []petstore.KeyChange{
		{Name: new("ci"), PerMinute: new(int64(5))},
		{Name: new("ci"), Plan: new(petstore.Enterprise), PerDay: new(int64(5))},
	} {
		if key, err := change.NewKey(keyNoon); !petstore.IsCode(err, petstore.InvalidField) || key != (petstore.Key{}) {
			t.Errorf("%+v: got %+v, %v", change, key, err)
		}
	}
}

func TestTheLowerOfTwoAccesses(t *testing.T) {
	ordered := append([]petstore.Access{"unknown"}, petstore.Accesses...)
	for i, a := range ordered {
		for j, b := range ordered {
			if got := a.Lower(b); got != ordered[min(i, j)] {
				t.Errorf("of %s and %s, %s is lower", a, b, got)
			}
		}
	}
}
