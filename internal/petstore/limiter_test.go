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

func TestBansInALongStreakLastAnHour(t *testing.T) {
	ban := petstore.Ban{Start: noon, Until: noon.Add(time.Hour), Streak: 1_000}.Next(noon.Add(2 * time.Hour))
	if length := ban.Until.Sub(ban.Start); length != time.Hour {
		t.Errorf("the ban lasts %v, want an hour", length)
	}
}

func TestABanInForceIsNotProlonged(t *testing.T) {
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
		{"a ban within 24 hours of the last one is twice as long", 24*time.Hour - 1, 8 * time.Minute},
		{"a ban 24 hours after the last one is a first ban again", 24 * time.Hour, time.Minute},
		{"a ban long after the last one is a first ban again", 240 * time.Hour, time.Minute},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			next := third.Next(noon.Add(c.after))
			if length := next.Until.Sub(next.Start); length != c.want {
				t.Errorf("it lasts %v, want %v", length, c.want)
			}
		})
	}
}

func TestABanIsInForceFromItsStartToItsEnd(t *testing.T) {
	ban := petstore.Ban{}.Next(noon)
	for _, c := range []struct {
		behaviour string
		after     time.Duration
		inForce   bool
	}{
		{"at its start", 0, true},
		{"just before its end", time.Minute - 1, true},
		{"at its end", time.Minute, false},
		{"after the clock stepped back by a minute", -time.Minute, true},
		{"after the clock stepped back by more than a minute", -time.Minute - 1, false},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			if got := ban.InForce(noon.Add(c.after)); got != c.inForce {
				t.Errorf("in force: %v, want %v", got, c.inForce)
			}
		})
	}
	if (petstore.Ban{}).InForce(noon) {
		t.Error("the zero ban is in force")
	}
}

func TestAFutureDatedBanDoesNotStopTheNextOne(t *testing.T) {
	for _, c := range []struct {
		behaviour string
		ahead     time.Duration
		want      time.Duration
	}{
		{"after a ban dated less than a day ahead, it is twice as long", 24*time.Hour - 1, 2 * time.Minute},
		{"after a ban dated further ahead, it is a first ban", 24 * time.Hour, time.Minute},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			next := petstore.Ban{}.Next(noon.Add(c.ahead)).Next(noon)
			if length := next.Until.Sub(next.Start); !next.Start.Equal(noon) || length != c.want {
				t.Errorf("it is %+v, want %v from noon on", next, c.want)
			}
		})
	}
}
