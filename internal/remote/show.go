// Package remote holds the commands that call a server: pets, orders, categories, inventory, login and profiles.
package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"petstore/client"
	"petstore/internal/terminal"
)

// shape says how things of one kind are shown.
type shape[T any] struct {
	titles []string
	row    func(T) []string
	object func(T) any // returns the thing in the form of the API; nil if T has that form
}

func (s shape[T]) rows(things []T) (rows [][]string) {
	for _, thing := range things {
		rows = append(rows, s.row(thing))
	}
	return rows
}

// json is a thing as JSON, with an indent before every line but the first.
func (s shape[T]) json(thing T, indent string) (string, error) {
	var object any = thing
	if s.object != nil {
		object = s.object(thing)
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent(indent, "  ")
	err := out.Encode(object)
	return terminal.EscapeJSON(string(bytes.TrimSpace(b.Bytes()))), err
}

// showFlags choose how one thing is shown.
type showFlags struct {
	JSON bool `name:"json" help:"Print the object that the API answers with."`
}

// show prints one thing.
func show[T any](con *terminal.Console, f showFlags, s shape[T], thing T) error {
	if !f.JSON {
		return con.Table(s.titles...).Print(s.rows([]T{thing}))
	}
	text, err := s.json(thing, "")
	if err != nil {
		return err
	}
	_, err = io.WriteString(con.Stdout, text+"\n")
	return err
}

// listFlags choose how many things are listed, and how.
type listFlags struct {
	Limit *count `placeholder:"N" xor:"limit" help:"How many to list at most. By default 30 on a terminal, and all otherwise."`
	All   bool   `xor:"limit" help:"List all, even on a terminal."`
	JSON  bool   `name:"json" help:"Print an array of the objects that the API answers with."`
}

const (
	screenful = 30
	pageful   = 100 // the largest page of the API
)

// count is a number of things, at least one.
type count int64

// UnmarshalText reads 30.
func (c *count) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a whole number of at least 1", text)
	}
	*c = count(n)
	return nil
}

// most is the largest number of things to list.
func (f listFlags) most(con *terminal.Console) int64 {
	switch {
	case f.Limit != nil:
		return int64(*f.Limit)
	case terminal.IsTerminal(con.Stdout) && !f.All:
		return screenful
	}
	return math.MaxInt64
}

// list prints things page by page, as the pages arrive.
func list[T any](con *terminal.Console, f listFlags, s shape[T], page func(limit int, cursor string) (client.Page[T], error)) error {
	table, array := con.Table(s.titles...), &jsonArray[T]{con.Stdout, s, 0}
	most, shown, cursor := f.most(con), int64(0), ""
	for more := true; more; more = cursor != "" && shown < most {
		p, err := page(int(min(most-shown, pageful)), cursor)
		if err != nil {
			return err
		}
		if f.JSON {
			err = array.print(p.Items)
		} else {
			err = table.Print(s.rows(p.Items))
		}
		if err != nil {
			return err
		}
		shown, cursor = shown+int64(len(p.Items)), p.Next
	}
	switch {
	case cursor != "" && f.Limit == nil:
		con.Say("These are the first %d, and there are more; --limit N lists more, and --all lists all.", shown)
	case shown == 0 && terminal.IsTerminal(con.Stdout) && !f.JSON:
		con.Say("There is nothing to list.")
	}
	if f.JSON {
		return array.end()
	}
	return nil
}

// jsonArray prints an array piece by piece. If it breaks off, the text is not JSON, so that nobody takes it for complete.
type jsonArray[T any] struct {
	out   io.Writer
	shape shape[T]
	shown int
}

func (a *jsonArray[T]) print(things []T) error {
	var b bytes.Buffer
	for _, thing := range things {
		text, err := a.shape.json(thing, "  ")
		if err != nil {
			return err
		}
		before := ",\n  "
		if a.shown == 0 {
			before = "[\n  "
		}
		b.WriteString(before + text)
		a.shown++
	}
	_, err := a.out.Write(b.Bytes())
	return err
}

func (a *jsonArray[T]) end() error {
	end := "\n]\n"
	if a.shown == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(a.out, end)
	return err
}
