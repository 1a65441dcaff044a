package client

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// told is the news of an answer. All its times are seconds after noon: it arrives at arrives, the service dates it at
// date, and its window ends at reset.
func told(arrives, status, date, limit, remaining, reset int) news {
	header := http.Header{"Date": {noon.Add(time.Duration(date) * time.Second).Format(http.TimeFormat)}}
	header.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
	header.Set("X-RateLimit-Reset", strconv.FormatInt(noon.Unix()+int64(reset), 10))
	res := &http.Response{StatusCode: status, Header: header}
	refusal := refusalOf(res, []byte(`{"code":"told_by_the_service"}`))
	if status == http.StatusTooManyRequests {
		refusal.RetryAfter = time.Duration(reset-date) * time.Second
	}
	return newsOf(res, refusal, noon.Add(time.Duration(arrives)*time.Second))
}

func TestTheGateBelievesTheRightAnswer(t *testing.T) {
	type step struct {
		epoch  int // the window in which the request was sent
		second int
		news   news
	}
	minute := step{0, 10, told(10, 200, 10, 60, 40, 60)}
	proxied := news{window: window{end: noon.Add(25 * time.Second)}, refused: true}
	for name, c := range map[string]struct {
		steps     []step
		remaining int64
		end       int // in seconds after noon
	}{
		"the first":                             {[]step{minute}, 40, 60},
		"the lowest of a window":                {[]step{minute, {0, 11, told(11, 200, 11, 60, 45, 60)}}, 40, 60},
		"a lower one":                           {[]step{minute, {1, 11, told(11, 200, 11, 60, 39, 60)}}, 39, 60},
		"the next window":                       {[]step{minute, {1, 61, told(61, 200, 61, 60, 59, 120)}}, 59, 120},
		"the next window, told by an early one": {[]step{minute, {0, 61, told(61, 200, 61, 60, 59, 120)}}, 59, 120},
		"not one that was overtaken":            {[]step{minute, {1, 61, told(61, 200, 61, 60, 59, 120)}, {1, 62, told(62, 200, 59, 60, 3, 60)}}, 59, 120},
		"a new plan":                            {[]step{minute, {1, 11, told(11, 200, 11, 300, 299, 60)}}, 299, 60},
		"not the old plan once more":            {[]step{minute, {1, 11, told(11, 200, 11, 300, 299, 60)}, {1, 12, told(12, 200, 12, 60, 38, 60)}}, 299, 60},
		"a refusal":                             {[]step{minute, {1, 20, told(20, 429, 20, 60, 0, 60)}}, 0, 60},
		"a refusal by a slower clock":           {[]step{minute, {1, 59, told(59, 429, 55, 60, 0, 60)}}, 0, 64},
		"a refusal after the end was expected":  {[]step{minute, {1, 61, told(61, 429, 61, 60, 0, 65)}}, 0, 65},
		"not those of an address, with a 503":   {[]step{minute, {1, 11, told(11, 503, 11, 1000, 1000, 60)}}, 39, 60},
		"not those of an address, with a 401":   {[]step{minute, {1, 11, told(11, 401, 11, 1000, 999, 60)}}, 39, 60},
		"that a lost one may have been counted": {[]step{minute, {1, 11, silence(errors.New("reset"))}, {1, 12, news{lost: true}}}, 38, 60},
		"that lost ones may have used it up":    {[]step{{0, 10, told(10, 200, 10, 60, 1, 60)}, {1, 11, news{lost: true}}}, 0, 11},
		"not one that the loss has overtaken":   {[]step{{0, 10, told(10, 200, 10, 60, 1, 60)}, {1, 11, news{lost: true}}, {1, 12, told(12, 200, 12, 60, 5, 60)}}, 0, 11},
		"not one that a proxy has overtaken":    {[]step{minute, {1, 20, proxied}, {1, 26, told(26, 200, 26, 60, 45, 60)}}, 0, 25},
		"not that a used one ends with a loss":  {[]step{{0, 10, told(10, 200, 10, 60, 0, 60)}, {1, 11, news{lost: true}}}, 0, 60},
		"a proxy, whoever answers meanwhile":    {[]step{minute, {1, 20, proxied}, {1, 20, told(20, 200, 20, 60, 38, 60)}}, 0, 25},
		"the service again after a proxy":       {[]step{minute, {1, 20, proxied}, {2, 26, told(26, 200, 26, 60, 38, 60)}}, 38, 60},
		"that an unsent one was not":            {[]step{minute, {1, 11, silence(&net.OpError{Op: "dial"})}}, 40, 60},
	} {
		t.Run(name, func(t *testing.T) {
			var g gate
			for _, s := range c.steps {
				g.learn(pass{epoch: s.epoch}, s.news, noon.Add(time.Duration(s.second)*time.Second))
			}
			if end := int(g.window.end.Sub(noon).Seconds()); g.window.Remaining != c.remaining || end != c.end {
				t.Errorf("%d requests are left until second %d, want %d until %d", g.window.Remaining, end, c.remaining, c.end)
			}
		})
	}
}

func TestARefusalInFrontOfTheServiceTellsNothingOfLimits(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusForbidden, http.StatusNotFound, http.StatusBadGateway} {
		res := &http.Response{StatusCode: status}
		if n := newsOf(res, refusalOf(res, nil), noon); !n.lost || !n.end.IsZero() {
			t.Errorf("from a %d the gate hears %+v", status, n)
		}
	}
}

func TestALateRefusalOfAProxyEndsNoBan(t *testing.T) {
	g := gate{window: window{Limits: Limits{Limit: 60}, end: noon.Add(time.Hour), banned: true}}
	g.learn(pass{}, news{window: window{end: noon.Add(time.Second)}, refused: true}, noon)
	if !g.window.banned || !g.window.end.Equal(noon.Add(time.Hour)) {
		t.Errorf("the gate believes %+v", g.window)
	}
}
