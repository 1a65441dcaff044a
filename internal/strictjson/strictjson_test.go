package strictjson

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// record is the struct that the tests decode into.
type record struct {
	Name     string
	Category int64
	Status   string
}

var recordShape = Shape[record]{
	Required("name", func(r *record, v Value) string { return ReadText(&r.Name, v, notEmpty) }),
	Required("categoryId", func(r *record, v Value) string { return ReadWhole(&r.Category, v) }),
	Optional("status", func(r *record, v Value) string { return ReadText(&r.Status, v, notEmpty) }),
}

func notEmpty(s string) (problem string) {
	if s == "" {
		return "must not be empty"
	}
	return ""
}

// decode reads a record. It returns what is wrong with the text, or nil.
func decode(text string) (r record, bad *Error) {
	if err := recordShape.Decode([]byte(text), &r); err != nil {
		errors.As(err, &bad)
	}
	return r, bad
}

const notWhole = "must be a whole number from -9223372036854775808 to 9223372036854775807"

func TestDecodeReadsValidObjects(t *testing.T) {
	rex := record{Name: "Rex", Category: 1}
	named := func(name string) record { return record{Name: name, Category: 1} }
	category := func(id int64) record { return record{Name: "Rex", Category: id} }
	for _, c := range []struct {
		behaviour string
		text      string
		want      record
	}{
		{"the required members alone", `{"name":"Rex","categoryId":1}`, rex},
		{"white space around everything", " {\t\"name\" :\r\n\"Rex\" , \"categoryId\": 1 }\n ", rex},
		{"members in another order", `{"status":"sold","categoryId":1,"name":"Rex"}`, record{"Rex", 1, "sold"}},
		{"a value written with escapes", `{"name":"Rex","categoryId":1,"status":"p\u0065nding"}`, record{"Rex", 1, "pending"}},
		{"a name written with escapes", `{"n\u0061me":"Rex","\u0063ategoryId":1}`, rex},
		{"unknown members are ignored", `{"id":9,"name":"Rex","categoryId":1,"tags":[{"a":null},[1.5e3]],"owner":{"name":2}}`, rex},
		{"names are case-sensitive", `{"Name":1,"NAME":2,"name":"Rex","categoryID":"x","categoryId":1,"Status":null}`, rex},
		{"a text is kept verbatim", `{"name":"  Zoë\t\"<\u00e9&>\" \ud83d\udc15\u2028 ","categoryId":1}`, named("  Zoë\t\"<é&>\" 🐕\u2028 ")},
		{"a text of one character", `{"name":"é","categoryId":1}`, named("é")},
		{"a long text", `{"name":"` + strings.Repeat("🐕", 1000) + `","categoryId":1}`, named(strings.Repeat("🐕", 1000))},
		{"zero", `{"name":"Rex","categoryId":0}`, category(0)},
		{"minus zero", `{"name":"Rex","categoryId":-0}`, category(0)},
		{"a negative number", `{"name":"Rex","categoryId":-7}`, category(-7)},
		{"the greatest number", `{"name":"Rex","categoryId":9223372036854775807}`, category(math.MaxInt64)},
		{"the least number", `{"name":"Rex","categoryId":-9223372036854775808}`, category(math.MinInt64)},
		{"the greatest number in another notation", `{"name":"Rex","categoryId":92233720368547758070.00e-1}`, category(math.MaxInt64)},
		{"1.0 is a whole number", `{"name":"Rex","categoryId":1.0}`, rex},
		{"1e2 is a whole number", `{"name":"Rex","categoryId":1e2}`, category(100)},
		{"1.5E+1 is a whole number", `{"name":"Rex","categoryId":1.5E+1}`, category(15)},
		{"a zero with a huge exponent is zero", `{"name":"Rex","categoryId":0e999999999999}`, category(0)},
		{"deep nesting in an ignored member", `{"name":"Rex","categoryId":1,"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, rex},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			if got, bad := decode(c.text); bad != nil || got != c.want {
				t.Errorf("got %+v, %v; want %+v", got, bad, c.want)
			}
		})
	}
}

func TestErrorsNameTheProblemAndItsOffset(t *testing.T) {
	for _, c := range []struct {
		text   string
		kind   Kind
		offset int64
	}{
		{"", Empty, 0},
		{" \n", Empty, 0},
		{`[{"name":"Rex","categoryId":1}]`, NotObject, 0},
		{"null", NotObject, 0},
		{`"name"`, NotObject, 0},
		{`{"name":"Rex","categoryId":1} {}`, TrailingData, 0},
		{`{"name":"Rex","categoryId":1}x`, TrailingData, 0},
		{`{"name":"Rex","name":"Max"}`, DuplicateName, 14},
		{`{"name":"Rex","n\u0061me":"Max"}`, DuplicateName, 14},
		{`{"x":[{"a":1,"a":2}]}`, DuplicateName, 13},
		{`{"name":"Rex",}`, BadSyntax, 13},
		{"x", BadSyntax, 0},
		{`{"name":"R` + "\xff" + `x"}`, BadSyntax, 10},
		{`{"name":"R\ud800x"}`, BadSyntax, 10},
		{`{"categoryId":01}`, BadSyntax, 15},
		{`{"name":"Rex"`, BadSyntax, 13},
		{`{"name":"Re`, BadSyntax, 11},
		{`{"name":`, BadSyntax, 8},
		{flat(MaxNames + 1), TooManyNames, 0},
	} {
		_, bad := decode(c.text)
		if want := (&Error{Kind: c.kind, Offset: c.offset}); !reflect.DeepEqual(bad, want) {
			t.Errorf("%.60s: got %+v, want %+v", c.text, bad, want)
		} else if at := fmt.Sprintf("(at byte %d)", c.offset); !strings.HasPrefix(bad.Error(), string(c.kind)) || c.offset > 0 && !strings.HasSuffix(bad.Error(), at) {
			t.Errorf("%.60s: the log reads %q", c.text, bad)
		}
	}
}

func TestAnErrorListsEveryBadMemberInTheOrderOfTheShape(t *testing.T) {
	missing := func(name string) Fault { return Fault{name, "is required", true} }
	faulty := func(name, problem string) Fault { return Fault{name, problem, false} }
	for _, c := range []struct {
		text   string
		faults []Fault
	}{
		{`{}`, []Fault{missing("name"), missing("categoryId")}},
		{`{"name":"Rex"}`, []Fault{missing("categoryId")}},
		{`{"name":1}`, []Fault{faulty("name", "must be a string"), missing("categoryId")}},
		{`{"categoryId":1,"name":""}`, []Fault{faulty("name", "must not be empty")}},
		{`{"status":null,"categoryId":"1","name":null}`, []Fault{faulty("name", "must be a string"), faulty("categoryId", notWhole), faulty("status", "must be a string")}},
		{`{"categoryId":1.5,"status":""}`, []Fault{missing("name"), faulty("categoryId", notWhole), faulty("status", "must not be empty")}},
	} {
		_, bad := decode(c.text)
		if want := (&Error{Kind: BadMembers, Faults: c.faults}); !reflect.DeepEqual(bad, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.text, bad, want)
		}
	}
	_, bad := decode(`{"name":1}`)
	if want := "name must be a string; categoryId is required"; bad.Error() != want {
		t.Errorf("the log reads %q, want %q", bad, want)
	}
}
