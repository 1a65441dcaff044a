package httpapi

import (
	"regexp"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/strictjson"
)

// This file reads the bodies of requests. Package petstore has the rules for their fields.

var newPetBody = shape[petstore.NewPet]{"name and categoryId", strictjson.Shape[petstore.NewPet]{
	strictjson.Required("name", func(p *petstore.NewPet, v strictjson.Value) string {
		return strictjson.ReadText(&p.Name, v, petstore.CheckPetName)
	}),
	strictjson.Required("categoryId", func(p *petstore.NewPet, v strictjson.Value) string { return strictjson.ReadWhole(&p.CategoryID, v) }),
	strictjson.Optional("status", func(p *petstore.NewPet, v strictjson.Value) string { return readStatus(&p.Status, v) }),
}}

// readNewPet reads the body of createPet. The default status is available.
func readNewPet(body []byte) (petstore.NewPet, error) {
	pet := petstore.NewPet{Status: petstore.Available}
	err := newPetBody.decode(body, &pet)
	return pet, err
}

var petPatchBody = shape[petstore.PetPatch]{"what is to change: name, categoryId or status", strictjson.Shape[petstore.PetPatch]{
	strictjson.Optional("name", func(p *petstore.PetPatch, v strictjson.Value) string {
		p.Name = new(string)
		return strictjson.ReadText(p.Name, v, petstore.CheckPetName)
	}),
	strictjson.Optional("categoryId", func(p *petstore.PetPatch, v strictjson.Value) string {
		p.CategoryID = new(int64)
		return strictjson.ReadWhole(p.CategoryID, v)
	}),
	strictjson.Optional("status", func(p *petstore.PetPatch, v strictjson.Value) string {
		p.Status = new(petstore.Status)
		return readStatus(p.Status, v)
	}),
}}

// categoryBody is the body of createCategory and of nameCategory. The path of nameCategory has the category id.
var categoryBody = shape[petstore.Category]{"name", strictjson.Shape[petstore.Category]{
	strictjson.Required("name", func(c *petstore.Category, v strictjson.Value) string {
		return strictjson.ReadText(&c.Name, v, petstore.CheckCategoryName)
	}),
}}

var newOrderBody = shape[petstore.NewOrder]{"petId", strictjson.Shape[petstore.NewOrder]{
	strictjson.Required("petId", func(o *petstore.NewOrder, v strictjson.Value) string { return strictjson.ReadWhole(&o.PetID, v) }),
	strictjson.Optional("reference", func(o *petstore.NewOrder, v strictjson.Value) string {
		return strictjson.ReadText(&o.Reference, v, petstore.CheckReference)
	}),
	strictjson.Optional("holdSeconds", func(o *petstore.NewOrder, v strictjson.Value) string { return readHold(&o.Hold, v) }),
}}

var orderPatchBody = shape[petstore.OrderPatch]{"what is to change: reference or holdSeconds", strictjson.Shape[petstore.OrderPatch]{
	strictjson.Optional("reference", func(o *petstore.OrderPatch, v strictjson.Value) string {
		return readRemovable(&o.Reference, v, petstore.CheckReference)
	}),
	strictjson.Optional("holdSeconds", func(o *petstore.OrderPatch, v strictjson.Value) string {
		o.Hold = new(time.Duration)
		return readHold(o.Hold, v)
	}),
}}

var profilePatchBody = shape[petstore.ProfilePatch]{"what is to change: breed, sex, bornOn, arrivedOn, description, tags or notes", strictjson.Shape[petstore.ProfilePatch]{
	strictjson.Optional("breed", func(p *petstore.ProfilePatch, v strictjson.Value) string {
		return readRemovable(&p.Breed, v, petstore.CheckBreed)
	}),
	strictjson.Optional("sex", func(p *petstore.ProfilePatch, v strictjson.Value) string {
		return readRemovable(&p.Sex, v, petstore.CheckSex)
	}),
	strictjson.Optional("bornOn", func(p *petstore.ProfilePatch, v strictjson.Value) string {
		return readRemovable(&p.BornOn, v, petstore.CheckBornOn)
	}),
	strictjson.Optional("arrivedOn", func(p *petstore.ProfilePatch, v strictjson.Value) string {
		return readRemovable(&p.ArrivedOn, v, petstore.CheckArrivedOn)
	}),
	strictjson.Optional("description", func(p *petstore.ProfilePatch, v strictjson.Value) string {
		return readRemovable(&p.Description, v, petstore.CheckDescription)
	}),
	strictjson.Optional("tags", func(p *petstore.ProfilePatch, v strictjson.Value) string { return readTags(&p.Tags, v) }),
	strictjson.Optional("notes", func(p *petstore.ProfilePatch, v strictjson.Value) string {
		return readRemovable(&p.Notes, v, petstore.CheckDescription)
	}),
}}

// keyFields are the members of the bodies of createKey and updateKey. The field now is the time of the request.
type keyFields struct {
	petstore.KeyChange
	now time.Time
}

var newKeyBody = shape[keyFields]{"name", keyMembers(strictjson.Required("name", readKeyName), strictjson.Optional("expiresAt", readEnd))}

var keyPatchBody = shape[keyFields]{
	"what is to change: name, plan, perMinute, perDay, access or expiresAt",
	keyMembers(strictjson.Optional("name", readKeyName), strictjson.Optional("expiresAt", readRemovableEnd)),
}

func keyMembers(name, end strictjson.Member[keyFields]) strictjson.Shape[keyFields] {
	return strictjson.Shape[keyFields]{
		name,
		strictjson.Optional("plan", func(k *keyFields, v strictjson.Value) string { return readChoice(&k.Plan, v, petstore.CheckPlan) }),
		strictjson.Optional("perMinute", func(k *keyFields, v strictjson.Value) string { return readLimit(&k.PerMinute, v) }),
		strictjson.Optional("perDay", func(k *keyFields, v strictjson.Value) string { return readLimit(&k.PerDay, v) }),
		strictjson.Optional("access", func(k *keyFields, v strictjson.Value) string { return readChoice(&k.Access, v, petstore.CheckAccess) }),
		end,
	}
}

func readKeyName(k *keyFields, value strictjson.Value) (problem string) {
	k.Name = new(string)
	return strictjson.ReadText(k.Name, value, petstore.CheckKeyName)
}

// readChoice reads one of a few words.
func readChoice[T ~string](into **T, value strictjson.Value, check func(T) (problem string)) (problem string) {
	word, _ := strictjson.Unquote(value) // word is "", which is never a choice, if the value is not a string
	*into = new(T(word))
	return check(**into)
}

func readLimit(into **int64, value strictjson.Value) (problem string) {
	*into = new(int64)
	strictjson.ReadWhole(*into, value) // stores 0, which is not a valid limit, if value is not a whole number
	return petstore.CheckLimit(**into)
}

// readRemovableEnd reads when a key ends from a patch. For null it stores the zero time, which means never.
func readRemovableEnd(k *keyFields, value strictjson.Value) (problem string) {
	if isNull(value) {
		k.ExpiresAt = new(time.Time)
		return ""
	}
	return readEnd(k, value)
}

func readEnd(k *keyFields, value strictjson.Value) (problem string) {
	text, _ := strictjson.Unquote(value)
	end, err := time.Parse(time.RFC3339, text)
	if err != nil || !rfc3339.MatchString(text) {
		return "must be a time, such as 2027-01-31T12:00:00Z"
	}
	end = end.Truncate(time.Millisecond)
	k.ExpiresAt = &end
	return petstore.CheckEnd(end, k.now)
}

// rfc3339 matches the form of a time. Package time alone also accepts some other forms.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

var rotationBody = shape[petstore.Rotation]{"overlapSeconds, or send nothing", strictjson.Shape[petstore.Rotation]{
	strictjson.Optional("overlapSeconds", func(r *petstore.Rotation, v strictjson.Value) string {
		var seconds int64
		if strictjson.ReadWhole(&seconds, v) != "" {
			seconds = -1 // is not a valid overlap
		}
		r.Overlap = time.Duration(seconds) * time.Second
		return petstore.CheckOverlap(seconds)
	}),
}}

// readRemovable reads a text of a patch. For null it stores the empty text, which removes what is there.
func readRemovable[T ~string](into **T, value strictjson.Value, check func(string) (problem string)) (problem string) {
	*into = new(T)
	if isNull(value) {
		return ""
	}
	var text string
	problem = strictjson.ReadText(&text, value, check)
	**into = T(text)
	return problem
}

// readTags reads the tags of a patch. Like an empty list, null removes those that are there.
func readTags(into **petstore.Tags, value strictjson.Value) (problem string) {
	*into = new(petstore.Tags)
	if isNull(value) {
		return ""
	}
	var tags []string
	problem = strictjson.ReadTexts(&tags, value, petstore.CheckTags)
	**into = petstore.NewTags(tags)
	return problem
}

func isNull(value strictjson.Value) bool { return value.Kind() == 'n' }

// readHold reads the seconds that an order holds its animal.
func readHold(into *time.Duration, value strictjson.Value) (problem string) {
	var seconds int64
	strictjson.ReadWhole(&seconds, value) // stores 0, which is not a valid hold, if value is not a whole number
	*into = time.Duration(seconds) * time.Second
	return petstore.CheckHold(seconds)
}
