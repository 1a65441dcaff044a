package transfer

import (
	"errors"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

func TestACategoryIsFoundByItsName(t *testing.T) {
	stored := []petstore.Category{{ID: 1, Name: "Dogs"}, {ID: 2, Name: "cats"}, {ID: 3, Name: "CATS"}, {ID: 4, Name: "Größe"}}
	read := 0
	list := func() ([]petstore.Category, error) { read++; return stored, nil }
	var created []string
	create := func(name string) (petstore.Category, error) {
		created = append(created, name)
		return petstore.Category{ID: int64(10 + len(created)), Name: name}, nil
	}
	without, with := &categories{list: list}, &categories{list: list, create: create}
	for _, c := range []struct {
		name          string
		id, idCreated int64 // 0 if the line is bad
		reason        string
	}{
		{"Dogs", 1, 1, ""},
		{"dOGS", 1, 1, ""},
		{"CATS", 3, 3, ""},
		{"Cats", 0, 0, `category "Cats" can mean "cats" or "CATS"; write the name exactly, or write the number of the category.`},
		{"GRÖßE", 4, 4, ""},
		{"Birds", 0, 11, `there is no category "Birds"; add it, or import with --create-categories.`},
		{"BIRDS", 0, 11, `there is no category "BIRDS"; add it, or import with --create-categories.`},
		{strings.Repeat("x", 101), 0, 0, "category must be at most 100 characters long."},
		{"Birds", 0, 11, `there is no category "Birds"; add it, or import with --create-categories.`},
	} {
		for _, all := range []struct {
			*categories
			want int64
		}{{without, c.id}, {with, c.idCreated}} {
			line := petLine{Number: 7, Category: c.name}
			err := all.resolve(&line)
			bad := (*badLine)(nil)
			if all.want == 0 && (!errors.As(err, &bad) || bad.Number != 7 || bad.Reason != c.reason) || all.want != 0 && (err != nil || line.Pet.CategoryID != all.want) {
				t.Errorf("%q with create %v: %d, %v", c.name, all.create != nil, line.Pet.CategoryID, err)
			}
		}
	}
	if read != 2 || strings.Join(created, " ") != "Birds" {
		t.Errorf("the categories were read %d times, and %q created", read, created)
	}
}

func TestALineWithANumberNeedsNoCategories(t *testing.T) {
	all := &categories{list: func() ([]petstore.Category, error) { return nil, errors.New("out of reach") }}
	if err := all.resolve(&petLine{Pet: petstore.NewPet{CategoryID: 7}}); err != nil {
		t.Error(err)
	}
	if err := all.resolve(&petLine{Category: "Dogs"}); err == nil || err.Error() != "the categories cannot be read: out of reach" {
		t.Error(err)
	}
}
