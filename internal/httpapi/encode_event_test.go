package httpapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
)

func TestEventsAreEncodedAsDocumented(t *testing.T) {
	at := time.Date(2026, time.November, 18, 0, 0, 0, 0, time.UTC)
	rex := petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}}
	changedPet := rex
	changedPet.Name, changedPet.CategoryID, changedPet.Status = "Max", 0, petstore.Sold
	order := petstore.Order{ID: 3, PetID: 7, Status: petstore.Open, Reference: "Ann", CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
	renamed, completed, longer := order, order, order
	renamed.Reference = "Bob"
	completed.Status, completed.ClosedAt = petstore.Completed, at.Add(time.Minute)
	longer.ExpiresAt = at.Add(2 * time.Hour)
	photo := petstore.Photo{ID: 4, Token: "aa", Width: 2, Height: 1, CreatedAt: at}
	bare := petstore.Profile{}
	full := petstore.Profile{Facts: petstore.Facts{Breed: "Pug", Sex: petstore.Male, BornOn: "2024", ArrivedOn: "2026-01-02", Description: "d", Tags: petstore.NewTags([]string{"a", "b"}), Notes: "n"}, Photos: []petstore.Photo{photo}}
	notes := full
	notes.Notes = "m"

	const pet = `{"id":7,"name":"Rex","categoryId":1,"status":"available"}`
	const changed = `{"id":7,"name":"Max","categoryId":0,"status":"sold"}`
	const times = `"createdAt":"2026-11-18T00:00:00.000Z","expiresAt":"2026-11-18T01:00:00.000Z"`
	const shownPhoto = `{"id":4,"width":2,"height":1,"url":"/photos/aa/1280.jpg","thumbnailUrl":"/photos/aa/400.jpg","createdAt":"2026-11-18T00:00:00.000Z"}`
	const facts = `"breed":"Pug","sex":"male","bornOn":"2024","arrivedOn":"2026-01-02","description":"d","tags":["a","b"]`
	for _, c := range []struct {
		name         string
		event        petstore.Event
		full, public string // public is empty if it equals full
	}{
		{"a new animal", petstore.PetChanged(nil, &rex), `pet.created|` + pet, ""},
		{"a deleted animal", petstore.PetChanged(&rex, nil), `pet.deleted|` + pet, ""},
		{"a changed animal", petstore.PetChanged(&rex, &changedPet), `pet.updated|` + changed + `|{"name":"Rex","categoryId":1,"status":"available"}`, ""},
		{"an old categoryId of 0", petstore.PetChanged(&changedPet, &petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: "Max", CategoryID: 1, Status: petstore.Sold}}),
			`pet.updated|{"id":7,"name":"Max","categoryId":1,"status":"sold"}|{"categoryId":0}`, ""},
		{"a new category", petstore.CategoryChanged(nil, &petstore.Category{ID: -1, Name: "<Dogs>"}), `category.created|{"id":-1,"name":"\u003cDogs\u003e"}`, ""},
		{"a renamed category", petstore.CategoryChanged(&petstore.Category{ID: 1, Name: "Dog"}, &petstore.Category{ID: 1, Name: "Dogs"}), `category.updated|{"id":1,"name":"Dogs"}|{"name":"Dog"}`, ""},
		{"a deleted category", petstore.CategoryChanged(&petstore.Category{ID: 1, Name: "Dogs"}, nil), `category.deleted|{"id":1,"name":"Dogs"}`, ""},
		{"a new order", petstore.OrderChanged(nil, order),
			`order.placed|{"id":3,"petId":7,"status":"open","reference":"Ann",` + times + `}`,
			`order.placed|{"id":3,"petId":7,"status":"open",` + times + `}`},
		{"a new reference", petstore.OrderChanged(&order, renamed),
			`order.updated|{"id":3,"petId":7,"status":"open","reference":"Bob",` + times + `}|{"reference":"Ann"}`,
			`order.updated|{"id":3,"petId":7,"status":"open",` + times + `}`},
		{"a longer hold", petstore.OrderChanged(&order, longer),
			`order.updated|{"id":3,"petId":7,"status":"open","reference":"Ann","createdAt":"2026-11-18T00:00:00.000Z","expiresAt":"2026-11-18T02:00:00.000Z"}|{"expiresAt":"2026-11-18T01:00:00.000Z"}`,
			`order.updated|{"id":3,"petId":7,"status":"open","createdAt":"2026-11-18T00:00:00.000Z","expiresAt":"2026-11-18T02:00:00.000Z"}|{"expiresAt":"2026-11-18T01:00:00.000Z"}`},
		{"a completed order", petstore.OrderChanged(&order, completed),
			`order.completed|{"id":3,"petId":7,"status":"completed","reference":"Ann",` + times + `,"closedAt":"2026-11-18T00:01:00.000Z"}|{"status":"open"}`,
			`order.completed|{"id":3,"petId":7,"status":"completed",` + times + `,"closedAt":"2026-11-18T00:01:00.000Z"}|{"status":"open"}`},
		{"a first profile", petstore.ProfileChanged(7, bare, full),
			`profile.updated|{"petId":7,"profile":{` + facts + `,"notes":"n","photos":[` + shownPhoto + `]}}`,
			`profile.updated|{"petId":7,"profile":{` + facts + `,"photos":[` + shownPhoto + `]}}`},
		{"a removed profile", petstore.ProfileChanged(7, full, bare),
			`profile.updated|{"petId":7,"profile":{"photos":[]}}|{"profile":{` + facts + `,"notes":"n","photos":[` + shownPhoto + `]}}`,
			`profile.updated|{"petId":7,"profile":{"photos":[]}}|{"profile":{` + facts + `,"photos":[` + shownPhoto + `]}}`},
		{"other notes", petstore.ProfileChanged(7, full, notes),
			`profile.updated|{"petId":7,"profile":{` + facts + `,"notes":"m","photos":[` + shownPhoto + `]}}|{"profile":{"notes":"n"}}`,
			`profile.updated|{"petId":7,"profile":{` + facts + `,"photos":[` + shownPhoto + `]}}`},
	} {
		e := c.event
		e.Sequence, e.At = 1234, at
		if c.public == "" {
			c.public = c.full
		}
		for private, want := range map[bool]string{true: c.full, false: c.public} {
			parts := append(strings.Split(want, "|"), "")
			want = `{"id":"evt_4f7k_1234","sequence":1234,"type":"` + parts[0] + `","timestamp":"2026-11-18T00:00:00.000Z","data":` + parts[1]
			if parts[2] != "" {
				want += `,"previous":` + parts[2]
			}
			want += "}"
			if got := newLinks("").encodeEvent("4f7k", e, private); got != want || !json.Valid([]byte(got)) {
				t.Errorf("%s, private %v:\n got %s\nwant %s", c.name, private, got, want)
			}
		}
	}
}

// What a storage keeps of an event is enough to encode the event as it was.
func TestEventsAreEncodedAlikeAfterTheyWereStored(t *testing.T) {
	at := time.Date(2026, time.November, 18, 0, 0, 0, 0, time.UTC)
	before := petstore.Profile{Facts: petstore.Facts{Breed: "Pug", Notes: "n", Tags: "a"}, Photos: []petstore.Photo{{ID: 4, Token: "aa", CreatedAt: at}}}
	after := before
	after.Breed, after.Photos = "", nil
	old := petstore.Order{ID: 3, PetID: 7, Status: petstore.Open, Reference: "Ann", CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
	changed := old
	changed.Reference, changed.ExpiresAt = "Bob", at.Add(2*time.Hour)
	events := []petstore.Event{petstore.ProfileChanged(7, before, after), petstore.ProfileChanged(7, after, before), petstore.OrderChanged(&old, changed)}
	stored, err := petstore.ReadEventRecord(string(petstore.AppendEventRecord(nil, events)), 1, at)
	noError(t, err)
	for i, e := range events {
		e.Sequence, e.At = int64(i+1), at
		if got, want := newLinks("").encodeEvent("4f7k", stored[i], true), newLinks("").encodeEvent("4f7k", e, true); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
