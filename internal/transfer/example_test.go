package transfer_test

import (
	"context"
	"io"
	"log"
	"os"
	"path/filepath"

	"petstore/internal/petstore"
	"petstore/internal/terminal"
	"petstore/internal/transfer"
)

func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "pets.csv")
	if err := os.WriteFile(file, []byte("name,categoryId\nBiscuit,1\nPepper,2\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	database := "sqlite:" + filepath.Join(folder, "pets.db")
	env := map[string]string{"XDG_STATE_HOME": folder} // the folder for the journals of imports
	con := &terminal.Console{Getenv: func(name string) string { return env[name] }, Stdout: os.Stdout, Stderr: io.Discard}

	in := transfer.Import{Environment: petstore.Production, Database: database, File: file, Format: "auto", Concurrency: 1}
	for range 2 { // the second import adds nothing
		if err := in.Run(context.Background(), con); err != nil {
			log.Fatal(err)
		}
	}
	out := transfer.Export{Environment: petstore.Production, Database: database, Format: "csv", Status: "any"}
	if err := out.Run(context.Background(), con); err != nil {
		log.Fatal(err)
	}
	// Output:
	// id,name,categoryId,status
	// 2,Pepper,2,available
	// 1,Biscuit,1,available
}
