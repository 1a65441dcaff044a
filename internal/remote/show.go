// Package remote holds the commands that call a server: pets, orders, categories, inventory, events, listen, webhooks, api, open,
// login and profiles.
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

// view says how to show items of one type, as rows of a table or as JSON.
type view[T any] struct {
	titles []string
	row    func(T) []string
	object func(T) any // converts an item to the JSON object of the API; nil if T is that object
}

func (v view[T]) rows(items []T) (rows [][]string) {
	for _, item := range items {
		rows = append(rows, v.row(item))
	}
	return rows
}

// json returns an item as JSON, with indent before every line except the first.
func (v view[T]) json(item T, indent string) (string, error) {
	var object any = item
	if v.object != nil {
		object = v.object(item)
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent(indent, "  ")
	err := out.Encode(object)
	return terminal.EscapeJSON(string(bytes.TrimSpace(b.Bytes()))), err
}

// showFlags choose how a command shows one item.
type showFlags struct {
	JSON bool `name:"json" help:"Print the JSON object of the API."`
}

// show prints one item.
func show[T any](con *terminal.Console, f showFlags, v view[T], item T) error {
	if !f.JSON {
		return con.Table(v.titles...).Print(v.rows([]T{item}))
	}
	text, err := v.json(item, "")
	if err != nil {
		return err
	}
	_, err = io.WriteString(con.Stdout, text+"\n")
	return err
}

// listFlags choose how many items a command lists, and how.
type listFlags struct {
	Limit *count `placeholder:"N" xor:"limit" help:"How many to list at most. The default is 30 on a terminal, and all otherwise."`
	All   bool   `xor:"limit" help:"List all, even on a terminal."`
	JSON  bool   `name:"json" help:"Print an array of the JSON objects of the API."`
}

const (
	terminalLimit = 30  // the number of items on a terminal without --limit and --all
	maxPage       = 100 // the size of the largest page that the API returns
)

// count is the value of --limit. It is at least 1.
type count int64

// UnmarshalText parses a count.
func (c *count) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a whole number of at least 1", text)
	}
	*c = count(n)
	return nil
}

// limit returns how many items to list at most.
func (f listFlags) limit(con *terminal.Console) int64 {
	switch {
	case f.Limit != nil:
		return int64(*f.Limit)
	case terminal.IsTerminal(con.Stdout) && !f.All:
		return terminalLimit
	}
	return math.MaxInt64
}

// list prints items page by page, as soon as each page arrives.
func list[T any](con *terminal.Console, f listFlags, v view[T], getPage func(limit int, cursor string) (client.Page[T], error)) error {
	table, array := con.Table(v.titles...), &jsonArray[T]{con.Stdout, v, 0}
	limit, shown, cursor := f.limit(con), int64(0), ""
	for more := true; more; more = cursor != "" && shown < limit {
		page, err := getPage(int(min(limit-shown, maxPage)), cursor)
		if err != nil {
			return err
		}
		if f.JSON {
			err = array.print(page.Items)
		} else {
			err = table.Print(v.rows(page.Items))
		}
		if err != nil {
			return err
		}
		shown, cursor = shown+int64(len(page.Items)), page.Next
	}
	switch {
	case cursor != "" && f.Limit == nil:
		con.Say("Only the first %d are shown. List more with --limit N, or all with --all.", shown)
	case shown == 0 && terminal.IsTerminal(con.Stdout) && !f.JSON:
		con.Say("There is nothing to list.")
	}
	if f.JSON {
		return array.end()
	}
	return nil
}

// jsonArray prints a JSON array piece by piece. If the listing fails halfway, jsonArray leaves out the closing bracket. The
// output is then not valid JSON, so no program mistakes it for the whole list.
type jsonArray[T any] struct {
	out   io.Writer
	view  view[T]
	shown int
}

func (a *jsonArray[T]) print(items []T) error {
	var b bytes.Buffer
	for _, item := range items {
		text, err := a.view.json(item, "  ")
		if err != nil {
			return err
		}
		separator := ",\n  "
		if a.shown == 0 {
			separator = "[\n  "
		}
		b.WriteString(separator + text)
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
