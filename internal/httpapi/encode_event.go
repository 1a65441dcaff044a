package httpapi

import (
	"slices"
	"strconv"
	"time"

	"petstore/internal/petstore"
)

// encodeEvent returns an event as JSON; see feed.Encode.
func (l links) encodeEvent(feed string, e petstore.Event, private bool) string {
	return buildString(func(b []byte) []byte { return l.appendEvent(b, feed, e, private) })
}

// appendEvent appends one event of a feed. Without private, it leaves out the notes of profiles and the references of orders.
func (l links) appendEvent(b []byte, feed string, e petstore.Event, private bool) []byte {
	b = append(b, `{"id":"`...)
	b = append(b, petstore.EventPosition{Feed: feed, Sequence: e.Sequence}.String()...)
	b = append(b, `","sequence":`...)
	b = strconv.AppendInt(b, e.Sequence, 10)
	b = append(b, `,"type":"`...)
	b = append(b, e.Type.String()...)
	b = appendTime(b, `","timestamp":"`, e.At)
	b = append(b, `,"data":`...)
	switch {
	case e.Pet != nil:
		b = appendPet(b, e.Pet.Now)
		b = appendPrevious(b, e.Pet, appendOldPet)
	case e.Profile != nil:
		b = l.appendEventProfile(b, e.Profile, private)
	case e.Order != nil:
		b = appendEventOrder(b, *e.Order, private)
	case e.Category != nil:
		b = appendCategory(b, e.Category.Now)
		b = appendPrevious(b, e.Category, func(b []byte, before, now petstore.Category) []byte {
			return appendOld(b, `"name":`, before.Name, now.Name, appendString)
		})
	}
	return append(b, '}')
}

// appendPrevious appends the member with the old values of what a change changed, if there are any. The function appendOld
// appends the members of the object, with a comma after each.
func appendPrevious[T any](b []byte, c *petstore.Changed[T], appendOld func(b []byte, before, now T) []byte) []byte {
	if c.Before == nil {
		return b
	}
	start := len(b)
	b = append(b, `,"previous":{`...)
	empty := len(b)
	if b = appendOld(b, *c.Before, c.Now); len(b) == empty {
		return b[:start]
	}
	b[len(b)-1] = '}' // in place of the last comma
	return b
}

// appendOld appends a member and a comma if its value changed and it had one before.
func appendOld[T comparable](b []byte, name string, before, now T, appendValue func([]byte, T) []byte) []byte {
	var none T
	if before == now || before == none {
		return b
	}
	return append(appendValue(append(b, name...), before), ',')
}

func appendOldPet(b []byte, before, now petstore.Pet) []byte {
	b = appendOld(b, `"name":`, before.Name, now.Name, appendString)
	if before.CategoryID != now.CategoryID { // 0 is a value too
		b = append(strconv.AppendInt(append(b, `"categoryId":`...), before.CategoryID, 10), ',')
	}
	return appendOld(b, `"status":`, before.Status.String(), now.Status.String(), appendString)
}

func appendEventOrder(b []byte, c petstore.Changed[petstore.Order], private bool) []byte {
	if !private {
		c.Now.Reference = ""
	}
	b = appendOrder(b, c.Now)
	return appendPrevious(b, &c, func(b []byte, before, now petstore.Order) []byte {
		b = appendOld(b, `"status":`, before.Status.String(), now.Status.String(), appendString)
		if private {
			b = appendOld(b, `"reference":`, before.Reference, now.Reference, appendString)
		}
		return appendOld(b, `"expiresAt":`, before.ExpiresAt, now.ExpiresAt, func(b []byte, t time.Time) []byte { return appendTime(b, `"`, t) })
	})
}

func (l links) appendEventProfile(b []byte, c *petstore.Changed[petstore.PetProfile], private bool) []byte {
	b = append(b, `{"petId":`...)
	b = strconv.AppendInt(b, c.Now.PetID, 10)
	b = append(b, `,"profile":`...)
	b = append(l.appendProfile(b, c.Now.Profile, private), '}')
	return appendPrevious(b, c, func(b []byte, before, now petstore.PetProfile) []byte {
		start := len(b)
		b = append(b, `"profile":{`...)
		empty := len(b)
		if b = l.appendOldProfile(b, before.Profile, now.Profile, private); len(b) == empty {
			return b[:start]
		}
		b[len(b)-1] = '}'
		return append(b, ',')
	})
}

func (l links) appendOldProfile(b []byte, before, now petstore.Profile, private bool) []byte {
	b = appendOld(b, `"breed":`, before.Breed, now.Breed, appendString)
	b = appendOld(b, `"sex":`, string(before.Sex), string(now.Sex), appendString)
	b = appendOld(b, `"bornOn":`, before.BornOn, now.BornOn, appendString)
	b = appendOld(b, `"arrivedOn":`, before.ArrivedOn, now.ArrivedOn, appendString)
	b = appendOld(b, `"description":`, before.Description, now.Description, appendString)
	b = appendOld(b, `"tags":`, before.Tags, now.Tags, func(b []byte, tags petstore.Tags) []byte { return appendList(b, tags.List(), appendString) })
	if private {
		b = appendOld(b, `"notes":`, before.Notes, now.Notes, appendString)
	}
	if len(before.Photos) > 0 && !slices.Equal(before.Photos, now.Photos) {
		b = append(appendList(append(b, `"photos":`...), before.Photos, l.appendPhoto), ',')
	}
	return b
}
