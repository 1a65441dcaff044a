package httpapi

import (
	"net/url"
	"slices"
	"strconv"
	"testing"

	"petstore/internal/contract"
	"petstore/internal/petstore"
)

func FuzzBody(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		pet, err := readNewPet(body)
		want, valid := oracle(body)
		if valid != (err == nil) {
			t.Fatalf("%q: got the error %v; the oracle accepts it: %v", body, err, valid)
		}
		if err != nil {
			return
		}
		if pet != want {
			t.Fatalf("%q is read as %+v, the oracle reads %+v", body, pet, want)
		}
		if problem := petstore.CheckPetName(pet.Name) + petstore.CheckStatus(pet.Status); problem != "" {
			t.Fatalf("%q is accepted, but its name or status %s", body, problem)
		}
		again, err := readNewPet(appendPet(nil, petstore.Pet{ID: 1, NewPet: pet}))
		if err != nil || again != pet {
			t.Fatalf("%q is read as %+v, written and read again as %+v, %v", body, pet, again, err)
		}
	})
}

// oracle reads a body with a second implementation of the rules, which is in package contract.
func oracle(body []byte) (pet petstore.NewPet, valid bool) {
	members, valid := contract.Members(body)
	if !valid {
		return pet, false
	}
	name, nameOK := contract.Text(members, "name", 1000)
	category, categoryOK := contract.Whole(members, "categoryId")
	if !nameOK || !categoryOK || name == nil || category == nil {
		return pet, false
	}
	pet = petstore.NewPet{Name: *name, CategoryID: *category, Status: petstore.Available}
	if status, ok := contract.Text(members, "status", 1000); !ok || status != nil {
		pet.Status, _ = petstore.ParseStatus(*status)
		valid = ok && slices.Contains([]string{"available", "pending", "sold"}, *status)
	}
	return pet, valid
}

func FuzzQuery(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw string) {
		parsed, err := parsePets(raw)
		q := parsed.PetQuery
		values, malformed := url.ParseQuery(raw)
		if err != nil {
			if code, _ := refusalFor(err); code != invalidParameter {
				t.Fatalf("%q is refused with %v", raw, err)
			}
			return
		}
		if malformed != nil {
			t.Fatalf("%q is read as %+v although %v", raw, q, malformed)
		}
		want := petstore.PetQuery{Limit: 20}
		if parsed.byID != values.Has("id") || (parsed.byID && strconv.FormatInt(parsed.id, 10) != values.Get("id")) {
			t.Fatalf("%q is read as %+v", raw, parsed)
		}
		for _, name := range []string{"limit", "status", "cursor", "id"} {
			if len(values[name]) > 1 {
				t.Fatalf("%q is read as %+v although %s is there twice", raw, q, name)
			}
		}
		if values.Has("limit") {
			want.Limit, _ = strconv.Atoi(values.Get("limit"))
		}
		if want.Status, _ = petstore.ParseStatus(values.Get("status")); values.Has("status") && want.Status == 0 {
			t.Fatalf("%q is read as %+v although there is no such status", raw, q)
		}
		if want.Before = q.Before; values.Has("cursor") && string(appendCursor(nil, petCursor, q.Before)) != values.Get("cursor") {
			t.Fatalf("%q is read as %+v although that has another cursor", raw, q)
		}
		if q != want || q.Limit < 1 || q.Limit > 100 || q.Before < 0 || (q.Before > 0) != values.Has("cursor") {
			t.Fatalf("%q is read as %+v, want %+v", raw, q, want)
		}
	})
}
