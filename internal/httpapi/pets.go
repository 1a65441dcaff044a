package httpapi

import (
	"context"
	"net/http"

	"petstore/internal/petstore"
)

func (a *API) listPets(x *exchange) error {
	q, err := parseQuery(x.r.URL.RawQuery, newPetsQuery(), petParameters)
	if err != nil {
		return err
	}
	q.withNotes = q.withProfile && x.seesPrivate()
	page, reused, err := a.lists.get(q, func() (answer, error) { return a.listPage(x.r.Context(), q) })
	if err != nil {
		return err
	}
	if reused {
		a.metrics.answersReused.Inc()
	}
	return x.respondPage(page)
}

func (a *API) listPage(ctx context.Context, q petsQuery) (answer, error) {
	pets, err := a.selectPets(ctx, q)
	if err != nil {
		return answer{}, err
	}
	appendItem := appendPet
	if q.withProfile {
		if appendItem, err = a.appendWithProfile(ctx, q, pets); err != nil {
			return answer{}, err
		}
	}
	return pageOf(pets, q.Limit, appendItem, func(last petstore.Pet) string { return a.links.nextPets(q, last.ID) }), nil
}

func (a *API) selectPets(ctx context.Context, q petsQuery) ([]petstore.Pet, error) {
	switch {
	case !q.byID:
		q.Limit++
		return a.Storage.ListPets(ctx, q.PetQuery)
	case q.id < 1:
		return nil, nil
	case q.Search != "":
		q.ID = q.id
		return a.Storage.ListPets(ctx, q.PetQuery)
	}
	pet, err := a.Storage.GetPet(ctx, q.id)
	switch {
	case petstore.IsCode(err, petstore.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case !q.Selects(pet):
		return nil, nil
	}
	return []petstore.Pet{pet}, nil
}

func (a *API) createPet(x *exchange) error {
	fresh, err := readNewPet(x.body)
	if err != nil {
		return err
	}
	pet, replayed, err := a.Storage.CreatePet(x.r.Context(), fresh, x.idempotency)
	if err != nil {
		return err
	}
	if !replayed {
		a.metrics.created.Inc()
	}
	x.markReplayed(replayed)
	return x.respondCreated(itemURL(a.links.pets, pet.ID), encoded(pet, appendPet))
}

func (a *API) getPet(x *exchange) error {
	pet, err := a.Storage.GetPet(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, encoded(pet, appendPet))
}

func (a *API) updatePet(x *exchange) error {
	var patch petstore.PetPatch
	if err := petPatchBody.decode(x.body, &patch); err != nil {
		return err
	}
	pet, replayed, err := a.Storage.UpdatePet(x.r.Context(), x.id, patch, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return x.respond(http.StatusOK, encoded(pet, appendPet))
}

func (a *API) deletePet(x *exchange) error {
	replayed, err := a.Storage.DeletePet(x.r.Context(), x.id, x.idempotency)
	if err != nil {
		return err
	}
	x.markReplayed(replayed)
	return x.respondEmpty()
}

func (a *API) getInventory(x *exchange) error {
	inventory, err := a.Storage.Inventory(x.r.Context())
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, encoded(inventory, appendInventory))
}
