package httpapi

import (
	"strings"
	"testing"

	"petstore/internal/petstore"
)

// refusalFor returns the code and the message that a client gets for err.
func refusalFor(err error) (code petstore.Code, message string) {
	r := new(exchange).refusalOf(err)
	return r.code, r.message
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
