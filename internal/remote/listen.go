package remote

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"petstore/client"
	"petstore/client/webhook"
	"petstore/internal/petstore"
	"petstore/internal/profile"
	"petstore/internal/terminal"
)

// Listen is the command that forwards the events of a server to a program, as a webhook would deliver them.
type Listen struct {
	profile.Flags
	eventFlags
	ForwardTo string `required:"" placeholder:"URL" help:"The address to which the events are posted, such as http://localhost:3000/hook."`
	Secret    string `placeholder:"whsec_…" help:"The secret that signs the events. By default, the command makes one and prints it."`
}

// Help explains what listen is for, and shows examples.
func (Listen) Help() string {
	return "Use it to try out a receiver of webhooks on your machine: it needs neither a webhook nor a tunnel, and any key can do it. Every event is sent once, signed like a delivery, and the status of the answer is printed. The command opens a lost connection to the server again, says so, and goes on where it was.\n\n" + examples(
		"petstore listen --forward-to http://localhost:3000/hook",
		"petstore listen --forward-to http://localhost:3000/hook --types 'order.*' --after oldest")
}

// Run forwards events until ctx ends.
func (c *Listen) Run(ctx context.Context, con *terminal.Console) error {
	to, err := url.Parse(c.ForwardTo)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" || to.User != nil {
		return terminal.WrongUsage("--forward-to is %q; it must be an address such as http://localhost:3000/hook", terminal.HideCredentials(c.ForwardTo))
	}
	if c.Secret == "" {
		c.Secret = petstore.NewWebhookSecret()
		con.Say("The secret that signs the events is %s", c.Secret)
	}
	if webhook.CheckSecret(c.Secret) != nil {
		return terminal.WrongUsage("--secret must be whsec_ and a key in base64, as petstore webhooks create prints it")
	}
	return c.With(con, func(store *client.Client) error {
		table := con.Table("EVENT", "TYPE", "ANSWER", "TOOK")
		ready := func() { con.Say("Ready. Events are forwarded to %s.", to) }
		return followEvents(ctx, con, store, c.eventFlags, ready, func(e client.Event) (bool, error) {
			begin := time.Now()
			answer := c.forward(ctx, con, e)
			if ctx.Err() != nil {
				return false, nil
			}
			took := strconv.FormatInt(time.Since(begin).Milliseconds(), 10) + " ms"
			return true, table.Print([][]string{{e.ID, string(e.Type), answer, took}})
		})
	})
}

// forwardTimeout is how long a receiver has for its answer, as with a webhook.
const forwardTimeout = 15 * time.Second

// receivers sends events. Like a webhook, it follows no redirects.
var receivers = &http.Client{
	Timeout:       forwardTimeout,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// forward posts an event and returns the status of the answer, or why there was none.
func (c *Listen) forward(ctx context.Context, con *terminal.Console, e client.Event) string {
	body, now := eventJSON(e), time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.ForwardTo, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "petstore-cli/"+con.Version)
	request.Header.Set(webhook.IDHeader, e.ID)
	request.Header.Set(webhook.TimestampHeader, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(webhook.SignatureHeader, webhook.Sign(c.Secret, e.ID, now, []byte(body)))
	answer, err := receivers.Do(request)
	if err != nil {
		return describeFailure(err)
	}
	answer.Body.Close()
	return answer.Status
}

// describeFailure says in a few words why a receiver did not answer.
func describeFailure(err error) string {
	var failed *url.Error
	var call *os.SyscallError
	switch {
	case errors.As(err, &call):
		return call.Err.Error()
	case errors.As(err, &failed) && failed.Timeout():
		return "no answer within " + terminal.Rough(forwardTimeout)
	case errors.As(err, &failed):
		return failed.Err.Error()
	}
	return err.Error()
}
