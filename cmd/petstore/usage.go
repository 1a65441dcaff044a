package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"petstore/internal/terminal"

	"github.com/alecthomas/kong"
)

// explainUsage turns an error of the parser into a UsageError that says what is wrong with the command line.
func explainUsage(err error) error {
	var usage terminal.UsageError
	var parse *kong.ParseError
	switch {
	case errors.As(err, &usage):
		return terminal.Reworded{Err: err, Text: usage.Error()}
	case errors.As(err, &parse) && parse.Context.Error == nil:
		if text := describeMissing(parse.Context); text != "" {
			return terminal.UsageError{Err: terminal.Reworded{Err: err, Text: text}}
		}
	}
	return terminal.UsageError{Err: err}
}

// describeMissing names the required arguments and flags that are missing on a command line, and the missing subcommand.
func describeMissing(command *kong.Context) string {
	var missing []string
	node := cmp.Or(command.Selected(), command.Model.Node)
	for _, value := range node.Values() {
		if value.Required && !value.Set {
			missing = append(missing, fmt.Sprintf("%s is missing: %s", value.ShortSummary(), strings.TrimSuffix(value.Help, ".")))
		}
	}
	if len(node.Children) > 0 {
		var names []string
		for _, child := range node.Children {
			names = append(names, child.Name)
		}
		missing = append(missing, "a command is missing; it must be "+joinOr(names))
	}
	return strings.Join(missing, "; ")
}

// aliases matches the aliases that kong adds in parentheses to the name of a command.
var aliases = regexp.MustCompile(` \([^)]*\)`)

// pointToHelp makes a usage error also say how to show the help of the command.
func pointToHelp(err error, command *kong.Context) error {
	if !errors.As(err, new(terminal.UsageError)) {
		return err
	}
	if parse := (*kong.ParseError)(nil); errors.As(err, &parse) {
		command = parse.Context // the command that the user typed, even after "petstore help"
	}
	name := command.Model.Name
	if selected := command.Selected(); selected != nil {
		name = aliases.ReplaceAllString(selected.FullPath(), "")
	}
	return fmt.Errorf("%w (see %s --help)", err, name)
}

// explainValues makes the error about a wrong value say which values are valid, for every flag and argument.
func explainValues(app *kong.Application) error {
	return kong.Visit(app, func(v kong.Visitable, next kong.Next) error {
		if value, ok := v.(*kong.Value); ok {
			value.Mapper = explainingMapper{value.Mapper}
		}
		return next(nil)
	})
}

// explainingMapper is a mapper whose errors say which values are valid.
type explainingMapper struct{ kong.Mapper }

// Decode parses a value into the target.
func (m explainingMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	value, given, want := ctx.Value, ctx.Scan.Peek(), describeValue(ctx.Value)
	name := value.ShortSummary()
	switch {
	case value.IsBool() || given.IsValue():
	case !given.IsEOL():
		return terminal.WrongUsage("%s is followed by %s, which looks like a flag; if that is its value, write %s=%[2]s", name, given, name)
	case want != "":
		return terminal.WrongUsage("%s has no value; it must be %s", name, want)
	default:
		return terminal.WrongUsage("%s has no value; write one after it", name)
	}
	if !value.IsBool() && !utf8.ValidString(given.String()) { // the parser would replace invalid bytes with U+FFFD
		return terminal.WrongUsage("%s is not valid UTF-8; set the terminal to UTF-8 and write it again", name)
	}
	err := m.Mapper.Decode(ctx, target)
	if want != "" && (err != nil || !isAllowed(value, given.String(), target)) {
		return terminal.WrongUsage("%s is %q; it must be %s", name, given.String(), want)
	}
	return err
}

// describeValue says which values are valid. It returns "" if the parser's own error already says so.
func describeValue(value *kong.Value) string {
	kind := value.Target.Type()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch {
	case value.Enum != "":
		return joinOr(value.EnumSlice())
	case kind == reflect.TypeFor[slog.Level]():
		return "debug, info, warn or error"
	case kind == reflect.TypeFor[time.Duration]():
		return "a duration such as 30s or 5m"
	case kind == reflect.TypeFor[bool]():
		return "true or false"
	case kind == reflect.TypeFor[int64]():
		return "a whole number"
	}
	return ""
}

// isAllowed reports whether a parsed value is one of the allowed values.
func isAllowed(value *kong.Value, given string, target reflect.Value) bool {
	if value.Enum != "" {
		return slices.Contains(value.EnumSlice(), given)
	}
	switch parsed := reflect.Indirect(target).Interface().(type) {
	case time.Duration:
		return parsed >= 0
	case int64: // the parser reads 010 as an octal number
		return strconv.FormatInt(parsed, 10) == given
	}
	return true
}

// joinOr joins words into "a, b or c".
func joinOr(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
