package httpapi

import (
	"math"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

const notWhole = "must be a whole number from -9223372036854775808 to 9223372036854775807"

// refusalFor returns the code and the message that a client gets for err.
func refusalFor(err error) (code petstore.Code, message string) {
	r := new(exchange).refusalOf(err)
	return r.code, r.message
}

func TestBodiesOfCreatePetAreRead(t *testing.T) {
	rex := petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}
	with := func(change func(*petstore.NewPet)) petstore.NewPet {
		pet := rex
		change(&pet)
		return pet
	}
	for _, c := range []struct {
		behaviour string
		body      string
		want      petstore.NewPet
	}{
		{"the required fields alone", `{"name":"Rex","categoryId":1}`, rex},
		{"another status", `{"name":"Rex","categoryId":1,"status":"sold"}`, with(func(p *petstore.NewPet) { p.Status = petstore.Sold })},
		{"a status written with escapes", `{"name":"Rex","categoryId":1,"status":"p\u0065nding"}`, with(func(p *petstore.NewPet) { p.Status = petstore.Pending })},
		{"unknown fields are ignored, including id", `{"id":9,"name":"Rex","categoryId":1,"tags":[{"a":null},[1.5e3]],"owner":{"name":2}}`, rex},
		{"a name is kept verbatim", `{"name":"  Zoë\t\"<\u00e9&>\" \ud83d\udc15\u2028 ","categoryId":1}`, with(func(p *petstore.NewPet) { p.Name = "  Zoë\t\"<é&>\" 🐕\u2028 " })},
		{"a name of 1,000 code points", `{"name":"` + strings.Repeat("🐕", 1000) + `","categoryId":1}`, with(func(p *petstore.NewPet) { p.Name = strings.Repeat("🐕", 1000) })},
		{"the least category", `{"name":"Rex","categoryId":-9223372036854775808}`, with(func(p *petstore.NewPet) { p.CategoryID = math.MinInt64 })},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			got, err := readNewPet([]byte(c.body))
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestRefusalOfABodyNamesEveryFaultyField(t *testing.T) {
	for _, c := range []struct {
		body    string
		code    petstore.Code
		message string
	}{
		{`{}`, petstore.MissingField, "name is required; categoryId is required."},
		{`{"name":"Rex"}`, petstore.MissingField, "categoryId is required."},
		{`{"name":1}`, petstore.MissingField, "name must be a string; categoryId is required."},
		{`{"name":"","categoryId":1}`, petstore.InvalidField, "name must not be empty."},
		{`{"name":" \u00a0\t","categoryId":1}`, petstore.InvalidField, "name must not be only white space."},
		{`{"name":null,"categoryId":"1","status":null}`, petstore.InvalidField, "name must be a string; categoryId " + notWhole + "; status must be one of available, pending, sold."},
		{`{"categoryId":1.5,"status":"lost"}`, petstore.MissingField, "name is required; categoryId " + notWhole + "; status must be one of available, pending, sold."},
	} {
		_, err := readNewPet([]byte(c.body))
		if code, message := refusalFor(err); code != c.code || message != c.message {
			t.Errorf("%s:\n got %s %s\nwant %s %s", c.body, code, message, c.code, c.message)
		}
	}
}

func TestRefusalOfABodySaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		body    string
		message string
	}{
		{" \n", "The body is empty. Send a JSON object with name and categoryId."},
		{`[{"name":"Rex","categoryId":1}]`, "The body is not a JSON object. Send one with name and categoryId."},
		{`{"name":"Rex","categoryId":1} {}`, "There is more after the JSON object that is the body. Send one object only."},
		{`{"name":"Rex","name":"Max"}`, "The body has the same field twice (at byte 14). Send each field once."},
		{`{"name":"Rex"`, "The body is not valid JSON (at byte 13). It must be one JSON object in UTF-8."},
		{`{"x":[` + strings.Repeat(`{"a":0},`, 1000) + `0]}`, "The body has more than 1,000 fields. Send name and categoryId only."},
		{`{"name":"Rex",}`, "The body is not valid JSON (at byte 13). It must be one JSON object in UTF-8."},
	} {
		_, err := readNewPet([]byte(c.body))
		if code, message := refusalFor(err); code != invalidJSON || message != c.message {
			t.Errorf("%.60s:\n got %s %s\nwant %s", c.body, code, message, c.message)
		}
	}
}
