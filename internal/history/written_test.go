package history

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestEveryRuleIsHeld(t *testing.T) {
	for _, r := range rules {
		t.Run(r.rule, func(t *testing.T) {
			for _, f := range Check(written(t, r.kept), Rules{}) {
				t.Errorf("in the history that keeps the rule: %v", f)
			}
			faults := Check(written(t, r.broken), Rules{})
			if len(faults) == 0 {
				t.Error("nothing is found in the history that breaks the rule")
			}
			for _, f := range faults {
				if f.Kind != r.want {
					t.Errorf("in the history that breaks the rule, instead of %q: %v", r.want, f)
				}
			}
		})
	}
}

var (
	petMacro   = regexp.MustCompile(`pet\((\d+) (\w+) (\w+)\)`)
	orderMacro = regexp.MustCompile(`order\((\d+) (\d+) (\w+)\)`)
	errorMacro = regexp.MustCompile(`error\((\w+) ([^)]*)\)`)
	exchange   = regexp.MustCompile(`^(\d+) (\d+) (\w+) (\S+) ?(#\w+)? ?(\{.*\})? ?= (lost|\d+) ?(replayed|more)? ?(.*)$`)
)

// written reads a history.
func written(t *testing.T, text string) (all []Exchange) {
	t.Helper()
	text = petMacro.ReplaceAllString(text, `{"id":$1,"name":"$2","categoryId":1,"status":"$3"}`)
	text = orderMacro.ReplaceAllString(text, `{"id":$1,"petId":$2,"status":"$3","createdAt":"2026-11-15T12:00:00.000Z","expiresAt":"2026-11-15T12:01:00.000Z"}`)
	text = errorMacro.ReplaceAllString(text, `{"code":"$1","message":"$2"}`)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		m := exchange.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Fatalf("%q is no exchange", line)
		}
		called, _ := strconv.Atoi(m[1])
		returned, _ := strconv.Atoi(m[2])
		e := Exchange{Client: len(all), Key: "a", Method: m[3], Path: "/v1/" + m[4], IdempotencyKey: m[5], Body: []byte(m[6]), Answer: []byte(m[9]), Header: make(http.Header)}
		e.Called, e.Returned = time.Duration(called)*time.Second, time.Duration(returned)*time.Second
		e.Status, _ = strconv.Atoi(m[7])
		switch m[8] {
		case "replayed":
			e.Header.Set("Idempotency-Replayed", "true")
		case "more":
			e.Header.Set("Link", `</v1/pets?cursor=next>; rel="next"`)
		}
		all = append(all, e)
	}
	return all
}

// A history that is too large to be checked as a whole still shows that two lists saw two changes in different orders.
func TestTwoListsOfALargeHistorySeeChangesInTheSameOrder(t *testing.T) {
	const begin = `
		0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)
		0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		2 9 PATCH pets/1 {"name":"Rexi"} = 200 pet(1 Rexi available)
		2 9 PATCH pets/2 {"name":"Maxi"} = 200 pet(2 Maxi available)
		3 8 GET pets = 200 [pet(2 Max available),pet(1 Rexi available)]`
	var more strings.Builder
	for i := range smallWorld {
		fmt.Fprintf(&more, "\n%d %d GET pets/1 = 200 pet(1 Rexi available)", 10+2*i, 11+2*i)
	}
	for _, f := range Check(written(t, begin+"\n3 8 GET pets = 200 [pet(2 Maxi available),pet(1 Rexi available)]"+more.String()), Rules{}) {
		t.Error(f)
	}
	faults := Check(written(t, begin+"\n3 8 GET pets = 200 [pet(2 Maxi available),pet(1 Rex available)]"+more.String()), Rules{})
	if len(faults) != 1 || faults[0].Kind != OutOfOrder {
		t.Errorf("two lists that saw two changes in different orders gave %v", faults)
	}
}
