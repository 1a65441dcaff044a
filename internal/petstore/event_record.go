package petstore

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Storages keep events in records: JSON arrays of events that have the same time and follow one another. An event is an
// array too, which begins with the number of its type:
//
//	[1,ID,NAME,CATEGORY,STATUS]                                           pet.created, and 3 for pet.deleted
//	[2,ID,NAME,CATEGORY,STATUS,OLD NAME,OLD CATEGORY,OLD STATUS]          pet.updated
//	[4,PET,PROFILE,OLD PROFILE]                                           profile.updated
//	[5,ID,PET,STATUS,REFERENCE,CREATED,EXPIRES,CLOSED]                    order.placed, and 7 to 9 for closed orders
//	[6,ID,PET,STATUS,REFERENCE,CREATED,EXPIRES,CLOSED,OLD REFERENCE,OLD EXPIRES]  order.updated
//	[10,ID,NAME]                                                          category.created, and 12 for category.deleted
//	[11,ID,NAME,OLD NAME]                                                 category.updated
//
// An old value is null if it did not change. Times are milliseconds since 1970; CLOSED is null while the order is open. The
// triggers of the PostgreSQL store write the same form.

// AppendEventRecord appends the record of some events.
func AppendEventRecord(b []byte, events []Event) []byte {
	b = append(b, '[')
	for i, e := range events {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.AppendStored(b)
	}
	return append(b, ']')
}

// AppendStored appends the event as records have it.
func (e Event) AppendStored(b []byte) []byte {
	b = strconv.AppendUint(append(b, '['), uint64(e.Type), 10)
	switch {
	case e.Pet != nil:
		b = appendStoredPet(b, *e.Pet)
	case e.Profile != nil:
		b = appendStoredProfile(b, *e.Profile)
	case e.Order != nil:
		b = appendStoredOrder(b, e.Type, *e.Order)
	case e.Category != nil:
		b = appendNumber(b, e.Category.Now.ID)
		b = appendText(b, e.Category.Now.Name)
		if e.Category.Before != nil {
			b = appendText(b, e.Category.Before.Name)
		}
	}
	return append(b, ']')
}

func appendStoredPet(b []byte, c Changed[Pet]) []byte {
	now := c.Now
	b = appendNumber(b, now.ID)
	b = appendText(b, now.Name)
	b = appendNumber(b, now.CategoryID)
	b = appendNumber(b, int64(now.Status))
	if before := c.Before; before != nil {
		b = appendIf(b, before.Name != now.Name, before.Name, appendText)
		b = appendIf(b, before.CategoryID != now.CategoryID, before.CategoryID, appendNumber)
		b = appendIf(b, before.Status != now.Status, int64(before.Status), appendNumber)
	}
	return b
}

func appendStoredOrder(b []byte, t EventType, c Changed[Order]) []byte {
	now := c.Now
	b = appendNumber(b, now.ID)
	b = appendNumber(b, now.PetID)
	b = appendNumber(b, int64(now.Status))
	b = appendText(b, now.Reference)
	b = appendNumber(b, now.CreatedAt.UnixMilli())
	b = appendNumber(b, now.ExpiresAt.UnixMilli())
	b = appendIf(b, !now.ClosedAt.IsZero(), now.ClosedAt.UnixMilli(), appendNumber)
	if t == OrderUpdated && c.Before != nil {
		// Whoever removes a reference removes it from the feed too.
		b = appendIf(b, c.Before.Reference != now.Reference && now.Reference != "", c.Before.Reference, appendText)
		b = appendIf(b, c.Before.ExpiresAt != now.ExpiresAt, c.Before.ExpiresAt.UnixMilli(), appendNumber)
	}
	return b
}

func appendStoredProfile(b []byte, c Changed[PetProfile]) []byte {
	b = appendNumber(b, c.Now.PetID)
	b = appendJSON(b, c.Now.Profile)
	if c.Before != nil {
		b = appendJSON(b, c.Before.Profile.withoutEqual(c.Now.Profile))
	}
	return b
}

// withoutEqual returns the profile without the members that the other profile has too.
func (p Profile) withoutEqual(other Profile) Profile {
	left := func(mine, its string) string {
		if mine == its {
			return ""
		}
		return mine
	}
	p.Breed, p.Sex = left(p.Breed, other.Breed), Sex(left(string(p.Sex), string(other.Sex)))
	p.BornOn, p.ArrivedOn = left(p.BornOn, other.BornOn), left(p.ArrivedOn, other.ArrivedOn)
	p.Description, p.Notes = left(p.Description, other.Description), left(p.Notes, other.Notes)
	p.Tags = Tags(left(string(p.Tags), string(other.Tags)))
	if slices.Equal(p.Photos, other.Photos) {
		p.Photos = nil
	}
	return p
}

func appendNumber(b []byte, n int64) []byte { return strconv.AppendInt(append(b, ','), n, 10) }

// appendText appends a JSON string. A name rarely needs an escape.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendJSON(b, s)
		}
	}
	b = append(append(b, ',', '"'), s...)
	return append(b, '"')
}

// appendIf appends a value, or null.
func appendIf[T any](b []byte, known bool, value T, appendValue func([]byte, T) []byte) []byte {
	if !known {
		return append(b, ",null"...)
	}
	return appendValue(b, value)
}

func appendJSON(b []byte, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // no value of the domain is without a JSON form
	}
	return append(append(b, ','), text...)
}
