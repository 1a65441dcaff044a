package petstore_test

import (
	"testing"

	"petstore/internal/petstore"
)

func TestPlansHaveTheirPublishedLimits(t *testing.T) {
	for plan, want := range map[petstore.Plan]petstore.Limits{
		petstore.Free:     {PerMinute: 60, PerDay: 1_000},
		petstore.Pro:      {PerMinute: 300, PerDay: 10_000},
		petstore.Business: {PerMinute: 1_000, PerDay: 100_000},
	} {
		if got, err := plan.Limits(0, 0); err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", plan, got, err, want)
		}
	}
}

func TestEnterpriseTakesAnyLimits(t *testing.T) {
	for _, want := range []petstore.Limits{{PerMinute: 1, PerDay: 1}, {PerMinute: 5000, PerDay: 1_000_000}, {PerMinute: petstore.MaxLimit, PerDay: petstore.MaxLimit}, petstore.FirstKeyLimits} {
		if got, err := petstore.Enterprise.Limits(want.PerMinute, want.PerDay); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
}

func TestLimitsThatThePlanDoesNotAllowAreRefused(t *testing.T) {
	for _, c := range []struct {
		plan              petstore.Plan
		perMinute, perDay int64
		sentence          string
	}{
		{petstore.Free, 100, 0, "the free plan has its published limits; only the enterprise plan takes numbers of its own"},
		{petstore.Business, 0, 1, "the business plan has its published limits; only the enterprise plan takes numbers of its own"},
		{petstore.Enterprise, 0, 0, "the enterprise plan has no published limits; give both its requests per minute and its requests per day"},
		{petstore.Enterprise, 10, 0, "the enterprise plan has no published limits; give both its requests per minute and its requests per day"},
		{petstore.Enterprise, 0, 10, "the enterprise plan has no published limits; give both its requests per minute and its requests per day"},
		{petstore.Enterprise, -1, 10, "limits are whole numbers from 1 to 9007199254740991"},
		{petstore.Enterprise, 1, petstore.MaxLimit + 1, "limits are whole numbers from 1 to 9007199254740991"},
		{petstore.Enterprise, 11, 10, "a day of 10 requests is less than a minute of 11: the daily limit must be at least the minute's"},
		{"gold", 0, 0, `there is no plan "gold"; it may be free, pro, business, enterprise`},
		{"", 1, 1, `there is no plan ""; it may be free, pro, business, enterprise`},
	} {
		if got, err := c.plan.Limits(c.perMinute, c.perDay); err == nil || err.Error() != c.sentence {
			t.Errorf("%q with %d and %d: got %+v, %v; want %s", c.plan, c.perMinute, c.perDay, got, err, c.sentence)
		}
	}
}
