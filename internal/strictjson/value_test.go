package strictjson

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestParseWholeAgreesWithExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		want, whole := new(big.Rat), false
		if _, ok := want.SetString(number); ok {
			whole = want.IsInt() && want.Num().IsInt64()
		}
		got, ok := parseWhole([]byte(number))
		if ok != whole || (ok && got != want.Num().Int64()) {
			t.Fatalf("%s is read as %d, %v; exact arithmetic says %s, %v", number, got, ok, want, whole)
		}
	})
}

func TestHugeExponentsAreRefusedCheaply(t *testing.T) {
	for _, number := range []string{"1e999999999", "1E+99999999999999999999999", "1e-999999999", "-0.1e99999999999999999999"} {
		if n, ok := parseWhole([]byte(number)); ok {
			t.Errorf("%s is read as %d", number, n)
		}
		if allocated := testing.AllocsPerRun(10, func() { parseWhole([]byte(number)) }); allocated > 1 {
			t.Errorf("%s costs %v allocations", number, allocated)
		}
	}
}

func TestAnArrayOfStringsIsRead(t *testing.T) {
	pass := func([]string) string { return "" }
	for value, want := range map[string][]string{
		`[]`: nil, `["a"]`: {"a"}, `[ "a" , "\u00e9\n", "" ]`: {"a", "é\n", ""}, `null`: nil, `"a"`: nil, `[1]`: nil, `["a",null]`: nil, `[["a"]]`: nil, `{"a":"b"}`: nil,
	} {
		var got []string
		problem := ReadTexts(&got, Value(value), pass)
		if valid := want != nil || value == "[]"; valid != (problem == "") || valid && !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %q; want %q", value, got, problem, want)
		}
	}
	if problem := ReadTexts(new([]string), Value(`["a"]`), func(list []string) string { return list[0] + " is wrong" }); problem != "a is wrong" {
		t.Errorf("the check says %q", problem)
	}
}
