package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kong"
)

type healthcheckCmd struct {
	AdminListen string        `placeholder:"ADDRESS" help:"The --admin-listen of the server; by default the one that serve has by default."`
	Timeout     time.Duration `default:"2s" help:"How long to wait for the answer."`
}

// Run asks /readyz as a load balancer does, for images in which nothing else can.
func (c *healthcheckCmd) Run(ctx context.Context, command *kong.Context, con *console) error {
	if c.AdminListen == "" {
		c.AdminListen = defaultOf(command.Model, "serve", "admin-listen")
	}
	if c.AdminListen == "off" {
		return wrongUsage("--admin-listen is off, so there is nothing to ask; it may be the address that the server has there, such as 127.0.0.1:8081")
	}
	if err := checkAddress("--admin-listen", c.AdminListen); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://petstore/readyz", nil)
	if err != nil {
		return err
	}
	// Go takes an address without a host for this machine, so it is dialled as serve listens on it.
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", c.AdminListen)
	}
	answer, err := (&http.Transport{DialContext: dial}).RoundTrip(request)
	if err != nil {
		return c.unanswered(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s is not ready: it is stopping, or its database does not answer (its log says which)", c.AdminListen)
	}
	fmt.Fprintf(con.stderr, "The server at %s is ready.\n", c.AdminListen)
	return nil
}

func (c *healthcheckCmd) unanswered(err error) error {
	var call *os.SyscallError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server at %s did not answer within %s", c.AdminListen, c.Timeout)
	case errors.As(err, &call):
		return fmt.Errorf("no server answers at %s: %w; --admin-listen may be the address that the server has there", c.AdminListen, call.Err)
	}
	return fmt.Errorf("what answers at %s is no petstore server (%w); --admin-listen may be the address that the server has there", c.AdminListen, err)
}

// defaultOf is the default of another command's flag.
func defaultOf(app *kong.Application, command, flag string) string {
	node := app.Children[slices.IndexFunc(app.Children, func(n *kong.Node) bool { return n.Name == command })]
	return node.Flags[slices.IndexFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == flag })].Default
}
