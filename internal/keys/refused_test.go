package keys

import (
	"errors"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

func TestARefusalAboutAKeySaysWhatToDo(t *testing.T) {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	key := petstore.Key{ID: "key_1", Plan: petstore.Free, ExpiresAt: noon}
	revoked := petstore.Key{ID: "key_1", RevokedAt: noon, ExpiresAt: noon}
	second := func(_ petstore.Key, err error) error { return err }
	third := func(_, _ petstore.Key, err error) error { return err }
	for _, c := range []struct {
		err   error
		says  string
		usage bool
	}{
		{petstore.NoSuchKey("key_1"), "there is no key key_1; petstore keys list shows those there are", false},
		{petstore.AlreadyRotated(key, "key_2"), "key key_1 was rotated already, and key key_2 is its successor; petstore keys list shows both", false},
		{third(revoked.Rotate(petstore.Rotation{}, noon)), "key key_1 is revoked for good and cannot be changed; create another with petstore keys create", false},
		{second(revoked.Change(petstore.KeyChange{}, noon)), "key key_1 is revoked for good and cannot be changed; create another with petstore keys create", false},
		{third(key.Rotate(petstore.Rotation{}, noon)), "key key_1 has expired and cannot be rotated; create another with petstore keys create", false},
		{second(key.Change(petstore.KeyChange{PerDay: new(int64(5))}, noon)), "perMinute and perDay can be given only with the plan enterprise", true},
		{errors.New("something else"), "something else", false},
	} {
		if err := keyRefused(c.err); err.Error() != c.says || errors.As(err, new(terminal.UsageError)) != c.usage {
			t.Errorf("%v: it says %q, want %q; wrong usage: %v", c.err, err, c.says, c.usage)
		}
	}
	if refused := petstore.NotDone(errors.New("the disk is full")); keyRefused(refused) != error(refused) {
		t.Error("a failure of the storage is not left to those who explain it")
	}
}
