package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"petstore/internal/terminal"
)

// Healthcheck is the command that asks the server on this machine whether it is ready.
type Healthcheck struct {
	AdminListen string        `default:"127.0.0.1:8081" help:"The admin listener of the server, as in its --admin-listen."`
	Timeout     time.Duration `default:"2s" help:"How long to wait for the answer."`
}

// Run requests /readyz as a load balancer does. Container images use this command because they contain no other program that
// can send a request.
func (c *Healthcheck) Run(ctx context.Context, con *terminal.Console) error {
	if c.AdminListen == "" || c.AdminListen == "off" {
		return terminal.WrongUsage("--admin-listen is off, so there is no listener to ask; give the --admin-listen of the server, such as 127.0.0.1:8081")
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
	// An address without a host, such as :8081, works here as it does for serve, because Go then dials this machine.
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", c.AdminListen)
	}
	answer, err := (&http.Transport{DialContext: dial}).RoundTrip(request)
	if err != nil {
		return c.explain(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s is not ready: it is stopping, or its database does not answer; its log says which", c.AdminListen)
	}
	fmt.Fprintf(con.Stderr, "The server at %s is ready.\n", c.AdminListen)
	return nil
}

// explain says why the server did not answer.
func (c *Healthcheck) explain(err error) error {
	var call *os.SyscallError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server at %s did not answer within %s", c.AdminListen, c.Timeout)
	case errors.As(err, &call):
		return fmt.Errorf("no server answers at %s: %w; give the --admin-listen of the server", c.AdminListen, call.Err)
	}
	return fmt.Errorf("the program at %s is not a petstore server (%w); give the --admin-listen of the server", c.AdminListen, err)
}
