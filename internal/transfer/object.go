package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"petstore/internal/petstore"
	"petstore/internal/strictjson"
)

// numbered describes a line of JSON Lines that has the number of its category, and named one that has the name instead. The
// rules for the fields are the domain's.
var (
	numbered = shapeOf(strictjson.Required("categoryId", func(l *petLine, v strictjson.Value) string {
		return strictjson.ReadWhole(&l.Pet.CategoryID, v)
	}))
	named = shapeOf(strictjson.Required("category", readCategory))
)

func shapeOf(category strictjson.Member[petLine]) strictjson.Shape[petLine] {
	shape := strictjson.Shape[petLine]{
		strictjson.Required("name", func(l *petLine, v strictjson.Value) string {
			return strictjson.ReadText(&l.Pet.Name, v, petstore.CheckPetName)
		}),
		category,
		strictjson.Optional("status", func(l *petLine, v strictjson.Value) string {
			text, _ := strictjson.Unquote(v) // no status is an empty text
			l.Pet.Status, _ = petstore.ParseStatus(text)
			return petstore.CheckStatus(l.Pet.Status)
		}),
	}
	for _, fact := range facts {
		shape = append(shape, strictjson.Optional(fact.name, func(l *petLine, v strictjson.Value) string { return fact.readJSON(&l.Facts, v) }))
	}
	return shape
}

// readCategory reads the name of a category, or its number.
func readCategory(l *petLine, v strictjson.Value) (problem string) {
	text, isText := strictjson.Unquote(v)
	if text = strings.TrimSpace(text); isText && text != "" {
		return l.parseCategory(text)
	}
	if strictjson.ReadWhole(&l.Pet.CategoryID, v) != "" {
		return "must be the name of a category, or its number"
	}
	return ""
}

// parseObject reads a line of JSON Lines. An animal without a status is available. A category counts only if there is no
// categoryId.
func parseObject(text []byte) (petLine, error) {
	line, err := decodeObject(text, numbered)
	if lacks(err, "categoryId") {
		if line, err := decodeObject(text, named); !lacks(err, "category") {
			return line, badObject(err)
		}
	}
	return line, badObject(err)
}

func decodeObject(text []byte, shape strictjson.Shape[petLine]) (petLine, error) {
	line := petLine{Pet: petstore.NewPet{Status: petstore.Available}}
	err := shape.Decode(text, &line)
	return line, err
}

// lacks reports whether an error says that a member is missing.
func lacks(err error, name string) bool {
	bad, ok := errors.AsType[*strictjson.Error](err)
	return ok && slices.ContainsFunc(bad.Faults, func(f strictjson.Fault) bool { return f.Missing && f.Field == name })
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
