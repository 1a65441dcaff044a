package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"petstore/internal/petstore"
)

func (a *API) getProfile(x *exchange) error {
	profile, err := a.Storage.GetProfile(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	return a.respondProfile(x, profile)
}

func (a *API) updateProfile(x *exchange) error {
	var patch petstore.ProfilePatch
	if err := profilePatchBody.decode(x.body, &patch); err != nil {
		return err
	}
	profile, replayed, err := a.Storage.UpdateProfile(x.r.Context(), x.id, patch, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return a.respondProfile(x, profile)
}

func (a *API) respondProfile(x *exchange, profile petstore.Profile) error {
	return x.respond(http.StatusOK, buildString(func(b []byte) []byte { return a.links.appendProfile(b, profile, x.seesPrivate()) }))
}

// appendWithProfile returns how to encode each animal of a page with its profile. It reads all profiles in one query.
func (a *API) appendWithProfile(ctx context.Context, q petsQuery, pets []petstore.Pet) (func([]byte, petstore.Pet) []byte, error) {
	ids := make([]int64, 0, q.Limit)
	for _, pet := range pets[:min(len(pets), q.Limit)] {
		ids = append(ids, pet.ID)
	}
	profiles, err := a.Storage.Profiles(ctx, ids)
	return func(b []byte, pet petstore.Pet) []byte {
		b = appendPet(b, pet)
		b = append(b[:len(b)-1], `,"profile":`...) // in place of the brace at the end
		b = a.links.appendProfile(b, profiles[pet.ID], q.withNotes)
		return append(b, '}')
	}, err
}

// appendProfile appends the JSON of a profile, without what is not known.
func (l links) appendProfile(b []byte, p petstore.Profile, withNotes bool) []byte {
	b = append(b, '{')
	b = appendFact(b, `"breed":`, p.Breed)
	b = appendFact(b, `"sex":`, string(p.Sex))
	b = appendFact(b, `"bornOn":`, p.BornOn)
	b = appendFact(b, `"arrivedOn":`, p.ArrivedOn)
	b = appendFact(b, `"description":`, p.Description)
	if p.Tags != "" {
		b = append(b, `"tags":`...)
		b = append(appendList(b, p.Tags.List(), appendString), ',')
	}
	if withNotes {
		b = appendFact(b, `"notes":`, p.Notes)
	}
	b = append(b, `"photos":`...)
	return append(appendList(b, p.Photos, l.appendPhoto), '}')
}

// appendFact appends a member and the comma after it, unless the value is empty.
func appendFact(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, name...)
	return append(appendString(b, value), ',')
}

func (l links) appendPhoto(b []byte, p petstore.Photo) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, p.ID, 10)
	b = append(b, `,"width":`...)
	b = strconv.AppendInt(b, int64(p.Width), 10)
	b = append(b, `,"height":`...)
	b = strconv.AppendInt(b, int64(p.Height), 10)
	b = append(b, `,"url":`...)
	b = appendString(b, l.photos+p.Token+"/1280.jpg")
	b = append(b, `,"thumbnailUrl":`...)
	b = appendString(b, l.photos+p.Token+"/400.jpg")
	b = appendTime(b, `,"createdAt":"`, p.CreatedAt)
	return append(b, '}')
}
