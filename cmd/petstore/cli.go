package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alecthomas/kong"

	"petstore/internal/manage"
	"petstore/internal/petstore"
	"petstore/internal/remote"
	"petstore/internal/service"
	"petstore/internal/terminal"
	"petstore/internal/transfer"
)

// cli is the whole command line: every flag, its environment variable and its help come from here.
type cli struct {
	Serve       service.Serve       `cmd:"" help:"Serve the API. The first start on an empty database makes a key and prints how to use it."`
	Keys        manage.Keys         `cmd:"" help:"Make, list, change, rotate, revoke and unban API keys."`
	Backup      manage.Backup       `cmd:"" help:"Back up the embedded store to a new file or to standard output. A server may use the store meanwhile."`
	Restore     manage.Restore      `cmd:"" help:"Restore a backup into the embedded store that --database names. No server may use the store meanwhile."`
	Copy        manage.Copy         `cmd:"" help:"Copy animals, categories, orders, keys and idempotency records into another database. Copying again copies what has changed, until a server has served from that database."`
	Import      transfer.Import     `cmd:"" help:"Add the animals of a CSV or JSON Lines file, through a server or straight into a database, each line once."`
	Export      transfer.Export     `cmd:"" help:"Write all animals as CSV or JSON Lines, from a server or straight from a database."`
	Demo        service.Demo        `cmd:"" help:"Serve a temporary store filled with animals, to look around."`
	Migrate     manage.Migrate      `cmd:"" help:"Bring the database to this version's schema. Serving does that too."`
	Pets        remote.Pets         `cmd:"" help:"List, add, show, edit and delete animals on a server."`
	Orders      remote.Orders       `cmd:"" help:"List, place, show, complete and cancel orders on a server."`
	Categories  remote.Categories   `cmd:"" help:"List, add, name and delete categories on a server."`
	Inventory   remote.Inventory    `cmd:"" help:"Count the animals on a server by their status."`
	Login       remote.Login        `cmd:"" help:"Keep the address and the key of a server, for the commands that call one."`
	Logout      remote.Logout       `cmd:"" help:"Forget what petstore login has kept."`
	Profiles    remote.Profiles     `cmd:"" help:"List what petstore login has kept, without the keys."`
	Healthcheck service.Healthcheck `cmd:"" help:"Ask the server on this machine whether it is ready. Exits with 0 if it is, and with 1 if not."`
	Version     versionCmd          `cmd:"" help:"Print the version, as --version does."`
	Completion  completionCmd       `cmd:"" help:"Print a script that completes commands and flags in a shell; its first lines say where to put it."`
	Help        helpCmd             `cmd:"" help:"Show the help of a command, like --help after the command."`
}

const about = `A store API for animals up for adoption: one binary, on an embedded database or on PostgreSQL and Redis.

To look around, run "petstore demo". To serve from the file petstore.db, run "petstore serve". To work with a server, run "petstore login" and then "petstore pets list".

A flag can also be set by the environment variable that its help names; the flag wins. The exit status is 0 if a command has done its work, 1 if it failed, 2 if the command line or a setting is wrong, and 4 if a server's key is missing or refused.`

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, such as keys create; without one, all commands are listed."`
}

// Run makes the parser print the help, which ends the program.
func (c *helpCmd) Run(command *kong.Context) error {
	_, err := command.Kong.Parse(append(c.Command, "--help"))
	return misuse(err)
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

// run is the whole program: it does what the command line in args says.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	variables := variables{getenv, map[string]bool{}}
	parser, err := newParser(variables, stdout, stderr)
	if err != nil {
		return err
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit: // --help has been printed
		default:
			panic(p)
		}
	}()
	command, err := parser.Parse(asMeant(parser.Model, args))
	if err != nil {
		return variables.blame(pointToHelp(misuse(err), command))
	}
	command.BindTo(ctx, (*context.Context)(nil))
	err = outcome(ctx, command, command.Run(&terminal.Console{Getenv: getenv, Stdout: stdout, Stderr: stderr, Version: versionName()}))
	return variables.blame(pointToHelp(err, command))
}

func newParser(variables variables, stdout, stderr io.Writer) (*kong.Kong, error) {
	parser, err := kong.New(&cli{},
		kong.Name("petstore"),
		kong.Description(about),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { panic(exit(status)) }),
		kong.Resolvers(kong.ResolverFunc(variables.resolve)),
		kong.ValueFormatter(withVariable),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		return nil, err
	}
	return parser, speakPlainly(parser.Model)
}

// asMeant adds --help if there are no arguments or only the name of a group of commands, and turns --version into the
// command version.
func asMeant(app *kong.Application, args []string) []string {
	group := func(n *kong.Node) bool { return len(args) == 1 && n.Name == args[0] && len(n.Children) > 0 }
	switch {
	case len(args) == 0 || slices.ContainsFunc(app.Children, group):
		return append(args, "--help")
	case args[0] == "--version":
		return slices.Concat([]string{"version"}, args[1:])
	}
	return args
}

// outcome adds to a command's error what became of the command's work, unless the error already says so.
func outcome(ctx context.Context, command *kong.Context, err error) error {
	left := ""
	if work, ok := command.Selected().Target.Addr().Interface().(interruptible); ok {
		left = work.Interrupted()
	}
	if left != "" && err != nil && ctx.Err() != nil {
		return errors.New("stopped; " + left)
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
		return fmt.Errorf("the database did not say whether this was done; %s: %w", cmp.Or(left, "petstore keys list shows what was done"), refused.Cause)
	}
	return err
}

type exit int

// interruptible is a command that can say what becomes of its work when a signal ends it, or when its connection to the
// database breaks. The server is not one, because its own log says that a signal ends it.
type interruptible interface{ Interrupted() string }
