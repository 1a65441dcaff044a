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
	Listen string `default:":8080" help:"Where the API and its pages listen."`
}

// Run serves a temporary store with animals in it. The store is removed at the end.
func (c *Demo) Run(ctx context.Context, con *terminal.Console) error {
	folder, err := os.MkdirTemp("", "petstore-demo-")
	if err != nil {
		return fmt.Errorf("there is no place for a temporary store: %w", err)
	}
	defer os.RemoveAll(folder)
	store := database.Flags{Environment: petstore.Production, Database: "sqlite:" + filepath.Join(folder, "demo.db")}
	if err := fillDemo(ctx, store); err != nil {
		return err
	}
	fmt.Fprintf(con.Stdout, "A demonstration with %d animals. Open the link below in a browser; stop it with Ctrl-C.\n\n", len(demoAnimals))
	serve := Serve{Flags: store, Listen: c.Listen, AdminListen: "off", RateLimits: "on", BodyBudget: 64 << 20, OrderHold: terminal.Duration(petstore.DefaultHold), LogFormat: "auto", ShutdownTimeout: 5 * time.Second}
	return serve.Run(ctx, con)
}

func fillDemo(ctx context.Context, store database.Flags) error {
	storage, err := store.Open(ctx, database.ToServe, database.Watch{})
	if err != nil {
		return err
	}
	defer storage.Close()
	for _, category := range demoCategories {
		if _, err := storage.NameCategory(ctx, category); err != nil {
			return err
		}
	}
	for _, animal := range demoAnimals {
		if err := addDemo(ctx, storage, animal); err != nil {
			return err
		}
	}
	return nil
}

// addDemo stores an animal and, if there is one, the order that holds it.
func addDemo(ctx context.Context, storage petstore.Storage, animal petstore.NewPet) error {
	reference, ordered := demoOrders[animal.Name]
	if ordered {
		animal.Status = petstore.Available
	}
	pet, _, err := storage.CreatePet(ctx, animal, nil)
	if err != nil || !ordered {
		return err
	}
	_, _, err = storage.PlaceOrder(ctx, petstore.NewOrder{PetID: pet.ID, Reference: reference, Hold: petstore.DefaultHold}, nil)
	return err
}
