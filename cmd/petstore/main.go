// Command petstore serves the pet store API, manages its keys and its database, and calls servers as a client.
//
// The struct cli in cli.go is the whole command line. The commands themselves are in the packages service, keys, manage, remote
// and transfer; each has a method Run.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2) // room for two signals that arrive at the same time
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals // a second signal ends the process immediately
		os.Exit(1)
	}()
	for _, warning := range unknownVariables(kong.Must(&cli{}).Model, os.Environ()) {
		terminal.WaitForReader(func() { fmt.Fprintln(os.Stderr, "petstore:", warning) })
	}
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	if err != nil {
		terminal.WaitForReader(func() { fmt.Fprintln(os.Stderr, "petstore:", petstore.Redact(err.Error())) })
	}
	os.Exit(exitStatus(err))
}
