package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alecthomas/kong"

	"petstore/internal/keys"
	"petstore/internal/manage"
	"petstore/internal/petstore"
	"petstore/internal/remote"
	"petstore/internal/service"
	"petstore/internal/terminal"
	"petstore/internal/transfer"
)

// cli is the whole command line. The commands, flags, environment variables, help and completion all come from its fields.
type cli struct {
	Serve       service.Serve       `cmd:"" group:"Run a server:" help:"Serve the API. The first start on an empty database creates a key and prints how to use it."`
	Demo        service.Demo        `cmd:"" group:"Run a server:" help:"Serve a temporary store filled with animals, to try out."`
	Healthcheck service.Healthcheck `cmd:"" group:"Run a server:" help:"Ask the server on this machine whether it is ready. The exit status is 0 if it is, and 1 if not."`

	Keys    keys.Commands  `cmd:"" group:"Administer a database:" help:"Create, list, update, rotate, revoke and unban API keys, and show their usage. With --server or --profile, over the API of a server."`
	Backup  manage.Backup  `cmd:"" group:"Administer a database:" help:"Back up an SQLite database to a new file or to standard output. A server may keep using the database."`
	Restore manage.Restore `cmd:"" group:"Administer a database:" help:"Restore a backup into the SQLite database that --database names. No server may be using the database."`
	Copy    manage.Copy    `cmd:"" group:"Administer a database:" help:"Copy animals with their profiles and photos, categories, orders, keys, events, webhooks and idempotency records into another database. Repeat it to copy later changes, until a server has served from that database."`
	Migrate manage.Migrate `cmd:"" group:"Administer a database:" help:"Migrate the database to this version's schema. Starting a server does that too."`

	Login      remote.Login      `cmd:"" group:"Call a server:" help:"Store the address and the key of a server in a profile, for the commands that call a server."`
	Logout     remote.Logout     `cmd:"" group:"Call a server:" help:"Delete a profile that petstore login has stored."`
	Profiles   remote.Profiles   `cmd:"" group:"Call a server:" help:"List the profiles that petstore login has stored, without their keys."`
	Pets       remote.Pets       `cmd:"" group:"Call a server:" help:"List, add, show, edit and delete animals."`
	Orders     remote.Orders     `cmd:"" group:"Call a server:" help:"List, place, show, change, complete and cancel orders."`
	Categories remote.Categories `cmd:"" group:"Call a server:" help:"List, add, name and delete categories."`
	Inventory  remote.Inventory  `cmd:"" group:"Call a server:" help:"Count the animals by their status."`
	Events     eventsCmd         `cmd:"" group:"Call a server:" help:"List and follow the events of a server. After the recovery of a database, reset its feed of events."`
	Listen     remote.Listen     `cmd:"" group:"Call a server:" help:"Forward the events of a server to a program on this machine, signed as a webhook would."`
	Webhooks   remote.Webhooks   `cmd:"" group:"Call a server:" help:"Create, list, show, edit, delete, rotate and ping webhooks, and list their deliveries."`
	API        remote.API        `cmd:"" name:"api" group:"Call a server:" help:"Send one request to the API with your key, and print the answer."`
	Open       remote.Open       `cmd:"" group:"Call a server:" help:"Open the desk in the browser, signed in with your key."`
	Import     transfer.Import   `cmd:"" group:"Call a server:" help:"Add the animals of a CSV or JSON Lines file to a server or directly to a database. A repeated import adds no line twice."`
	Export     transfer.Export   `cmd:"" group:"Call a server:" help:"Write all animals of a server or a database as CSV or JSON Lines."`

	Version    versionCmd    `cmd:"" group:"Other commands:" help:"Print the version, as --version does."`
	Completion completionCmd `cmd:"" group:"Other commands:" help:"Print a script that completes commands and flags in a shell. Its first lines say where to install it."`
	Help       helpCmd       `cmd:"" group:"Other commands:" help:"Show the help of a command, as --help after the command does."`
}

// eventsCmd are the commands for events. Only the reset works on a database.
type eventsCmd struct {
	List  remote.Events      `cmd:"" default:"withargs" aliases:"ls" help:"List the events of a server, oldest first, or follow them. The word list may be left out."`
	Reset manage.ResetEvents `cmd:"" help:"Give the feed of events in a database a new name, after the database was recovered to an earlier state. No server may be using the database."`
}

const about = `A store API for animals up for adoption: one binary, on an embedded database or on PostgreSQL and Redis.

To try it out, run "petstore demo". To serve from the file petstore.db, run "petstore serve". To work with a server, run "petstore login" and then "petstore pets list".

A flag can also be set by the environment variable that its help names; the flag takes precedence. The exit status is 0 if a command succeeded, 1 if it failed, 2 if the command line or a setting is wrong, and 4 if the key for a server is missing or was refused.`

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, such as keys create. Without it, all commands are listed."`
}

// Run makes the parser print the help, which ends the program.
func (c *helpCmd) Run(command *kong.Context) error {
	_, err := command.Kong.Parse(append(c.Command, "--help"))
	return explainUsage(err)
}

func exitStatus(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(terminal.UsageError)):
		return 2
	case errors.As(err, new(terminal.KeyError)):
		return 4
	}
	return 1
}

// run is the whole program: it parses args and runs the command.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	variables := variables{getenv, map[string]bool{}}
	parser, err := newParser(variables, stdout, stderr)
	if err != nil {
		return err
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case helpPrinted:
		default:
			panic(p)
		}
	}()
	command, err := parser.Parse(expandShorthand(parser.Model, args))
	if err != nil {
		return variables.nameVariables(pointToHelp(explainUsage(err), command))
	}
	command.BindTo(ctx, (*context.Context)(nil))
	err = outcome(ctx, command, command.Run(&terminal.Console{Getenv: getenv, Stdout: stdout, Stderr: stderr, Version: versionName()}))
	return variables.nameVariables(pointToHelp(err, command))
}

func newParser(variables variables, stdout, stderr io.Writer) (*kong.Kong, error) {
	parser, err := kong.New(&cli{},
		kong.Name("petstore"),
		kong.Description(about),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { panic(helpPrinted{}) }),
		kong.Resolvers(kong.ResolverFunc(variables.resolve)),
		kong.ValueFormatter(withVariable),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		return nil, err
	}
	keepGroupsAtTop(parser.Model)
	return parser, explainValues(parser.Model)
}

// keepGroupsAtTop shows the groups of commands only in the help of the program. Without it, subcommands would inherit the
// group of their command, and the help of the command would show that group.
func keepGroupsAtTop(app *kong.Application) {
	for _, command := range app.Children {
		for _, subcommand := range command.Children {
			subcommand.Group = &kong.Group{Key: "commands", Title: "Commands:"}
		}
	}
}

// expandShorthand adds --help if there are no arguments, or if the only argument is a command that needs a subcommand. It turns
// --version into the command version.
func expandShorthand(app *kong.Application, args []string) []string {
	group := func(n *kong.Node) bool {
		return len(args) == 1 && n.Name == args[0] && len(n.Children) > 0 && n.DefaultCmd == nil
	}
	switch {
	case len(args) == 0 || slices.ContainsFunc(app.Children, group):
		return append(args, "--help")
	case args[0] == "--version":
		return slices.Concat([]string{"version"}, args[1:])
	}
	return args
}

// outcome rewrites the error of a command. If the command was interrupted, the new error says what the command has done. If
// the database failed, the new error says so in the words of the command line.
func outcome(ctx context.Context, command *kong.Context, err error) error {
	done := ""
	if c, ok := command.Selected().Target.Addr().Interface().(interruptible); ok {
		done = c.Interrupted()
	}
	if done != "" && err != nil && ctx.Err() != nil {
		return errors.New("stopped; " + done)
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped")
	}
	var refused *petstore.Error
	if !errors.As(err, &refused) || refused.Cause == nil {
		return err
	}
	switch refused.Code {
	case petstore.Unavailable:
		return fmt.Errorf("the database cannot do this right now: %w", refused.Cause)
	case petstore.OutcomeUnknown:
		return fmt.Errorf("the database did not say whether this was done; %s: %w", cmp.Or(done, "petstore keys list shows what was done"), refused.Cause)
	}
	return err
}

// helpPrinted is the value of the panic that stops the parser after the parser has printed the help.
type helpPrinted struct{}

// interruptible is a command that can say what it has done. The program asks when a signal interrupts the command, or when
// the database does not say whether it made a change. The command serve is not interruptible: it shuts down gracefully and
// logs that.
type interruptible interface{ Interrupted() string }
