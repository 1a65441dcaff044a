package transfer

import (
	"errors"
	"fmt"

	"petstore/internal/petstore"
	"petstore/internal/strictjson"
)

// animal describes a line of JSON Lines. Package petstore has the rules for the fields.
var animal = strictjson.Shape[petstore.NewPet]{
	strictjson.Required("name", func(p *petstore.NewPet, v strictjson.Value) string {
		return strictjson.ReadText(&p.Name, v, petstore.CheckPetName)
	}),
	strictjson.Required("categoryId", func(p *petstore.NewPet, v strictjson.Value) string {
		return strictjson.ReadWhole(&p.CategoryID, v)
	}),
	strictjson.Optional("status", func(p *petstore.NewPet, v strictjson.Value) string {
		text, _ := strictjson.Unquote(v) // text is "" if v is not a string; "" is not a status
		p.Status, _ = petstore.ParseStatus(text)
		return petstore.CheckStatus(p.Status)
	}),
}

// parseObject reads a line of JSON Lines. An animal without a status gets the status available.
func parseObject(line []byte) (petstore.NewPet, error) {
	pet := petstore.NewPet{Status: petstore.Available}
	if err := animal.Decode(line, &pet); err != nil {
		return pet, badObject(err)
	}
	return pet, nil
}

// badObject says why a line of JSON Lines is not an animal.
func badObject(err error) error {
	bad, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return err
	}
	switch bad.Kind {
	case strictjson.BadMembers:
		var faults petstore.Faults
		for _, fault := range bad.Faults {
			faults = append(faults, petstore.Fault(fault))
		}
		return unreadable(faults.String() + ".")
	case strictjson.Empty, strictjson.NotObject:
		return unreadable("The line is not a JSON object. Write one with name and categoryId.")
	case strictjson.TooManyNames:
		return unreadable("The line has more than 1,000 fields. Write name and categoryId only.")
	case strictjson.TrailingData:
		return unreadable("There is more after the JSON object in the line. Write one object only.")
	case strictjson.DuplicateName:
		return unreadable(fmt.Sprintf("The line has the same field twice (at byte %d). Write each field once.", bad.Offset))
	}
	return unreadable(fmt.Sprintf("The line is not valid JSON (at byte %d). It must be one JSON object in UTF-8.", bad.Offset))
}
