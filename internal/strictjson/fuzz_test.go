package strictjson

import (
	"encoding/json"
	"testing"

	"petstore/internal/contract"
)

// FuzzDecode compares Decode with a second implementation of the same rules, which uses encoding/json.
func FuzzDecode(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		var got record
		err := recordShape.Decode(text, &got)
		want, valid := oracle(text)
		if valid != (err == nil) {
			t.Fatalf("%q: got the error %v; the oracle accepts it: %v", text, err, valid)
		}
		if err == nil && got != want {
			t.Fatalf("%q is read as %+v, the oracle reads %+v", text, got, want)
		}
	})
}

func oracle(text []byte) (r record, valid bool) {
	members, valid := contract.Members(text)
	if !valid {
		return r, false
	}
	category, isWhole := contract.Whole(members, "categoryId")
	if category != nil {
		r.Category = *category
	}
	isText := func(name string, into *string) bool {
		value := members[name]
		return len(value) > 0 && value[0] == '"' && json.Unmarshal(value, into) == nil && *into != ""
	}
	valid = isText("name", &r.Name) && category != nil && isWhole
	if _, given := members["status"]; given {
		valid = valid && isText("status", &r.Status)
	}
	return r, valid
}
