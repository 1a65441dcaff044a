package httpapi

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

// decodeNewPet reads the body of a create.
func decodeNewPet(body []byte) (petstore.NewPet, error) {
	pet := petstore.NewPet{Status: petstore.Available}
	err := newPetBody.decode(body, &pet)
	return pet, err
}

const notWhole = "must be a whole number from -9223372036854775808 to 9223372036854775807"

func TestBodyIsReadAsItWasMeant(t *testing.T) {
	rex := petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}
	with := func(change func(*petstore.NewPet)) petstore.NewPet {
		pet := rex
		change(&pet)
		return pet
	}
	named := func(name string) petstore.NewPet { return with(func(p *petstore.NewPet) { p.Name = name }) }
	category := func(id int64) petstore.NewPet { return with(func(p *petstore.NewPet) { p.CategoryID = id }) }

	for _, c := range []struct {
		behaviour string
		body      string
		want      petstore.NewPet
	}{
		{"the required fields alone", `{"name":"Rex","categoryId":1}`, rex},
		{"white space around everything", " {\t\"name\" :\r\n\"Rex\" , \"categoryId\": 1 }\n ", rex},
		{"fields in another order", `{"status":"available","categoryId":1,"name":"Rex"}`, rex},
		{"each other status", `{"name":"Rex","categoryId":1,"status":"sold"}`, with(func(p *petstore.NewPet) { p.Status = petstore.Sold })},
		{"a status that is written with escapes", `{"name":"Rex","categoryId":1,"status":"p\u0065nding"}`, with(func(p *petstore.NewPet) { p.Status = petstore.Pending })},
		{"a field name that is written with escapes", `{"n\u0061me":"Rex","\u0063ategoryId":1}`, rex},
		{"unknown fields are ignored, id among them", `{"id":9,"name":"Rex","categoryId":1,"tags":[{"a":null},[1.5e3]],"owner":{"name":2}}`, rex},
		{"field names are case-sensitive: others are unknown", `{"Name":1,"NAME":2,"name":"Rex","categoryID":"x","categoryId":1,"Status":null}`, rex},
		{"a name is kept verbatim", `{"name":"  Zoë\t\"<\u00e9&>\" \ud83d\udc15\u2028 ","categoryId":1}`, named("  Zoë\t\"<é&>\" 🐕\u2028 ")},
		{"a name of one character", `{"name":"é","categoryId":1}`, named("é")},
		{"a name of 1,000 code points", `{"name":"` + strings.Repeat("🐕", 1000) + `","categoryId":1}`, named(strings.Repeat("🐕", 1000))},
		{"a category of zero", `{"name":"Rex","categoryId":0}`, category(0)},
		{"a category of minus zero", `{"name":"Rex","categoryId":-0}`, category(0)},
		{"a negative category", `{"name":"Rex","categoryId":-7}`, category(-7)},
		{"the greatest category", `{"name":"Rex","categoryId":9223372036854775807}`, category(math.MaxInt64)},
		{"the least category", `{"name":"Rex","categoryId":-9223372036854775808}`, category(math.MinInt64)},
		{"the greatest category in another notation", `{"name":"Rex","categoryId":92233720368547758070.00e-1}`, category(math.MaxInt64)},
		{"1.0 is a whole number", `{"name":"Rex","categoryId":1.0}`, rex},
		{"1e2 is a whole number", `{"name":"Rex","categoryId":1e2}`, category(100)},
		{"1.5E+1 is a whole number", `{"name":"Rex","categoryId":1.5E+1}`, category(15)},
		{"a zero with a huge exponent is zero", `{"name":"Rex","categoryId":0e999999999999}`, category(0)},
		{"nesting deep in a field that is ignored", `{"name":"Rex","categoryId":1,"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, rex},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			got, err := decodeNewPet([]byte(c.body))
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestRefusalOfABodyNamesEveryFaultyField(t *testing.T) {
	for _, c := range []struct{ body, message string }{
		{`{}`, "name is required; categoryId is required."},
		{`{"name":"Rex"}`, "categoryId is required."},
		{`{"name":1}`, "name must be a string; categoryId is required."},
		{`{"name":"","categoryId":1}`, "name must not be empty."},
		{`{"name":" \u00a0\t","categoryId":1}`, "name must not be only white space."},
		{`{"name":null,"categoryId":"1","status":null}`, "name must be a string; categoryId " + notWhole + "; status must be one of available, pending, sold."},
		{`{"categoryId":1.5,"status":"lost"}`, "name is required; categoryId " + notWhole + "; status must be one of available, pending, sold."},
	} {
		_, err := decodeNewPet([]byte(c.body))
		if err == nil || err.Error() != c.message {
			t.Errorf("%s:\n got %v\nwant %s", c.body, err, c.message)
		}
	}
}

func TestRefusalOfABodySaysWhatItIs(t *testing.T) {
	for _, c := range []struct {
		body    string
		message string
	}{
		{" \n", "The body is empty. Send a JSON object with name and categoryId."},
		{`[{"name":"Rex","categoryId":1}]`, "The body is not a JSON object. Send one with name and categoryId."},
		{`{"name":"Rex","categoryId":1} {}`, "There is more after the JSON object that is the body. Send one object only."},
		{`{"name":"Rex","name":"Max"}`, "The body has the same field twice (at byte 14). Send each field once."},
		{`{"name":"Rex",}`, "The body is not valid JSON (at byte 13). It must be one JSON object in UTF-8."},
	} {
		_, err := decodeNewPet([]byte(c.body))
		if err == nil || err.Error() != c.message || !petstore.IsCode(err, petstore.InvalidJSON) {
			t.Errorf("%s:\n got %v\nwant %s", c.body, err, c.message)
		}
	}
}

func TestWholeNumbersAreThoseOfArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		want, whole := new(big.Rat), false
		if _, ok := want.SetString(number); ok {
			whole = want.IsInt() && want.Num().IsInt64()
		}
		got, ok := parseWhole([]byte(number))
		if ok != whole || (ok && got != want.Num().Int64()) {
			t.Fatalf("%s is read as %d, %v; arithmetic says %s, %v", number, got, ok, want, whole)
		}
	})
}

func TestHugeExponentIsRefusedWithoutWork(t *testing.T) {
	for _, number := range []string{"1e999999999", "1E+99999999999999999999999", "1e-999999999", "-0.1e99999999999999999999"} {
		if n, ok := parseWhole([]byte(number)); ok {
			t.Errorf("%s is read as %d", number, n)
		}
		if allocated := testing.AllocsPerRun(10, func() { parseWhole([]byte(number)) }); allocated > 1 {
			t.Errorf("%s costs %v allocations", number, allocated)
		}
	}
}
