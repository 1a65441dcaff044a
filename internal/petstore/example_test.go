package petstore_test

import (
	"fmt"
	"time"

	"petstore/internal/petstore"
)

func ExampleOrder() {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	biscuit := petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: "Biscuit", CategoryID: 1, Status: petstore.Available}}

	order, err := petstore.NewOrder{PetID: biscuit.ID, Hold: time.Hour}.Place(1, biscuit, noon)
	fmt.Println("at noon:", order.AsOf(noon).Status, err)

	closed, err := order.Close(petstore.Completed, noon.Add(30*time.Minute))
	fmt.Println("half an hour later:", closed.Status, "and the animal is", closed.Status.Leaves(), err)

	fmt.Println("if nobody had closed it, an hour later:", order.AsOf(noon.Add(time.Hour)).Status)
	// Output:
	// at noon: open <nil>
	// half an hour later: completed and the animal is sold <nil>
	// if nobody had closed it, an hour later: expired
}

func ExampleBan_Next() {
	now := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	var ban petstore.Ban
	for range 3 {
		ban = ban.Next(now)
		fmt.Println(ban.Until.Sub(ban.Start))
		now = ban.Until
	}
	// Output:
	// 1m0s
	// 2m0s
	// 4m0s
}

func ExampleFaults() {
	var faults petstore.Faults
	faults.Add("name", petstore.CheckPetName(" "))
	faults.Add("status", petstore.CheckStatus(petstore.Sold))
	faults.AddMissing("categoryId")
	fmt.Println(faults)
	// Output: name must not be only white space; categoryId is required
}
