package model

// Pet is an animal. The status is the stored status: an order that has expired may not have freed the animal yet.
type Pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"` // empty before the animal is created

	gone   bool
	holder int64 // the id of the order that holds the animal, or 0
}

const (
	available = "available"
	pending   = "pending"
	sold      = "sold"
)

// PetStatuses are the states of an animal.
var PetStatuses = []string{available, pending, sold}

func (p Pet) id() int64     { return p.ID }
func (p Pet) isThere() bool { return p.Status != "" && !p.gone }

// face returns the animal as an answer shows it.
func (p Pet) face() Pet {
	p.holder = 0
	return p
}

// The method with returns a copy of the animal in which the given fields are changed.
func (p Pet) with(f Fields) Pet {
	if f.Name != nil {
		p.Name = *f.Name
	}
	if f.CategoryID != nil {
		p.CategoryID = *f.CategoryID
	}
	if f.Status != nil {
		p.Status = *f.Status
	}
	return p
}

// createPet stores an animal with a new id. The animal is available unless the body has another status.
func (s State) createPet(op *Operation) []outcome {
	if get(s.Pets, op.ID).Status != "" || s.isWhole() && len(s.Pets) > 0 && op.ID < s.Pets[len(s.Pets)-1].ID {
		return nil
	}
	p := Pet{ID: op.ID, Status: available}.with(op.Fields)
	return []outcome{{next: s.withPet(op, p), status: 201, body: p}}
}

func (s State) getPet(op *Operation) []outcome {
	return each(s.freed(op, op.ID, false), func(s State) outcome {
		p := get(s.Pets, op.ID)
		if !p.isThere() {
			return refused(s, "not_found", "")
		}
		return outcome{next: s, status: 200, body: p.face()}
	})
}

// updatePet changes the fields that the body has. While an open order holds the animal, the status cannot change.
func (s State) updatePet(op *Operation) []outcome {
	return each(s.freed(op, op.ID, true), func(s State) outcome {
		before := get(s.Pets, op.ID)
		after := before.with(op.Fields)
		switch {
		case !before.isThere():
			return refused(s, "not_found", "")
		case before.holder != 0 && after.Status != before.Status:
			return s.reserved(before)
		}
		return outcome{next: s.withPet(op, after), status: 200, body: after.face()}
	})
}

// deletePet removes an animal that no open order holds. The store never uses the animal's id again.
func (s State) deletePet(op *Operation) []outcome {
	return each(s.freed(op, op.ID, true), func(s State) outcome {
		p := get(s.Pets, op.ID)
		switch {
		case !p.isThere():
			return refused(s, "not_found", "")
		case p.holder != 0:
			return s.reserved(p)
		}
		p.gone = true
		return outcome{next: s.withPet(op, p), status: 204}
	})
}

// listPets shows all animals of the page in the state that they have at one moment.
func (s State) listPets(op *Operation) []outcome {
	is := func(p Pet) (Pet, bool) { return p.face(), p.isThere() && op.Page.Selects(p.Status) }
	for _, p := range s.Pets {
		s = first(s.freed(op, p.ID, false), func(s State) bool {
			face, isThere := is(get(s.Pets, p.ID))
			return shows(op.Pets, face, isThere && op.Page.Covers(p.ID))
		})
	}
	return listed(s, op, op.Pets, s.Pets, is)
}

// Inventory counts the animals of each status.
type Inventory struct {
	Available int `json:"available"`
	Pending   int `json:"pending"`
	Sold      int `json:"sold"`
}

// getInventory counts all animals. The counts may be the first answer to show that orders have expired.
func (s State) getInventory(op *Operation) []outcome {
	count, late := make(map[string]int), 0
	for _, p := range s.Pets {
		if p.isThere() {
			count[p.Status]++
		}
		late += len(s.freed(op, p.ID, false)) - 1
	}
	freed := op.Inventory.Available - count[available]
	if freed < 0 || freed > late || op.Inventory.Pending != count[pending]-freed || op.Inventory.Sold != count[sold] {
		return nil
	}
	return []outcome{{next: s, status: 200}}
}
