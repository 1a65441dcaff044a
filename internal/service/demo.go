package service

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// Demo is the command that serves a temporary store filled with animals.
type Demo struct {
	Listen string `default:":8080" help:"The address on which the API and its pages listen."`
}

// Run serves a temporary store filled with animals. At the end, it removes the store.
func (c *Demo) Run(ctx context.Context, con *terminal.Console) error {
	folder, err := os.MkdirTemp("", "petstore-demo-")
	if err != nil {
		return fmt.Errorf("the folder for a temporary store cannot be created: %w", err)
	}
	defer os.RemoveAll(folder)
	flags := database.Flags{Environment: petstore.Production, Database: "sqlite:" + filepath.Join(folder, "demo.db")}
	if err := addDemoData(ctx, flags); err != nil {
		return err
	}
	fmt.Fprintf(con.Stdout, "This is a demonstration with %d animals. Open the link below in a browser. Stop with Ctrl-C.\n\n", len(demoAnimals))
	serve := Serve{Flags: flags, StoreName: defaultStoreName, Listen: c.Listen, AdminListen: "off", RateLimits: "on", BodyBudget: 64 << 20, OrderHold: terminal.Duration(petstore.DefaultHold), EventsKeep: terminal.Duration(24 * time.Hour), EventsMost: 64 << 20, LogFormat: "auto", ShutdownTimeout: 5 * time.Second}
	return serve.Run(ctx, con)
}

func addDemoData(ctx context.Context, flags database.Flags) error {
	storage, err := flags.Open(ctx, database.ToServe, database.Watch{})
	if err != nil {
		return err
	}
	defer storage.Close()
	for _, category := range demoCategories {
		if _, _, err := storage.NameCategory(ctx, category, nil); err != nil {
			return err
		}
	}
	for i, animal := range demoAnimals {
		if err := addDemoAnimal(ctx, storage, animal, len(demoAnimals)-i); err != nil {
			return err
		}
	}
	return nil
}

// addDemoAnimal stores an animal that arrived some days ago, and its profile. If demoOrders has an order for the animal,
// addDemoAnimal places the order too.
func addDemoAnimal(ctx context.Context, storage petstore.Storage, animal demoAnimal, daysAgo int) error {
	order, ordered := demoOrders[animal.name]
	if ordered {
		animal.status = petstore.Available
	}
	pet, _, err := storage.CreatePet(ctx, petstore.NewPet{Name: animal.name, CategoryID: animal.category, Status: animal.status}, nil)
	if err != nil {
		return err
	}
	if _, _, err := storage.UpdateProfile(ctx, pet.ID, animal.profile(time.Now(), daysAgo), nil); err != nil || !ordered {
		return err
	}
	_, _, err = storage.PlaceOrder(ctx, petstore.NewOrder{PetID: pet.ID, Reference: order.reference, Hold: order.hold}, nil)
	return err
}
