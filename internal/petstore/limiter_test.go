package petstore_test

import (
	"testing"
	"time"

	"petstore/internal/petstore"
)

var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

func TestBansDoubleUpToAnHour(t *testing.T) {
	var ban petstore.Ban
	now := noon
	for i, minutes := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		ban = ban.Next(now)
		if want := now.Add(minutes * time.Minute); !ban.Start.Equal(now) || !ban.Until.Equal(want) {
			t.Fatalf("ban %d: from %v until %v, want from %v until %v", i+1, ban.Start, ban.Until, now, want)
		}
		now = ban.Until
	}
}

func TestBansOfALongStreakStayAtAnHour(t *testing.T) {
	ban := petstore.Ban{Start: noon, Until: noon.Add(time.Hour), Streak: 1_000}.Next(noon.Add(2 * time.Hour))
	if length := ban.Until.Sub(ban.Start); length != time.Hour {
		t.Errorf("the ban lasts %v, want an hour", length)
	}
}

func TestABanIsNotProlongedWhileItHolds(t *testing.T) {
	ban := petstore.Ban{}.Next(noon)
	for _, at := range []time.Time{noon, noon.Add(30 * time.Second), ban.Until.Add(-1)} {
		if again := ban.Next(at); again != ban {
			t.Errorf("at %v it became %+v, want %+v", at, again, ban)
		}
	}
}

func TestBansAreRememberedForADay(t *testing.T) {
	third := petstore.Ban{Start: noon, Until: noon.Add(4 * time.Minute), Streak: 3}
	for _, c := range []struct {
		behaviour string
		after     time.Duration
		want      time.Duration
	}{
		{"a ban that begins within 24 hours of the last one doubles it", 24*time.Hour - 1, 8 * time.Minute},
		{"a ban that begins 24 hours after the last one starts anew", 24 * time.Hour, time.Minute},
		{"a ban that begins later still starts anew", 240 * time.Hour, time.Minute},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			next := third.Next(noon.Add(c.after))
			if length := next.Until.Sub(next.Start); length != c.want {
				t.Errorf("it lasts %v, want %v", length, c.want)
			}
		})
	}
}

func TestABanHoldsFromItsStartToItsEnd(t *testing.T) {
	ban := petstore.Ban{}.Next(noon)
	for _, c := range []struct {
		behaviour string
		after     time.Duration
		holds     bool
	}{
		{"at its start", 0, true},
		{"just before its end", time.Minute - 1, true},
		{"at its end", time.Minute, false},
		{"when the clock stepped back by a minute", -time.Minute, true},
		{"when it was given by a clock that was further ahead", -time.Minute - 1, false},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			if holds := ban.Holds(noon.Add(c.after)); holds != c.holds {
				t.Errorf("it holds: %v, want %v", holds, c.holds)
			}
		})
	}
	if (petstore.Ban{}).Holds(noon) {
		t.Error("no ban holds")
	}
}

func TestABanOfAClockThatWasAheadIsFollowedByTheNextOne(t *testing.T) {
	for _, c := range []struct {
		behaviour string
		ahead     time.Duration
		want      time.Duration
	}{
		{"which doubles one that was less than a day ahead", 24*time.Hour - 1, 2 * time.Minute},
		{"which starts anew after one that was further ahead", 24 * time.Hour, time.Minute},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			next := petstore.Ban{}.Next(noon.Add(c.ahead)).Next(noon)
			if length := next.Until.Sub(next.Start); !next.Start.Equal(noon) || length != c.want {
				t.Errorf("it is %+v, want %v from noon on", next, c.want)
			}
		})
	}
}
