package httpapi

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"petstore/internal/petstore"
)

// The bodies that operations take. The rules for their fields are the domain's.

var newPetBody = shape[petstore.NewPet]{"name and categoryId", []member[petstore.NewPet]{
	{"name", true, func(p *petstore.NewPet, v jsontext.Value) string { return readText(&p.Name, v, petstore.CheckPetName) }},
	{"categoryId", true, func(p *petstore.NewPet, v jsontext.Value) string { return readWhole(&p.CategoryID, v) }},
	{"status", false, func(p *petstore.NewPet, v jsontext.Value) string { return readStatus(&p.Status, v) }},
}}

// ReadNewPet reads the body of createPet. An animal without a status is available.
func ReadNewPet(body []byte) (petstore.NewPet, error) {
	pet := petstore.NewPet{Status: petstore.Available}
	err := newPetBody.decode(body, &pet)
	return pet, err
}

var petPatchBody = shape[petstore.PetPatch]{"what is to change: name, categoryId or status", []member[petstore.PetPatch]{
	{"name", false, func(p *petstore.PetPatch, v jsontext.Value) string {
		p.Name = new(string)
		return readText(p.Name, v, petstore.CheckPetName)
	}},
	{"categoryId", false, func(p *petstore.PetPatch, v jsontext.Value) string {
		p.CategoryID = new(int64)
		return readWhole(p.CategoryID, v)
	}},
	{"status", false, func(p *petstore.PetPatch, v jsontext.Value) string {
		p.Status = new(petstore.Status)
		return readStatus(p.Status, v)
	}},
}}

// categoryBody is the body of createCategory, and of nameCategory, which has the number in its path.
var categoryBody = shape[petstore.Category]{"name", []member[petstore.Category]{
	{"name", true, func(c *petstore.Category, v jsontext.Value) string {
		return readText(&c.Name, v, petstore.CheckCategoryName)
	}},
}}

var newOrderBody = shape[petstore.NewOrder]{"petId", []member[petstore.NewOrder]{
	{"petId", true, func(o *petstore.NewOrder, v jsontext.Value) string { return readWhole(&o.PetID, v) }},
	{"reference", false, func(o *petstore.NewOrder, v jsontext.Value) string {
		return readText(&o.Reference, v, petstore.CheckReference)
	}},
	{"holdSeconds", false, func(o *petstore.NewOrder, v jsontext.Value) string {
		var seconds int64
		readWhole(&seconds, v) // seconds stays 0 if v is not a whole number, and 0 is no valid hold
		o.Hold = time.Duration(seconds) * time.Second
		return petstore.CheckHold(seconds)
	}},
}}
