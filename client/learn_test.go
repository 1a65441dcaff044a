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

// told returns the feedback of an answer. All times are in seconds after noon: the client gets the answer at the time
// arrives, the Date header says date, and the window ends at reset.
func told(arrives, status, date, limit, remaining, reset int) feedback {
	header := http.Header{"Date": {noon.Add(time.Duration(date) * time.Second).Format(http.TimeFormat)}}
	header.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
	header.Set("X-RateLimit-Reset", strconv.FormatInt(noon.Unix()+int64(reset), 10))
	res := &http.Response{StatusCode: status, Header: header}
	refusal := refusalOf("", res, []byte(`{"code":"told_by_the_service"}`))
	if status == http.StatusTooManyRequests {
		refusal.RetryAfter = time.Duration(reset-date) * time.Second
	}
	return feedbackOf(res, refusal, noon.Add(time.Duration(arrives)*time.Second))
}

func TestTheGateLearnsFromTheRightAnswer(t *testing.T) {
	type step struct {
		epoch    int // the number of the window in which the request was sent
		second   int
		feedback feedback
	}
	minute := step{0, 10, told(10, 200, 10, 60, 40, 60)}
	proxied := feedback{window: window{end: noon.Add(25 * time.Second)}, refused: true}
	for name, c := range map[string]struct {
		steps     []step
		remaining int64
		end       int // the end of the window in seconds after noon
	}{
		"the first answer counts":                                   {[]step{minute}, 40, 60},
		"the lowest remaining number of a window counts":            {[]step{minute, {0, 11, told(11, 200, 11, 60, 45, 60)}}, 40, 60},
		"a lower number replaces a higher one":                      {[]step{minute, {1, 11, told(11, 200, 11, 60, 39, 60)}}, 39, 60},
		"the next window replaces the last one":                     {[]step{minute, {1, 61, told(61, 200, 61, 60, 59, 120)}}, 59, 120},
		"a request of an earlier window announces the next one":     {[]step{minute, {0, 61, told(61, 200, 61, 60, 59, 120)}}, 59, 120},
		"an overtaken answer is ignored":                            {[]step{minute, {1, 61, told(61, 200, 61, 60, 59, 120)}, {1, 62, told(62, 200, 59, 60, 3, 60)}}, 59, 120},
		"a new plan replaces the old one":                           {[]step{minute, {1, 11, told(11, 200, 11, 300, 299, 60)}}, 299, 60},
		"a late answer does not bring the old plan back":            {[]step{minute, {1, 11, told(11, 200, 11, 300, 299, 60)}, {1, 12, told(12, 200, 12, 60, 38, 60)}}, 299, 60},
		"a refusal uses the window up":                              {[]step{minute, {1, 20, told(20, 429, 20, 60, 0, 60)}}, 0, 60},
		"a refusal by a slow clock lasts as long as it says":        {[]step{minute, {1, 59, told(59, 429, 55, 60, 0, 60)}}, 0, 64},
		"a refusal after the expected end prolongs the window":      {[]step{minute, {1, 61, told(61, 429, 61, 60, 0, 65)}}, 0, 65},
		"limits in a 503 may be an address's":                       {[]step{minute, {1, 11, told(11, 503, 11, 1000, 1000, 60)}}, 39, 60},
		"limits in a 401 may be an address's":                       {[]step{minute, {1, 11, told(11, 401, 11, 1000, 999, 60)}}, 39, 60},
		"a lost request may have been counted":                      {[]step{minute, {1, 11, noAnswer(errors.New("reset"))}, {1, 12, feedback{lost: true}}}, 38, 60},
		"a lost request may have used the window up":                {[]step{{0, 10, told(10, 200, 10, 60, 1, 60)}, {1, 11, feedback{lost: true}}}, 0, 11},
		"an answer from before such a loss is ignored":              {[]step{{0, 10, told(10, 200, 10, 60, 1, 60)}, {1, 11, feedback{lost: true}}, {1, 12, told(12, 200, 12, 60, 5, 60)}}, 0, 11},
		"an answer from before a proxy's refusal is ignored":        {[]step{minute, {1, 20, proxied}, {1, 26, told(26, 200, 26, 60, 45, 60)}}, 0, 25},
		"a loss does not end a used-up window":                      {[]step{{0, 10, told(10, 200, 10, 60, 0, 60)}, {1, 11, feedback{lost: true}}}, 0, 60},
		"a proxy's refusal holds whatever is answered meanwhile":    {[]step{minute, {1, 20, proxied}, {1, 20, told(20, 200, 20, 60, 38, 60)}}, 0, 25},
		"the service's answer counts again after a proxy's refusal": {[]step{minute, {1, 20, proxied}, {2, 26, told(26, 200, 26, 60, 38, 60)}}, 38, 60},
		"a request that was never sent was not counted":             {[]step{minute, {1, 11, noAnswer(&net.OpError{Op: "dial"})}}, 40, 60},
	} {
		t.Run(name, func(t *testing.T) {
			var g gate
			for _, s := range c.steps {
				g.learn(pass{epoch: s.epoch}, s.feedback, noon.Add(time.Duration(s.second)*time.Second))
			}
			if end := int(g.window.end.Sub(noon).Seconds()); g.window.Remaining != c.remaining || end != c.end {
				t.Errorf("%d requests are left until second %d, want %d until %d", g.window.Remaining, end, c.remaining, c.end)
			}
		})
	}
}

func TestARefusalOfAProxySaysNothingAboutLimits(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusForbidden, http.StatusNotFound, http.StatusBadGateway} {
		res := &http.Response{StatusCode: status}
		if n := feedbackOf(res, refusalOf("", res, nil), noon); !n.lost || !n.end.IsZero() {
			t.Errorf("from a %d the gate learns %+v", status, n)
		}
	}
}

func TestARefusalOfAProxyDoesNotShortenABan(t *testing.T) {
	g := gate{window: window{Limits: Limits{Limit: 60}, end: noon.Add(time.Hour), banned: true}}
	g.learn(pass{}, feedback{window: window{end: noon.Add(time.Second)}, refused: true}, noon)
	if !g.window.banned || !g.window.end.Equal(noon.Add(time.Hour)) {
		t.Errorf("the gate's window is %+v", g.window)
	}
}
