package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// The same people and programs read the lines in both formats.
func TestAppendedLineHasTheFieldsOfSlog(t *testing.T) {
	for name, change := range map[string]func(*exchange){
		"a list":                     func(*exchange) {},
		"a deprecated call":          func(x *exchange) { x.operation = &operation{name: "getPet", deprecated: true} },
		"a failure":                  func(x *exchange) { x.status, x.cause = 503, errors.New("the \"disk\" is\nfull ☹") },
		"an answer cut short":        func(x *exchange) { x.status, x.cut, x.cause = 500, true, errors.New("panic") },
		"no key":                     func(x *exchange) { x.key = &noKey },
		"a path with escapes":        func(x *exchange) { x.path = "/v1/%C3%A4%3Cb%3E" },
		"an unknown method":          func(x *exchange) { x.r.Method = "BREW" },
		"an IPv6 address":            func(x *exchange) { x.r.RemoteAddr = "[2001:db8::1]:1234" },
		"a request id of the client": func(x *exchange) { x.requestID = "a-b_c.9" },
		"a traced request":           func(x *exchange) { x.traceID = "0af7651916cd43dd8448eb211c80319c" },
	} {
		t.Run(name, func(t *testing.T) {
			x := newExchange(nil, httptest.NewRequest("GET", "/v1/pets?limit=3", nil), time.Date(2026, 11, 15, 12, 0, 0, 123456789, time.UTC))
			x.requestID, x.status, x.size, x.key = "0123456789abcdef", 200, 1612, &petstore.Key{ID: "key_1"}
			change(x)
			const elapsed = 1234567 * time.Nanosecond
			a := &API{}

			var log bytes.Buffer
			record := slog.NewRecord(x.start.Add(elapsed), levelOf(x), "request", 0)
			record.AddAttrs(a.attributes(x, elapsed)...)
			noError(t, slog.NewJSONHandler(&log, nil).Handle(t.Context(), record))
			got, want := fieldsOf(t, a.appendLine(nil, x, elapsed)), fieldsOf(t, log.Bytes())
			if !reflect.DeepEqual(got, want) {
				t.Errorf("appended:\n%v\nslog:\n%v", got, want)
			}
			if id, _ := got["trace_id"].(string); id != x.traceID {
				t.Errorf("the line has the trace id %q, want %q", id, x.traceID)
			}
		})
	}
}

func fieldsOf(t *testing.T, line []byte) (fields map[string]any) {
	t.Helper()
	if err := json.Unmarshal(line, &fields); err != nil || !bytes.HasSuffix(line, []byte("}\n")) || bytes.Count(line, []byte("\n")) != 1 {
		t.Fatalf("%q is not a line of JSON: %v", line, err)
	}
	return fields
}
