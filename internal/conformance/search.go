package conformance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"petstore/internal/petstore"
)

func (t storageTest) search(text string) []petstore.Pet {
	t.Helper()
	return t.list(petstore.PetQuery{Search: text, Limit: 100})
}

func (t storageTest) names(pets []petstore.Pet) string {
	names := make([]string, len(pets))
	for i, pet := range pets {
		names[i] = pet.Name
	}
	return strings.Join(names, "; ")
}

var searchCases = []storageCase{
	{"a search finds the beginnings of words, newest first, whatever their case and accents", func(t storageTest) {
		for _, name := range []string{"Biscuit", "Ébène, chat noir", "Straße", "ﬁfi", "東京タワー", "Rex 3", "Noir"} {
			t.add(petstore.NewPet{Name: name, Status: petstore.Available})
		}
		for text, want := range map[string]string{
			"bis": "Biscuit", "BISCUIT": "Biscuit", "iscuit": "", "biscuits": "", "eben": "Ébène, chat noir", "noir": "Noir; Ébène, chat noir",
			"noir EBEN": "Ébène, chat noir", "noir rex": "", "strass": "Straße", "fi": "ﬁfi", "京": "東京タワー", "タワ": "東京タワー", "3": "Rex 3", "rex,3": "Rex 3",
		} {
			t.same(fmt.Sprintf("%q", text), t.names(t.search(text)), want)
		}
	}},
	{"nothing in a search is syntax", func(t storageTest) {
		t.add(petstore.NewPet{Name: `near and "not" or c'est 100% *`, Status: petstore.Available})
		t.add(petstore.NewPet{Name: "Rex", Status: petstore.Available})
		for _, text := range []string{`"`, `"near`, "near*", "NEAR(c est)", "c'est", "100%", "and not or", `not" OR "rex`, "near:est", "-near", "^near", "{near}", "near\\", "ne_r", "c'est; DROP TABLE pets"} {
			want := 0
			if words := petstore.Words(text); len(words) > 0 && petstore.FoundBy(petstore.Words(`near and "not" or c'est 100% *`), words) {
				want = 1
			}
			if len(petstore.Words(text)) > 0 {
				t.same(fmt.Sprintf("%q", text), len(t.search(text)), want)
			}
		}
	}},
	{"a search sees every create, change and delete that was acknowledged before", func(t storageTest) {
		pet := t.add(petstore.NewPet{Name: "Rex", Status: petstore.Available})
		t.same("created", t.search("rex"), []petstore.Pet{pet})
		for range 3 {
			pet = t.patch(pet.ID, withName("Max"))
			t.same("the old name", t.names(t.search("rex")), "")
			t.same("the new name", t.search("max"), []petstore.Pet{pet})
			pet = t.patch(pet.ID, withStatus(petstore.Sold))
			t.same("sold", t.search("max"), []petstore.Pet{pet})
			pet = t.patch(pet.ID, withName("Rex"))
			t.same("renamed back", t.search("rex"), []petstore.Pet{pet})
		}
		t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, nil)))
		t.same("deleted", t.names(t.search("rex")), "")
		_, err := t.AddPets(t.Context(), []petstore.NewPet{{Name: "Rex A", Status: petstore.Sold}, {Name: "Rex B", Status: petstore.Sold}}, idempotency("k", 1))
		t.noError(err)
		t.same("added", t.names(t.search("rex")), "Rex B; Rex A")
	}},
	{"a search looks at the breed too, and sees each change of it", func(t storageTest) {
		rex := t.add(petstore.NewPet{Name: "Rex", Status: petstore.Available})
		max := t.add(petstore.NewPet{Name: "Max Rex", Status: petstore.Available})
		found := func(text string, want ...petstore.Pet) {
			t.Helper()
			t.same(fmt.Sprintf("%q", text), t.search(text), append([]petstore.Pet{}, want...))
		}
		for range 3 {
			found("beagle")
			t.updateProfile(rex.ID, withBreed("Épagneul Beagle"))
			found("beagle", rex)
			found("BEAG rex epagneul", rex)
			found("rex", max, rex)
			found("max beagle")
			t.updateProfile(rex.ID, withNotes("Poodle?"))
			found("beagle", rex)
			found("poodle")
			t.updateProfile(rex.ID, withBreed("Poodle"))
			found("beagle")
			found("poodle", rex)
			rex = t.patch(rex.ID, withName("Tom"))
			found("tom poodle", rex)
			found("rex poodle")
			rex = t.patch(rex.ID, withName("Rex"))
			t.updateProfile(rex.ID, withBreed(""))
			found("poodle")
		}
		t.updateProfile(rex.ID, withBreed("Beagle"))
		t.noError(errorOf(t.DeletePet(t.Context(), rex.ID, nil)))
		found("beagle")
		found("rex", max)
	}},
	{"a query for an id selects that animal if the other conditions hold", func(t storageTest) {
		rex := t.add(petstore.NewPet{Name: "Rex", CategoryID: 7, Status: petstore.Available})
		other := t.add(petstore.NewPet{Name: "Rex", Status: petstore.Sold})
		t.updateProfile(rex.ID, withBreed("Beagle"))
		for _, c := range []struct {
			query petstore.PetQuery
			want  []petstore.Pet
		}{
			{petstore.PetQuery{ID: rex.ID}, []petstore.Pet{rex}},
			{petstore.PetQuery{ID: other.ID}, []petstore.Pet{other}},
			{petstore.PetQuery{ID: other.ID + 1}, []petstore.Pet{}},
			{petstore.PetQuery{ID: rex.ID, Search: "rex beagle"}, []petstore.Pet{rex}},
			{petstore.PetQuery{ID: other.ID, Search: "rex beagle"}, []petstore.Pet{}},
			{petstore.PetQuery{ID: rex.ID, Status: petstore.Sold}, []petstore.Pet{}},
			{petstore.PetQuery{ID: rex.ID, OfCategory: true, Category: 7, Before: other.ID}, []petstore.Pet{rex}},
			{petstore.PetQuery{ID: rex.ID, Before: rex.ID}, []petstore.Pet{}},
		} {
			c.query.Limit = 10
			t.same(fmt.Sprintf("%+v", c.query), t.list(c.query), c.want)
		}
	}},
	{"a category selects its animals, with or without a name", func(t storageTest) {
		for i := range 30 {
			t.add(petstore.NewPet{Name: fmt.Sprint("Pet ", i), CategoryID: int64(i%3) - 1, Status: petstore.Available})
		}
		for category := int64(-1); category <= 2; category++ {
			q := petstore.PetQuery{Category: category, OfCategory: true, Limit: 100}
			t.same(fmt.Sprint("category ", category), t.list(q), t.selected(q))
		}
		moved := t.all()[0]
		category := int64(7)
		_, _, err := t.UpdatePet(t.Context(), moved.ID, petstore.PetPatch{CategoryID: &category}, nil)
		t.noError(err)
		for _, c := range []int64{moved.CategoryID, 7} {
			q := petstore.PetQuery{Category: c, OfCategory: true, Limit: 100}
			t.same(fmt.Sprint("after the move ", c), t.list(q), t.selected(q))
		}
	}},
	{"all conditions of a query must hold, and pages follow each other", func(t storageTest) {
		names := []string{"Rex", "Max", "Rex Max", "Olive"}
		for i := range 300 {
			t.add(petstore.NewPet{Name: names[i%4], CategoryID: int64(i % 5), Status: petstore.Statuses[i%3]})
		}
		for _, q := range []petstore.PetQuery{
			{Search: "rex"}, {Search: "rex max"}, {Search: "r"}, {Search: "rex", Status: petstore.Sold}, {Search: "olive", Category: 3, OfCategory: true},
			{Category: 4, OfCategory: true, Status: petstore.Pending}, {Search: "max", Category: 0, OfCategory: true, Status: petstore.Available}, {Search: "zoe"},
		} {
			q.Limit = 1000
			all := t.selected(q)
			t.same(fmt.Sprintf("%+v", q), t.list(q), all)
			var walked []petstore.Pet
			for q.Limit = 7; ; q.Before = walked[len(walked)-1].ID {
				page := t.list(q)
				walked = append(walked, page...)
				if len(page) < q.Limit {
					break
				}
			}
			t.same("page by page", append([]petstore.Pet{}, walked...), all)
		}
	}},
	{"a search agrees with the animals while they change", func(t storageTest) {
		random := rand.New(rand.NewPCG(1, 2))
		words := []string{"Ann", "Anna", "Bo", "Bob", "Çi", "東", "x1"}
		name := func() string { return words[random.IntN(len(words))] + " " + words[random.IntN(len(words))] }
		var pets []petstore.Pet
		for range 400 {
			switch n := random.IntN(10); {
			case n < 5 || len(pets) == 0:
				pets = append(pets, t.add(petstore.NewPet{Name: name(), CategoryID: int64(random.IntN(3)), Status: petstore.Available}))
			case n < 7:
				t.patch(pets[random.IntN(len(pets))].ID, withName(name()))
			case n < 9:
				t.updateProfile(pets[random.IntN(len(pets))].ID, withBreed(name()))
			default:
				i := random.IntN(len(pets))
				t.noError(errorOf(t.DeletePet(t.Context(), pets[i].ID, nil)))
				pets = append(pets[:i], pets[i+1:]...)
			}
			if random.IntN(4) == 0 {
				q := petstore.PetQuery{Search: strings.ToUpper(words[random.IntN(len(words))]), Limit: 1 + random.IntN(60)}
				t.same(fmt.Sprintf("%+v", q), t.list(q), t.selected(q))
			}
		}
	}},
	{"concurrent searches never miss an animal that was there before they began", func(t storageTest) {
		var newest atomic.Int64
		t.concurrently(8, func(i int) error {
			for range 50 {
				if i%2 == 0 {
					pet, _, err := t.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", Status: petstore.Available}, nil)
					if err != nil {
						return err
					}
					for before := newest.Load(); pet.ID > before && !newest.CompareAndSwap(before, pet.ID); before = newest.Load() {
					}
					continue
				}
				known := newest.Load()
				pets, err := t.ListPets(t.Context(), petstore.PetQuery{Search: "rex", Limit: 100})
				if err != nil {
					return err
				}
				if known > 0 && (len(pets) == 0 || pets[0].ID < known) {
					return fmt.Errorf("animal %d is missing", known)
				}
			}
			return nil
		})
	}},
}

// selected returns the animals that a query selects, by the rule of the domain.
func (t storageTest) selected(q petstore.PetQuery) []petstore.Pet {
	t.Helper()
	selected := []petstore.Pet{}
	words := petstore.Words(q.Search)
	for _, pet := range t.all() {
		if q.Selects(pet) && petstore.FoundBy(petstore.WordsOfPet(pet.Name, t.profile(pet.ID).Breed), words) && len(selected) < q.Limit {
			selected = append(selected, pet)
		}
	}
	return selected
}
