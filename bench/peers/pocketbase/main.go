// Command pocketbase is PocketBase with its default settings and its own command line. It has one public collection of
// animals. The environment variable ANIMALS says how many animals the collection has.
package main

import (
	"log"
	"os"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

func main() {
	app := pocketbase.New()
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		if err := fill(app, os.Getenv("ANIMALS")); err != nil {
			return err
		}
		return e.Next()
	})
	log.Fatal(app.Start())
}

// fill makes the collection. The ids are numbers, padded to the length of PocketBase's own ids.
func fill(app core.App, rows string) error {
	pets := core.NewBaseCollection("pets")
	public := types.Pointer("")
	pets.ListRule, pets.ViewRule, pets.CreateRule = public, public, public
	pets.Fields.Add(
		&core.TextField{Name: "name", Required: true, Max: 1000},
		&core.NumberField{Name: "categoryId", OnlyInt: true},
		&core.SelectField{Name: "status", Values: []string{"available", "pending", "sold"}, MaxSelect: 1},
	)
	if err := app.Save(pets); err != nil {
		return err
	}
	_, err := app.DB().NewQuery(`INSERT INTO pets (id, name, categoryId, status)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST({:rows} AS INTEGER))
		SELECT printf('%015d', i), 'Pet number ' || i, i % 40 + 1, CASE i % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' ELSE 'sold' END FROM n`).
		Bind(dbx.Params{"rows": rows}).Execute()
	return err
}
