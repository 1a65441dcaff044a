package keys

import (
	"slices"
	"strings"
	"testing"
	"time"

	"petstore/client"
	"petstore/internal/terminal"
	"petstore/internal/testservice"
)

func TestKeyTimesInJSONSortAsText(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	var keys []client.Key
	for _, after := range []time.Duration{0, 7, 80, 100, 120, 123, 1000} {
		keys = append(keys, client.Key{CreatedAt: noon.Add(after * time.Millisecond)})
	}
	var out strings.Builder
	if err := printJSON(&terminal.Console{Stdout: &out}, objects(keys, keyObjectOf)); err != nil {
		t.Fatal(err)
	}
	var times []string
	for _, key := range testservice.Decode[[]struct{ CreatedAt string }](t, out.String()) {
		times = append(times, key.CreatedAt)
	}
	if !slices.IsSorted(times) || times[1] != "2026-11-16T12:00:00.007Z" {
		t.Errorf("the times are %q", times)
	}
}
