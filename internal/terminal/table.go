package terminal

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// Table prints rows. On a terminal, the columns are aligned under a header. Elsewhere, tabs separate the values.
type Table struct {
	out      io.Writer
	titles   []string
	terminal bool
	colored  bool
	maxWidth int   // the width of the terminal; 0 if unknown
	widths   []int // the widths of the columns so far
}

// shrinkable holds the titles of the columns that Print truncates when a row is wider than the terminal.
var shrinkable = map[string]bool{
	"NAME": true, "PET": true, "CATEGORY": true, "REFERENCE": true, "NOW": true, "BEFORE": true, "URL": true, "DESCRIPTION": true,
}

// minWidth is the smallest width to which Print truncates a column.
const minWidth = 8

// Table starts a table on standard output.
func (con *Console) Table(titles ...string) *Table {
	t := &Table{out: con.Stdout, titles: titles, terminal: IsTerminal(con.Stdout)}
	if t.terminal {
		t.colored = con.Getenv("NO_COLOR") == "" && con.Getenv("TERM") != "dumb"
		t.maxWidth, _, _ = term.GetSize(int(con.Stdout.(*os.File).Fd()))
	}
	return t
}

// Print prints rows. Each column is as wide as its widest value so far, if the terminal is wide enough.
func (t *Table) Print(rows [][]string) error {
	var b strings.Builder
	if t.terminal && len(rows) > 0 {
		t.align(rows, &b)
	}
	for _, row := range rows {
		t.writeRow(&b, row)
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

// align widens the columns for new rows, and writes the header before the first row.
func (t *Table) align(rows [][]string, b *strings.Builder) {
	first := t.widths == nil
	if first {
		t.widths = make([]int, len(t.titles))
		rows = append([][]string{t.titles}, rows...)
	}
	total := 2 * (len(t.titles) - 1)
	for i := range t.titles {
		for _, row := range rows {
			t.widths[i] = max(t.widths[i], displayWidth(Escape(row[i])))
		}
		total += t.widths[i]
	}
	for ; total > t.maxWidth && t.maxWidth > 0; total-- {
		widest := t.widestShrinkable()
		if widest == nil || *widest <= minWidth {
			break
		}
		*widest--
	}
	if first {
		t.writeRow(b, t.titles)
	}
}

// widestShrinkable returns the width of the widest shrinkable column, or nil if no column is shrinkable.
func (t *Table) widestShrinkable() (widest *int) {
	for i, title := range t.titles {
		if shrinkable[title] && (widest == nil || t.widths[i] > *widest) {
			widest = &t.widths[i]
		}
	}
	return widest
}

func (t *Table) writeRow(b *strings.Builder, row []string) {
	for i, value := range row {
		value, gap := Escape(value), "\t"
		if t.terminal {
			value = truncate(value, t.widths[i])
			gap = strings.Repeat(" ", t.widths[i]-displayWidth(value)+2)
			value = t.color(value, t.titles[i])
		}
		if i == len(row)-1 {
			gap = "\n"
		}
		b.WriteString(value + gap)
	}
}

// color returns a value with the color for its status, if the column contains statuses.
func (t *Table) color(value, title string) string {
	code := statusColors[value]
	if code == "" || title != "STATUS" || !t.colored {
		return value
	}
	return "\x1b[" + code + "m" + value + "\x1b[0m"
}

// statusColors maps a status to a color code of the terminal: 31 is red, 32 is green, 33 is yellow, 90 is gray.
var statusColors = map[string]string{
	"available": "32", "pending": "33", "sold": "90",
	"open": "33", "completed": "32", "cancelled": "90", "expired": "90",
	"active": "32", "failing": "31", "disabled": "90",
}

// truncate shortens text to the given display width. An ellipsis replaces the removed text.
func truncate(text string, maxWidth int) string {
	if displayWidth(text) <= maxWidth {
		return text
	}
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used > maxWidth-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// displayWidth returns how many columns of a terminal the text takes.
func displayWidth(text string) (n int) {
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch kind := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return 2
	}
	return 1
}
