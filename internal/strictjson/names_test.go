package strictjson

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// flat returns a JSON object with n members.
func flat(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%05d":0`, i)
	}
	return "{" + b.String()[1:] + "}"
}

// nested returns n JSON objects inside each other.
func nested(n int) string { return strings.Repeat(`{"a":`, n) + "0" + strings.Repeat("}", n) }

func TestATextMayHaveAtMostAThousandNames(t *testing.T) {
	many := strings.Repeat("x", 5*MaxNames)
	for _, c := range []struct {
		behaviour, value string
		names            int // the number of names, including the "x" before the value
	}{
		{"1,000 side by side", flat(999), 1000},
		{"1,001 side by side", flat(1000), 1001},
		{"1,000 nested", nested(999), 1000},
		{"1,001 nested", nested(1000), 1001},
		{"1,000 in an array of objects", "[" + strings.Repeat(`{"a":0},`, 998) + `{"b":0}]`, 1000},
		{"1,001 in an array of objects", "[" + strings.Repeat(`{"a":0},`, 999) + `{"b":0}]`, 1001},
		{"1,000 empty names", strings.Repeat(`{"":`, 999) + "0" + strings.Repeat("}", 999), 1000},
		{"1,001 empty names", strings.Repeat(`{"":`, 1000) + "0" + strings.Repeat("}", 1000), 1001},
		{"colons in a string", `"` + strings.Repeat("::", 5000) + `"`, 1},
		{"colons after an escaped quotation mark", `"` + strings.Repeat(`\":`, 5000) + `"`, 1},
		{"colons after an escaped backslash", `["` + strings.Repeat("x", 5000) + `\\",{"a":":"}]`, 2},
		{"names with colons and quotation marks", `{"\":\"":":","\\":{"a\\\":":1},"` + many + `":0}`, 5},
		{"white space around the colons", `{"` + many + `" : 1 , "b"` + "\n:\t" + `2}`, 3},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			text := []byte(`{"x":` + c.value + `}`)
			if n := countNames(text); n != c.names && len(text) >= 5*MaxNames {
				t.Errorf("%d names are counted, want %d", n, c.names)
			}
			err := eachMember(text, func(string, Value) {})
			if c.names <= MaxNames && err != nil {
				t.Errorf("refused: %v", err)
			}
			if bad := (*Error)(nil); c.names > MaxNames && (!errors.As(err, &bad) || bad.Kind != TooManyNames) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The test logs what the refusal costs. It fails only if Decode accepts the text.
func TestABodyOfNinetyThousandNamesIsRefusedCheaply(t *testing.T) {
	names := []byte(flat(90_000))
	text := []byte(`{"name":"` + strings.Repeat("x", len(names)-11) + `"}`)
	refused := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := recordShape.Decode(names, new(record)); err == nil {
				b.Fatal("it is accepted")
			}
		}
	})
	read := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			recordShape.Decode(text, new(record))
		}
	})
	t.Logf("refusing many names costs %.2f times as much as reading one long name, and %d allocations", float64(refused.NsPerOp())/float64(read.NsPerOp()), refused.AllocsPerOp())
}
