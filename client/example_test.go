package client_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"testing"
	"time"

	"petstore/client"
)

// The variable EXAMPLE_SERVER names an empty store and EXAMPLE_KEY a key for it. The examples call that store. The package
// internal/clienttest runs the examples on the real service. Without a store, go test only compiles them.
func TestMain(m *testing.M) {
	if os.Getenv("EXAMPLE_SERVER") == "" {
		flag.Set("test.skip", "^Example")
	}
	m.Run()
}

// openExample returns a client for the store of the examples. The first example shows how to make a client.
func openExample() *client.Client {
	store, err := client.New(os.Getenv("EXAMPLE_SERVER"), os.Getenv("EXAMPLE_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	return store
}

func Example() {
	ctx := context.Background()
	store, err := client.New(os.Getenv("EXAMPLE_SERVER"), os.Getenv("EXAMPLE_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"Biscuit", "Olive", "Pepper"} {
		if _, err := store.CreatePet(ctx, client.NewPet{Name: name, CategoryID: 1}); err != nil {
			log.Fatal(err)
		}
	}
	for pet, err := range store.Pets(ctx, client.PetQuery{Status: client.Available}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pet.ID, pet.Name)
	}
	fmt.Println(store.Limits().Limit, "requests a minute")
	// Output:
	// 3 Pepper
	// 2 Olive
	// 1 Biscuit
	// 1000 requests a minute
}

func ExampleClient_ListPets() {
	store := openExample()
	ctx := context.Background()
	for _, name := range []string{"Biscuit", "Olive", "Pepper"} {
		store.CreatePet(ctx, client.NewPet{Name: name, CategoryID: 1})
	}

	query := client.PetQuery{Status: client.Available, Limit: 2}
	for {
		page, err := store.ListPets(ctx, query)
		if err != nil {
			log.Fatal(err)
		}
		for _, pet := range page.Items {
			fmt.Println(pet.Name)
		}
		if page.Next == "" {
			break
		}
		fmt.Println("and on the next page")
		query.Cursor = page.Next
	}
	// Output:
	// Pepper
	// Olive
	// and on the next page
	// Biscuit
}

func ExampleClient_Pets() {
	store := openExample()
	ctx := context.Background()
	for _, name := range []string{"Biscuit", "Olive", "Pepper"} {
		store.CreatePet(ctx, client.NewPet{Name: name, CategoryID: 1})
	}

	// Pets requests the next page only when the loop needs it.
	for pet, err := range store.Pets(ctx, client.PetQuery{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(pet.Name)
		if pet.Name == "Olive" {
			break
		}
	}
	// Output:
	// Pepper
	// Olive
}

func ExampleClient_UpdatePet() {
	store := openExample()
	ctx := context.Background()

	pet, _ := store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1})
	pet, err := store.UpdatePet(ctx, pet.ID, client.PetPatch{Status: new(client.Sold)})
	fmt.Println(pet.Name, pet.Status, err)
	// Output: Biscuit sold <nil>
}

func ExampleClient_PlaceOrder() {
	store := openExample()
	ctx := context.Background()

	pet, _ := store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1})
	order, _ := store.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID, Hold: time.Hour})
	_, err := store.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID})
	fmt.Println("a second order:", errors.Is(err, client.ErrPetUnavailable))
	order, _ = store.CompleteOrder(ctx, order.ID)
	fmt.Println("the first one:", order.Status)
	// Output:
	// a second order: true
	// the first one: completed
}

func ExampleClient_Events() {
	store := openExample()
	ctx := context.Background()
	pet, _ := store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1})
	store.UpdatePet(ctx, pet.ID, client.PetPatch{Status: new(client.Sold)})

	for event, err := range store.Events(ctx, client.EventQuery{Types: []client.EventType{"pet.*"}}) {
		if err != nil {
			log.Fatal(err)
		}
		pet, err := event.Pet()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Sequence, event.Type, pet.Name, pet.Status)
	}
	// Output:
	// 1 pet.created Biscuit available
	// 2 pet.updated Biscuit sold
}

func ExampleClient_Follow() {
	store := openExample()
	ctx := context.Background()

	// The copy holds all animals of the store. The place in the feed is taken first, so that the copy misses no change.
	page, err := store.ListEvents(ctx, client.EventQuery{After: client.Now})
	if err != nil {
		log.Fatal(err)
	}
	animals := map[int64]string{}
	for pet, err := range store.Pets(ctx, client.PetQuery{}) {
		if err != nil {
			log.Fatal(err)
		}
		animals[pet.ID] = pet.Name
	}
	store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1}) // somebody changes the store

	for event, err := range store.Follow(ctx, client.FollowOptions{After: page.Next, Types: []client.EventType{"pet.*"}}) {
		if err != nil {
			log.Fatal(err)
		}
		pet, err := event.Pet()
		if err != nil {
			log.Fatal(err)
		}
		if animals[pet.ID] = pet.Name; event.Type == client.PetDeleted {
			delete(animals, pet.ID)
		}
		fmt.Println(event.Type, animals)
		break // a real program goes on
	}
	// Output: pet.created map[1:Biscuit]
}

func ExampleWithIdempotencyKey() {
	store := openExample()
	ctx := context.Background()

	// The loop runs the import twice, but its row is added once.
	for range 2 {
		var meta client.Meta
		pet, _ := store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1},
			client.WithIdempotencyKey("import 2026-11-15, row 1"), client.WithMeta(&meta))
		fmt.Println(pet.ID, meta.Status, meta.Replayed)
	}
	// Output:
	// 1 201 false
	// 1 201 true
}

func ExampleError() {
	store := openExample()

	_, err := store.CreatePet(context.Background(), client.NewPet{Name: " ", CategoryID: 1})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Code)
		fmt.Println(refused.Message)
	}
	// Output:
	// 400 invalid_field
	// name must not be only white space.
}
