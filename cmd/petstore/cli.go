package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"petstore/internal/petstore"
)

// cli is the whole command line: every flag, its environment variable and its help come from here.
type cli struct {
	Serve      serveCmd      `cmd:"" help:"Serve the API. The first start on an empty database makes a key and prints how to use it."`
	Keys       keysCmd       `cmd:"" help:"Make, list, change, rotate, revoke and unban API keys."`
	Backup     backupCmd     `cmd:"" help:"Back up the embedded store to a new file while it serves."`
	Restore    restoreCmd    `cmd:"" help:"Restore the embedded store from a backup while no server uses it."`
	Copy       copyCmd       `cmd:"" help:"Copy animals, keys and idempotency records into another database, and again what has changed, until a server has served from that one."`
	Demo       demoCmd       `cmd:"" help:"Serve a temporary store filled with animals, to look around."`
	Migrate    migrateCmd    `cmd:"" help:"Bring the database to this version's schema. Serving does that too."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands and flags in a shell."`
}

// console is the world around a command.
type console struct {
	getenv         func(string) string
	stdout, stderr io.Writer
}

// usageError is a command line that cannot be meant; it ends the process with status 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func wrongUsage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func exitStatus(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(usageError)):
		return 2
	}
	return 1
}

// run is the program: the command line in args, done when it returns.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	var commands cli
	parser, err := kong.New(&commands,
		kong.Name("petstore"),
		kong.Description("A store API for animals up for adoption: one binary, on an embedded database or on PostgreSQL and Redis.\n\nEvery flag can also be set by the environment variable named beside it; the flag wins."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { panic(exit(status)) }),
		kong.Resolvers(fromEnvironment(getenv)),
		kong.ValueFormatter(withVariable),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
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
	command, err := parser.Parse(args)
	if err != nil {
		return usageError{fmt.Errorf("%w (petstore --help tells more)", err)}
	}
	command.BindTo(ctx, (*context.Context)(nil))
	err = command.Run(&console{getenv, stdout, stderr})
	name, _, _ := strings.Cut(command.Command(), " ")
	if left, ok := leftBehind[name]; ok && err != nil && ctx.Err() != nil {
		return errors.New("stopped; " + left)
	}
	var refused *petstore.Error
	if !errors.As(err, &refused) || refused.Cause == nil {
		return err
	}
	switch refused.Code { // their messages are for clients of the API
	case petstore.Unavailable:
		return fmt.Errorf("the database cannot do this right now: %w", refused.Cause)
	case petstore.OutcomeUnknown:
		return fmt.Errorf("the database did not say whether this was done; %s: %w", cmp.Or(leftBehind[name], leftBehind["keys"]), refused.Cause)
	}
	return err
}

type exit int

// leftBehind is what becomes of a command's work when a signal ends it, or its connection to the database breaks. A server
// that a signal ends says that itself.
var leftBehind = map[string]string{
	"backup":  "nothing was written",
	"restore": "nothing was written",
	"copy":    "what was copied stays, and copying again goes on",
	"keys":    "petstore keys list shows what was done",
	"migrate": "nothing is half done; run it again",
}

// fromEnvironment resolves the flags that are not given; an empty variable counts as not set.
func fromEnvironment(getenv func(string) string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		if value := getenv(variable(flag.Name)); value != "" {
			return value, nil
		}
		return nil, nil
	})
}

func variable(flag string) string {
	return "PETSTORE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// withVariable is the help of a flag with its environment variable.
func withVariable(value *kong.Value) string {
	if value.Flag == nil || value.Name == "help" {
		return value.Help
	}
	return value.Help + " ($" + variable(value.Name) + ")"
}

// duration is a time.Duration that can also be given in days, such as 90d.
type duration time.Duration

// UnmarshalText reads 90d, 36h or 1h30m.
func (d *duration) UnmarshalText(text []byte) error {
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err == nil {
			*d = duration(n) * duration(24*time.Hour)
			return nil
		}
	}
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is not a length of time such as 90d, 36h or 45m", text)
	}
	*d = duration(parsed)
	return nil
}

// size is a number of bytes that can also be given as 512KiB, 64MiB or 1GiB.
type size int64

// UnmarshalText reads 64MiB or 65536.
func (s *size) UnmarshalText(text []byte) error {
	digits, unit := string(text), int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB"} {
		if before, found := strings.CutSuffix(digits, suffix); found {
			digits, unit = before, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a size such as 64MiB, 512KiB or 65536", text)
	}
	*s = size(n * unit)
	return nil
}
