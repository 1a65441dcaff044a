// Command clients calls a server with the client that oapi-codegen generated.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"clients/petstore"
)

func connect(key string) *petstore.ClientWithResponses {
	client, err := petstore.NewClientWithResponses(os.Getenv("SERVER")+"/v1", petstore.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	must(err)
	return client
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func want(ok bool, what string, body []byte) {
	if !ok {
		log.Fatalf("%s: %s", what, body)
	}
}

func main() {
	ctx := context.Background()
	client := connect(os.Getenv("KEY"))

	added, err := client.CreatePetWithResponse(ctx, nil, petstore.NewPet{Name: "Biscuit", CategoryId: 1})
	must(err)
	want(added.JSON201 != nil && added.JSON201.Status == petstore.Available, "an animal is added without a status", added.Body)
	id := added.JSON201.Id

	listed, err := client.ListPetsWithResponse(ctx, &petstore.ListPetsParams{Id: &id})
	must(err)
	want(listed.JSON200 != nil && len(*listed.JSON200) == 1, "the animal is listed", listed.Body)

	name := "Olive"
	changed, err := client.UpdatePetWithResponse(ctx, id, nil, petstore.PetPatch{Name: &name})
	must(err)
	want(changed.JSON200 != nil && changed.JSON200.Name == name, "the animal is changed", changed.Body)

	placed, err := client.PlaceOrderWithResponse(ctx, nil, petstore.NewOrder{PetId: id})
	must(err)
	want(placed.JSON201 != nil && placed.JSON201.ClosedAt == nil, "an order is placed", placed.Body)

	completed, err := client.CompleteOrderWithResponse(ctx, placed.JSON201.Id, nil)
	must(err)
	want(completed.JSON200 != nil && completed.JSON200.Status == petstore.Completed && completed.JSON200.ClosedAt != nil, "the order is completed", completed.Body)

	again, err := client.PlaceOrderWithResponse(ctx, nil, petstore.NewOrder{PetId: id})
	must(err)
	want(again.JSON409 != nil && again.JSON409.Code == petstore.ErrorCodePetUnavailable, "a sold animal is not ordered", again.Body)

	refused, err := connect("no key at all").ListPetsWithResponse(ctx, nil)
	must(err)
	want(refused.JSON401 != nil && refused.JSON401.Code == petstore.ErrorCodeUnauthorized, "a bad key is refused", refused.Body)
}
