package conformance

import (
	"time"

	"petstore/internal/petstore"
)

func (t storageTest) ban(owner string, now time.Time) petstore.Ban {
	t.Helper()
	ban, err := t.BanOwner(t.Context(), owner, now)
	t.noError(err)
	return ban
}

var banCases = []storageCase{
	{"each further ban lasts twice as long, up to the longest, and after a day they start over", func(t storageTest) {
		key := t.addKey(newKey("a"))
		var want petstore.Ban
		for _, pause := range []time.Duration{0, 0, time.Millisecond, time.Hour, 0, 0, 0, 0, 0, petstore.BanMemory, 0} {
			now := epoch
			if !want.Until.IsZero() {
				now = want.Until.Add(pause)
			}
			want = want.Next(now)
			t.same("ban", t.ban(key.Owner, now), want)
		}
		t.same("the last streak", want.Streak, 2)
	}},
	{"a ban in force is not extended", func(t storageTest) {
		key := t.addKey(newKey("a"))
		ban := t.ban(key.Owner, epoch)
		for _, passed := range []time.Duration{0, time.Second, time.Minute - time.Millisecond} {
			t.same("ban", t.ban(key.Owner, epoch.Add(passed)), ban)
		}
		t.same("the next ban's streak", t.ban(key.Owner, epoch.Add(time.Minute)).Streak, 2)
	}},
	{"the next ban replaces a future-dated one, recorded while a clock was fast", func(t storageTest) {
		key := t.addKey(newKey("a"))
		ahead := t.ban(key.Owner, epoch.Add(time.Hour))
		t.same("the ban a minute before its start", t.ban(key.Owner, ahead.Start.Add(-time.Minute)), ahead)
		next := t.ban(key.Owner, epoch)
		t.same("ban", next, petstore.Ban{Start: epoch, Until: epoch.Add(2 * time.Minute), Streak: 2})
		t.same("ban of the key", t.find("a").Banned(epoch), true)
	}},
	{"concurrent calls give one ban", func(t storageTest) {
		key := t.addKey(newKey("a"))
		bans := make([]petstore.Ban, 30)
		t.concurrently(len(bans), func(i int) (err error) {
			bans[i], err = t.BanOwner(t.Context(), key.Owner, epoch)
			return err
		})
		for _, ban := range bans {
			t.same("ban", ban, petstore.Ban{Start: epoch, Until: epoch.Add(time.Minute), Streak: 1})
		}
	}},
	{"every key of the owner shows the ban, and no other key does", func(t storageTest) {
		first := t.addKey(newKey("first"))
		other := t.addKey(newKey("other"))
		early := t.rotate(first.ID, "early", epoch, time.Hour)
		ban := t.ban(first.Owner, epoch)
		late := t.rotate(early.ID, "late", epoch, time.Hour)

		t.same("the key created during the ban", late.BannedUntil, ban.Until)
		for _, secret := range []string{"first", "early", "late"} {
			t.same("start of the ban of "+secret, t.find(secret).BannedFrom, ban.Start)
			t.same("ban of "+secret, t.find(secret).BannedUntil, ban.Until)
		}
		t.same("ban of the other", t.find("other").BannedUntil.IsZero(), true)
		for _, key := range t.keys() {
			t.same("ban of "+key.ID, key.BannedUntil.Equal(ban.Until), key.ID != other.ID)
		}
	}},
	{"a past ban is still shown", func(t storageTest) {
		key := t.addKey(newKey("a"))
		t.ban(key.Owner, epoch)
		again := t.ban(key.Owner, epoch.Add(time.Hour))
		t.same("ban", t.find("a").BannedUntil, again.Until)
	}},
	{"each owner is banned separately", func(t storageTest) {
		a, b := t.addKey(newKey("a")), t.addKey(newKey("b"))
		t.ban(a.Owner, epoch)
		t.ban(a.Owner, epoch.Add(time.Hour))
		t.same("streak", t.ban(b.Owner, epoch.Add(time.Hour)).Streak, 1)
	}},
	{"lifting a ban forgets the earlier ones too", func(t storageTest) {
		key, other := t.addKey(newKey("a")), t.addKey(newKey("b"))
		t.ban(key.Owner, epoch)
		t.ban(key.Owner, epoch.Add(time.Minute))
		ban := t.ban(other.Owner, epoch)
		t.noError(writeError(t.UnbanKey(t.Context(), key.Owner, operator)))
		t.same("key", t.find("a"), key)
		t.same("the other's ban", t.find("b").BannedUntil, ban.Until)
		t.same("the next ban's streak", t.ban(key.Owner, epoch.Add(time.Minute)).Streak, 1)
	}},
	{"banning and unbanning an owner concurrently never fails", func(t storageTest) {
		key := t.addKey(newKey("a"))
		t.concurrently(40, func(i int) error {
			if i%2 == 0 {
				return writeError(t.UnbanKey(t.Context(), key.Owner, operator))
			}
			_, err := t.BanOwner(t.Context(), key.Owner, epoch)
			return err
		})
	}},
	{"unbanning an owner without a ban changes nothing", func(t storageTest) {
		key := t.addKey(newKey("a"))
		t.noError(writeError(t.UnbanKey(t.Context(), key.Owner, operator)))
		t.same("key", t.find("a"), key)
	}},
	{"an unknown owner can be neither banned nor unbanned", func(t storageTest) {
		t.addKey(newKey("a"))
		_, err := t.BanOwner(t.Context(), "key_unknown", epoch)
		t.refused(err, petstore.NotFound)
		t.refused(writeError(t.UnbanKey(t.Context(), "key_unknown", operator)), petstore.NotFound)
	}},
	{"a ban stays when a key is revoked and made usable again", func(t storageTest) {
		key := t.addKey(newKey("a"))
		ban := t.ban(key.Owner, epoch)
		t.noError(writeError(t.RevokeKey(t.Context(), key.ID, operator)))
		t.noError(t.EnsureKey(t.Context(), newKey("a"), petstore.HashSecret("a")))
		t.same("ban", t.find("a").BannedUntil, ban.Until)
	}},
}
