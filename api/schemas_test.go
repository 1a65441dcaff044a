package api

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"

	"petstore/internal/petstore"
)

func TestErrorHasExactlyThreeFields(t *testing.T) {
	schema := document(t).Components.Schemas["Error"].Value
	fields := slices.Sorted(maps.Keys(schema.Properties))
	if want := []string{"code", "message", "status"}; !slices.Equal(fields, want) || !slices.Equal(schema.Required, want) {
		t.Errorf("fields are %q, required %q, want both %q", fields, schema.Required, want)
	}
	if has := schema.AdditionalProperties.Has; has == nil || *has {
		t.Error("an Error may have other fields")
	}
}

func TestTextSchemasAgreeWithTheDomain(t *testing.T) {
	texts := []string{
		"", "a", " a ", "\n", "a\n", "\ta\x00", "\x00", "Zoë 🐕", "\ufeff", "\u200b", "\u0085", "\u00a0",
		"\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000", "\v\f\r \t", "\x1c",
	}
	for _, length := range []int{50, 51, 99, 100, 101, 200, 201, 1000, 1001, 10_000, 10_001} {
		texts = append(texts, strings.Repeat("é", length), strings.Repeat("🐕", length), strings.Repeat(" ", length))
	}
	for name, check := range map[string]func(string) string{
		"Name": petstore.CheckPetName, "CategoryName": petstore.CheckCategoryName, "Reference": petstore.CheckReference, "KeyName": petstore.CheckKeyName,
		"Breed": petstore.CheckBreed, "Description": petstore.CheckDescription, "Tag": func(tag string) string { return petstore.CheckTags([]string{tag}) },
	} {
		schema := document(t).Components.Schemas[name].Value
		for _, text := range texts {
			stored := check(text) == ""
			described := schema.VisitJSON(text, openapi3.EnableJSONSchema2020()) == nil
			if stored != described {
				t.Errorf("%s %.40q: stored %v, described as allowed %v", name, text, stored, described)
			}
		}
	}
}

// Code generators copy a pattern into programs, and some of them replace an escaped \u by the character itself.
func TestPatternsCanBeCopiedIntoPrograms(t *testing.T) {
	escaped := regexp.MustCompile(`\\u([0-9A-F]{4})`)
	for _, text := range [][]byte{YAML, JSON} {
		for i, line := range strings.Split(string(text), "\n") {
			if !strings.Contains(line, "pattern:") && !strings.Contains(line, `"pattern":`) {
				continue
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("line %d has characters that are not printable ASCII: %q", i+1, line)
			}
			for _, escape := range escaped.FindAllStringSubmatch(line, -1) {
				if r, _ := strconv.ParseUint(escape[1], 16, 16); unicode.IsControl(rune(r)) || r == 0x2028 || r == 0x2029 {
					t.Errorf("line %d: %s would break the line in a program", i+1, escape[0])
				}
			}
		}
	}
}

func TestBodySchemasAcceptWhatTheServerAccepts(t *testing.T) {
	schemas := document(t).Components.Schemas
	for _, c := range []struct {
		schema, body string
		allowed      bool
	}{
		{"NewPet", `{"name":"Olive","categoryId":2}`, true},
		{"NewPet", `{"name":"Olive","categoryId":2,"status":"sold","id":7,"color":"gray"}`, true},
		{"NewPet", `{"name":"Olive","categoryId":-1}`, true},
		{"NewPet", `{"name":"Olive","categoryId":1.0}`, true},
		{"NewPet", `{"name":"Olive"}`, false},
		{"NewPet", `{"categoryId":2}`, false},
		{"NewPet", `{"name":"Olive","categoryId":1.5}`, false},
		{"NewPet", `{"name":"Olive","categoryId":"2"}`, false},
		{"NewPet", `{"name":"Olive","categoryId":2,"status":null}`, false},
		{"NewPet", `{"name":"Olive","categoryId":2,"status":"lost"}`, false},
		{"NewPet", `[]`, false},
		{"PetPatch", `{}`, true},
		{"PetPatch", `{"status":"sold","id":7}`, true},
		{"PetPatch", `{"name":null}`, false},
		{"PetPatch", `{"categoryId":0.5}`, false},
		{"ProfilePatch", `{}`, true},
		{"ProfilePatch", `{"breed":"Beagle","sex":"male","bornOn":"2024","arrivedOn":"2024-02-29","description":"a\nb","tags":["a","A"],"notes":"n","photos":7}`, true},
		{"ProfilePatch", `{"breed":null,"sex":null,"bornOn":null,"arrivedOn":null,"description":null,"tags":null,"notes":null}`, true},
		{"ProfilePatch", `{"bornOn":"2024-05"}`, true},
		{"ProfilePatch", `{"bornOn":"2024-05-17"}`, true},
		{"ProfilePatch", `{"tags":[]}`, true},
		{"ProfilePatch", `{"breed":""}`, false},
		{"ProfilePatch", `{"breed":"a\nb"}`, false},
		{"ProfilePatch", `{"sex":"Male"}`, false},
		{"ProfilePatch", `{"bornOn":"2024-13"}`, false},
		{"ProfilePatch", `{"bornOn":2024}`, false},
		{"ProfilePatch", `{"arrivedOn":"2024-05"}`, false},
		{"ProfilePatch", `{"description":" "}`, false},
		{"ProfilePatch", `{"tags":["a","a"]}`, false},
		{"ProfilePatch", `{"tags":["a",""]}`, false},
		{"ProfilePatch", `{"tags":"a"}`, false},
		{"ProfilePatch", `{"tags":[1]}`, false},
		{"NewCategory", `{"name":"Cats","id":7}`, true},
		{"NewCategory", `{}`, false},
		{"NewOrder", `{"petId":7}`, true},
		{"NewOrder", `{"petId":-7,"reference":"A-1","holdSeconds":60}`, true},
		{"NewOrder", `{"petId":7,"holdSeconds":2592000}`, true},
		{"NewOrder", `{"petId":7,"holdSeconds":59}`, false},
		{"NewOrder", `{"petId":7,"holdSeconds":2592001}`, false},
		{"NewOrder", `{"petId":7,"holdSeconds":null}`, false},
		{"NewOrder", `{"petId":7,"reference":" "}`, false},
		{"NewOrder", `{"reference":"A-1"}`, false},
		{"NewKey", `{"name":"ci","id":7}`, true},
		{"NewKey", `{"name":"ci","plan":"enterprise","perMinute":1,"perDay":9007199254740991,"access":"admin","expiresAt":"2027-01-31T12:00:00.5+01:00"}`, true},
		{"NewKey", `{"name":"ci","expiresAt":null}`, false},
		{"NewKey", `{}`, false},
		{"NewKey", `{"name":"ci","plan":"gold"}`, false},
		{"NewKey", `{"name":"ci","perMinute":0}`, false},
		{"NewKey", `{"name":"ci","perDay":9007199254740992}`, false},
		{"NewKey", `{"name":"ci","access":"owner"}`, false},
		{"NewKey", `{"name":"ci","expiresAt":"tomorrow"}`, false},
		{"KeyPatch", `{}`, true},
		{"KeyPatch", `{"name":"ci","plan":"pro","access":"read","expiresAt":null}`, true},
		{"KeyPatch", `{"perMinute":10}`, true},
		{"KeyPatch", `{"name":null}`, false},
		{"KeyPatch", `{"plan":null}`, false},
		{"KeyRotation", `{}`, true},
		{"KeyRotation", `{"overlapSeconds":0}`, true},
		{"KeyRotation", `{"overlapSeconds":2592000}`, true},
		{"KeyRotation", `{"overlapSeconds":2592001}`, false},
		{"KeyRotation", `{"overlapSeconds":-1}`, false},
		{"KeyRotation", `{"overlapSeconds":null}`, false},
	} {
		var value any
		if err := json.Unmarshal([]byte(c.body), &value); err != nil {
			t.Fatal(err)
		}
		err := schemas[c.schema].Value.VisitJSON(value, openapi3.EnableJSONSchema2020())
		if (err == nil) != c.allowed {
			t.Errorf("%s %s: allowed should be %v, got %v", c.schema, c.body, c.allowed, err)
		}
	}
}
