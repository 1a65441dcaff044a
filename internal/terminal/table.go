package terminal

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// Table prints rows. On a terminal they are aligned under a header; otherwise tabs separate the values.
type Table struct {
	out      io.Writer
	titles   []string
	terminal bool
	colored  bool
	room     int   // the width of the terminal, 0 if it is not known
	widths   []int // the widths of the columns so far
}

// stretches holds the titles of the columns that may be cut when a row is wider than the terminal.
var stretches = map[string]bool{"NAME": true, "CATEGORY": true, "REFERENCE": true}

// leastWidth is the least width to which a column is cut.
const leastWidth = 8

// Table begins a table on standard output.
func (con *Console) Table(titles ...string) *Table {
	t := &Table{out: con.Stdout, titles: titles, terminal: IsTerminal(con.Stdout)}
	if t.terminal {
		t.colored = con.Getenv("NO_COLOR") == "" && con.Getenv("TERM") != "dumb"
		t.room, _, _ = term.GetSize(int(con.Stdout.(*os.File).Fd()))
	}
	return t
}

// Print prints rows. The first rows decide how wide the columns are, until a wider value comes.
func (t *Table) Print(rows [][]string) error {
	var b strings.Builder
	if t.terminal && len(rows) > 0 {
		t.align(rows, &b)
	}
	for _, row := range rows {
		t.line(&b, row)
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

// align widens the columns for new rows, and prints the header before the first.
func (t *Table) align(rows [][]string, b *strings.Builder) {
	first := t.widths == nil
	if first {
		t.widths = make([]int, len(t.titles))
		rows = append([][]string{t.titles}, rows...)
	}
	total := 2 * (len(t.titles) - 1)
	for i := range t.titles {
		for _, row := range rows {
			t.widths[i] = max(t.widths[i], columns(Escape(row[i])))
		}
		total += t.widths[i]
	}
	for ; total > t.room && t.room > 0; total-- {
		widest := t.widest()
		if widest == nil || *widest <= leastWidth {
			break
		}
		*widest--
	}
	if first {
		t.line(b, t.titles)
	}
}

// widest is the width of the widest column that may be cut, nil if there is none.
func (t *Table) widest() (widest *int) {
	for i, title := range t.titles {
		if stretches[title] && (widest == nil || t.widths[i] > *widest) {
			widest = &t.widths[i]
		}
	}
	return widest
}

func (t *Table) line(b *strings.Builder, row []string) {
	for i, value := range row {
		value, gap := Escape(value), "\t"
		if t.terminal {
			value = cut(value, t.widths[i])
			gap = strings.Repeat(" ", t.widths[i]-columns(value)+2)
			value = t.paint(value, t.titles[i])
		}
		if i == len(row)-1 {
			gap = "\n"
		}
		b.WriteString(value + gap)
	}
}

func (t *Table) paint(value, title string) string {
	color := colors[value]
	if color == "" || title != "STATUS" || !t.colored {
		return value
	}
	return "\x1b[" + color + "m" + value + "\x1b[0m"
}

// colors maps states to the color codes of a terminal: green is available, yellow is under way, gray is over.
var colors = map[string]string{
	"available": "32", "pending": "33", "sold": "90",
	"open": "33", "completed": "32", "cancelled": "90", "expired": "90",
}

// cut shortens a text to at most that many columns.
func cut(text string, most int) string {
	if columns(text) <= most {
		return text
	}
	used := 0
	for i, r := range text {
		if used += columnsOf(r); used > most-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// columns is how wide a text is on a terminal.
func columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	switch kind := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return 2
	}
	return 1
}
