package httpapi

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"petstore/internal/contract"
	"petstore/internal/petstore"
)

// expectSame fails the test unless the decoder and the oracle agree about a body.
func expectSame[T any](t *testing.T, body []byte, got T, err error, want T, valid bool) {
	t.Helper()
	if valid != (err == nil) {
		t.Fatalf("%q: got the error %v; the oracle accepts it: %v", body, err, valid)
	}
	if err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is read as %+v, the oracle reads %+v", body, got, want)
	}
	if err == nil {
		return
	}
	if code, _ := refusalFor(err); code != invalidJSON && code != petstore.InvalidField && code != petstore.MissingField {
		t.Fatalf("%q is refused with %v, which is not about the body", body, err)
	}
}

func FuzzPatch(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		var got petstore.PetPatch
		err := petPatchBody.decode(body, &got)
		want, valid := oraclePatch(body)
		expectSame(t, body, got, err, want, valid)
		if err != nil {
			return
		}
		before := petstore.Pet{ID: 1, NewPet: petstore.NewPet{Name: "Rex", CategoryID: 7, Status: petstore.Pending}}
		after, err := before.Patch(got, nil)
		if problem := petstore.CheckPetName(after.Name) + petstore.CheckStatus(after.Status); err != nil || problem != "" {
			t.Fatalf("%q makes %+v of %+v: %v, %s", body, after, before, err, problem)
		}
		if _, err := before.Patch(got, &petstore.Order{ID: 1}); (err == nil) != (after.Status == before.Status) {
			t.Fatalf("%q for an animal that is held: %v", body, err)
		}
	})
}

func oraclePatch(body []byte) (patch petstore.PetPatch, valid bool) {
	members, valid := contract.Members(body)
	if !valid {
		return patch, false
	}
	var nameOK, categoryOK bool
	patch.Name, nameOK = contract.Text(members, "name", 1000)
	patch.CategoryID, categoryOK = contract.Whole(members, "categoryId")
	status, statusOK := contract.Text(members, "status", 1000)
	if status != nil {
		parsed, _ := petstore.ParseStatus(*status)
		patch.Status, statusOK = &parsed, slices.Contains([]string{"available", "pending", "sold"}, *status)
	}
	return patch, nameOK && categoryOK && statusOK
}

func FuzzOrder(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		got := petstore.NewOrder{Hold: petstore.DefaultHold}
		err := newOrderBody.decode(body, &got)
		want, valid := oracleOrder(body)
		expectSame(t, body, got, err, want, valid)
		if err == nil && (got.Hold < petstore.MinHold || got.Hold > petstore.MaxHold) {
			t.Fatalf("%q holds an animal for %s", body, got.Hold)
		}
	})
}

func oracleOrder(body []byte) (order petstore.NewOrder, valid bool) {
	members, valid := contract.Members(body)
	if !valid {
		return order, false
	}
	petID, petOK := contract.Whole(members, "petId")
	reference, referenceOK := contract.Text(members, "reference", 200)
	seconds, holdOK := contract.Whole(members, "holdSeconds")
	order.Hold = 72 * time.Hour
	if seconds != nil {
		order.Hold, holdOK = time.Duration(*seconds)*time.Second, holdOK && *seconds >= 60 && *seconds <= 2592000
	}
	if reference != nil {
		order.Reference = *reference
	}
	if petID != nil {
		order.PetID = *petID
	}
	return order, petOK && petID != nil && referenceOK && holdOK
}

func FuzzCategory(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		got := petstore.Category{ID: 7}
		err := categoryBody.decode(body, &got)
		want, valid := petstore.Category{ID: 7}, false
		if members, ok := contract.Members(body); ok {
			name, ok := contract.Text(members, "name", 100)
			if valid = ok && name != nil; valid {
				want.Name = *name
			}
		}
		expectSame(t, body, got, err, want, valid)
		if err != nil {
			return
		}
		again := petstore.Category{ID: 7}
		if err := categoryBody.decode(appendCategory(nil, got), &again); err != nil || again != got {
			t.Fatalf("%q is read as %+v, written and read again as %+v, %v", body, got, again, err)
		}
	})
}
