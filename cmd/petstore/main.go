// Command petstore serves the pet store API and looks after its keys and its database.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	for _, warning := range strangers(kong.Must(&cli{}).Model, os.Environ()) {
		briefly(func() { fmt.Fprintln(os.Stderr, "petstore:", warning) })
	}
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	if err != nil {
		briefly(func() { fmt.Fprintln(os.Stderr, "petstore:", err) })
	}
	os.Exit(exitStatus(err))
}
