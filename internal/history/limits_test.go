package history

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"petstore/internal/model"
)

func TestLimitsAreCountedByTheWindow(t *testing.T) {
	began := time.Date(2026, time.November, 15, 12, 0, 30, 0, time.UTC)
	limits := map[string]Limit{"a": {PerMinute: 3, PerDay: 5}}
	for _, test := range []struct {
		name    string
		seconds []int // when requests passed, in seconds after 12:00:30
		away    []Interval
		want    int
	}{
		{"three in a minute and two in the next", []int{1, 2, 3, 31, 32}, nil, 0},
		{"four in a minute", []int{1, 2, 3, 4}, nil, 1},
		{"four across the end of a minute", []int{28, 29, 31, 32}, nil, 0},
		{"six in a day", []int{1, 2, 3, 31, 32, 91}, nil, 1},
		{"four in a minute without Redis", []int{1, 2, 3, 4}, []Interval{{time.Second, 2 * time.Second}}, 0},
		{"four in a minute after one without Redis", []int{1, 31, 32, 33, 34}, []Interval{{time.Second, 2 * time.Second}}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var all []model.Exchange
			for _, s := range test.seconds {
				at := time.Duration(s) * time.Second
				all = append(all, model.Exchange{Key: "a", Called: at, Returned: at + time.Millisecond, Status: 404})
			}
			all = append(all, model.Exchange{Key: "a", Called: 5 * time.Second, Returned: 6 * time.Second, Status: 429})
			faults := Check(all, Rules{Began: began, Limits: limits, Uncounted: test.away})
			if len(faults) != test.want {
				t.Errorf("found %v, want %d faults", faults, test.want)
			}
		})
	}
}

func TestTheHeadersCountEveryRequestOnce(t *testing.T) {
	told := func(remaining int) model.Exchange {
		left := fmt.Sprint(remaining)
		h := http.Header{"X-Ratelimit-Limit": {"60"}, "X-Ratelimit-Reset": {"1794735060"}, "X-Ratelimit-Remaining": {left}}
		return model.Exchange{Key: "a", Status: 200, Header: h}
	}
	limits := map[string]Limit{"a": {PerMinute: 60, PerDay: 1000}}
	if faults := Check([]model.Exchange{told(59), told(58)}, Rules{Limits: limits}); len(faults) > 0 {
		t.Error(faults)
	}
	if faults := Check([]model.Exchange{told(59), told(59)}, Rules{Limits: limits}); len(faults) != 1 || faults[0].Kind != OverLimit {
		t.Errorf("two requests that were told the same gave %v", faults)
	}
}
