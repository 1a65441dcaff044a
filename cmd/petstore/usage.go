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

// misuse says in a sentence why a command line could not be parsed.
func misuse(err error) error {
	var wrong terminal.UsageError
	var parse *kong.ParseError
	switch {
	case errors.As(err, &wrong):
		return terminal.Reworded{Err: err, Text: wrong.Error()}
	case errors.As(err, &parse) && parse.Context.Error == nil:
		if lacks := missing(parse.Context); lacks != "" {
			return terminal.UsageError{Err: terminal.Reworded{Err: err, Text: lacks}}
		}
	}
	return terminal.UsageError{Err: err}
}

// missing says what is missing in a command line that is right so far.
func missing(command *kong.Context) string {
	var lacks []string
	node := cmp.Or(command.Selected(), command.Model.Node)
	for _, value := range node.Values() {
		if value.Required && !value.Set {
			lacks = append(lacks, fmt.Sprintf("%s is missing: %s", value.ShortSummary(), strings.TrimSuffix(value.Help, ".")))
		}
	}
	if len(node.Children) > 0 {
		var names []string
		for _, child := range node.Children {
			names = append(names, child.Name)
		}
		lacks = append(lacks, "a command is missing; it may be "+anyOf(names))
	}
	return strings.Join(lacks, "; ")
}

// otherNames are the aliases that kong writes after the name of a command.
var otherNames = regexp.MustCompile(` \([^)]*\)`)

// pointToHelp adds to a usage error how to get the help of the command.
func pointToHelp(err error, command *kong.Context) error {
	if !errors.As(err, new(terminal.UsageError)) {
		return err
	}
	if parse := (*kong.ParseError)(nil); errors.As(err, &parse) {
		command = parse.Context // the command that was typed, even with --help
	}
	name := command.Model.Name
	if selected := command.Selected(); selected != nil {
		name = otherNames.ReplaceAllString(selected.FullPath(), "")
	}
	return fmt.Errorf("%w (%s --help tells more)", err, name)
}

// speakPlainly makes the refusal of every wrong value say what the value may be.
func speakPlainly(app *kong.Application) error {
	return kong.Visit(app, func(v kong.Visitable, next kong.Next) error {
		if value, ok := v.(*kong.Value); ok {
			value.Mapper = plainMapper{value.Mapper}
		}
		return next(nil)
	})
}

// plainMapper is a mapper whose refusals are sentences.
type plainMapper struct{ kong.Mapper }

// Decode reads a value into the target.
func (p plainMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	value, given, may := ctx.Value, ctx.Scan.Peek(), mayBe(ctx.Value)
	name := value.ShortSummary()
	switch {
	case value.IsBool() || given.IsValue():
	case !given.IsEOL():
		return terminal.WrongUsage("%s is followed by %s, which looks like a flag; write %s=%[2]s if that is its value", name, given, name)
	case may != "":
		return terminal.WrongUsage("%s has no value; it may be %s", name, may)
	default:
		return terminal.WrongUsage("%s has no value; write one after it", name)
	}
	if !value.IsBool() && !utf8.ValidString(given.String()) { // the parser would put U+FFFD in its place
		return terminal.WrongUsage("%s is not valid UTF-8; set the terminal to UTF-8 and write it again", name)
	}
	err := p.Mapper.Decode(ctx, target)
	if may != "" && (err != nil || !allowed(value, given.String(), target)) {
		return terminal.WrongUsage("%s is %q; it may be %s", name, given.String(), may)
	}
	return err
}

// mayBe says what a value may be. It returns "" where the parser's own error says that.
func mayBe(value *kong.Value) string {
	kind := value.Target.Type()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch {
	case value.Enum != "":
		return anyOf(value.EnumSlice())
	case kind == reflect.TypeFor[slog.Level]():
		return "debug, info, warn or error"
	case kind == reflect.TypeFor[time.Duration]():
		return "a length of time such as 30s or 5m"
	case kind == reflect.TypeFor[bool]():
		return "true or false"
	case kind == reflect.TypeFor[int64]():
		return "a whole number"
	}
	return ""
}

// allowed reports whether the setting accepts a value that could be read.
func allowed(value *kong.Value, given string, target reflect.Value) bool {
	if value.Enum != "" {
		return slices.Contains(value.EnumSlice(), given)
	}
	switch read := reflect.Indirect(target).Interface().(type) {
	case time.Duration:
		return read >= 0
	case int64: // the parser takes 010 for eight
		return strconv.FormatInt(read, 10) == given
	}
	return true
}

// anyOf joins words into "a, b or c".
func anyOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
