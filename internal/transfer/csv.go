package transfer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"petstore/internal/petstore"
)

// columns says which columns of a CSV file hold what is known about an animal. -1 means that the file has no such column.
type columns struct {
	name, categoryID, category, status int
	facts                              []int // in the order of the variable facts

	separator byte
	header    []string
	fields    [][]byte // of the current row
}

// readHeader reads the first row, which names the columns.
func (r *petReader) readHeader() error {
	if err := r.readColumnNames(); err != nil {
		return fmt.Errorf("a CSV file must begin with a line that names its columns, such as name,categoryId,status: %w", err)
	}
	if err := r.findColumns(); err != nil {
		return err
	}
	noCategory := r.categoryID < 0 && r.category < 0
	switch shown := r.shownHeader(); {
	case r.name < 0 && noCategory && strings.HasPrefix(r.header[0], "PK\x03\x04"):
		return errors.New("this is a spreadsheet or an archive; save it as CSV")
	case r.name < 0 && noCategory:
		return fmt.Errorf("the first line must name the columns, but it is %s; add a first line such as name,categoryId,status", shown)
	case r.name < 0:
		return fmt.Errorf("there is no column name; the first line is %s", shown)
	case noCategory:
		return fmt.Errorf("there is no column categoryId or category; the first line is %s", shown)
	}
	return nil
}

// readColumnNames reads the names of the columns. Of comma, semicolon and tab, the separator is the one that gives the most
// of the columns that every file needs. In case of doubt it is the comma.
func (r *petReader) readColumnNames() error {
	var length int
	var failed error
	best := -1
	for _, separator := range []byte(",;\t") {
		row, n, err := r.peekRow(separator)
		for err == nil && isBlank(row, r.buf) {
			r.consume(n)
			row, n, err = r.peekRow(separator)
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		var names []string
		for _, field := range row {
			names = append(names, string(field))
		}
		if found := countNeeded(names); found > best {
			best, length = found, n
			r.separator, r.header = separator, names
		}
	}
	switch {
	case best < 0 && failed == io.EOF:
		return errors.New("the file is empty")
	case best < 0:
		return failed
	}
	r.consume(length)
	return nil
}

// countNeeded counts the columns that hold a name or a category.
func countNeeded(names []string) (n int) {
	for _, name := range names {
		if isSimilar(name, "name") || isSimilar(name, "categoryId") || isSimilar(name, "category") {
			n++
		}
	}
	return n
}

// findColumns finds the columns that an import knows.
func (r *petReader) findColumns() (err error) {
	r.facts = make([]int, len(facts))
	indexes := []*int{&r.name, &r.categoryID, &r.category, &r.status}
	for i := range facts {
		indexes = append(indexes, &r.facts[i])
	}
	for i, name := range columnNames() {
		if *indexes[i], err = r.findColumn(name); err != nil {
			return err
		}
	}
	return nil
}

// columnNames returns the names of all columns that an import knows.
func columnNames() []string {
	names := []string{"name", "categoryId", "category", "status"}
	for _, fact := range facts {
		names = append(names, fact.name)
	}
	return names
}

// findColumn returns the index of the column with that name, or -1. A name that differs only in case comes before one that is
// merely similar.
func (r *petReader) findColumn(name string) (int, error) {
	for _, same := range []func(column, name string) bool{strings.EqualFold, isSimilar} {
		at, n := -1, 0
		for i, column := range r.header {
			if same(column, name) {
				at = i
				n++
			}
		}
		switch {
		case n > 1:
			return -1, fmt.Errorf("the first line names the column %s %d times; it is %s", name, n, r.shownHeader())
		case n == 1:
			return at, nil
		}
	}
	return -1, nil
}

// isSimilar reports whether a column has that name, whatever its case, spaces, hyphens and underscores.
func isSimilar(column, name string) bool {
	return strings.EqualFold(name, strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '_' || r == '-' || r == '\ufeff' {
			return -1
		}
		return r
	}, column))
}

func (r *petReader) shownHeader() string {
	return quoteLine(strings.Join(r.header, string(rune(r.separator))))
}

// quoteLine quotes a line for a message. It shortens a long line.
func quoteLine(line string) string {
	shown := strconv.QuoteToASCII(line)
	if len(shown) > 200 {
		shown = shown[:200] + "…"
	}
	return shown
}

// ignoredColumns returns the names of the columns that the petReader does not use. It leaves out columns without a name, and
// the column id, which exports have and imports do not use.
func (r *petReader) ignoredColumns() (ignored []string) {
	used := append([]int{r.name, r.categoryID, r.category, r.status}, r.facts...)
	for i, column := range r.header {
		if !slices.Contains(used, i) && !isSimilar(column, "id") && !isSimilar(column, "") {
			ignored = append(ignored, column)
		}
	}
	return ignored
}

// nextRow reads a row of a CSV file. A row whose fields are all empty is blank: spreadsheets write such rows at the end.
func (r *petReader) nextRow() (line petLine, err error) {
	row, err := r.readRow()
	if err != nil {
		return line, err
	}
	if len(row) != len(r.header) {
		return line, unreadable(fmt.Sprintf("the line has %d fields, but the first line of the file names %d columns.", len(row), len(r.header)))
	}
	if !slices.ContainsFunc(row, func(field []byte) bool { return len(bytes.TrimSpace(field)) > 0 }) {
		return line, errBlank
	}
	line.Pet = petstore.NewPet{Name: string(row[r.name]), Status: petstore.Available}
	var faults petstore.Faults
	faults.Add("name", petstore.CheckPetName(line.Pet.Name))
	r.readCategory(&line, row, &faults)
	if status := trimmed(row, r.status); status != "" {
		line.Pet.Status, _ = petstore.ParseStatus(strings.ToLower(status))
		faults.Add("status", petstore.CheckStatus(line.Pet.Status))
	}
	for i, at := range r.facts {
		if at >= 0 {
			faults.Add(facts[i].name, facts[i].readCell(&line.Facts, string(row[at])))
		}
	}
	if len(faults) > 0 {
		return line, unreadable(faults.String() + ".")
	}
	return line, nil
}

// readCategory reads the number of the category or, if there is none, its name.
func (r *petReader) readCategory(line *petLine, row [][]byte, faults *petstore.Faults) {
	number, category := trimmed(row, r.categoryID), trimmed(row, r.category)
	switch {
	case number != "":
		var err error
		if line.Pet.CategoryID, err = strconv.ParseInt(number, 10, 64); err != nil {
			faults.Add("categoryId", "must be a whole number from -9223372036854775808 to 9223372036854775807")
		}
	case category != "":
		faults.Add("category", line.parseCategory(category))
	case r.categoryID >= 0:
		faults.AddMissing("categoryId")
	default:
		faults.AddMissing("category")
	}
}

// trimmed returns a field without the spaces around it, or "" if the file has no such column.
func trimmed(row [][]byte, column int) string {
	if column < 0 {
		return ""
	}
	return string(bytes.TrimSpace(row[column]))
}

// readRow returns the fields of the next row. The fields are valid until the next call. If a row is malformed, readRow skips
// only the first line of the row, because the next lines may be good rows.
func (r *petReader) readRow() ([][]byte, error) {
	fields, n, err := r.peekRow(r.separator)
	if reason := unreadable(""); errors.As(err, &reason) {
		return nil, r.skipLine(string(reason))
	} else if err != nil {
		return nil, err
	}
	blank := isBlank(fields, r.buf)
	r.consume(n)
	if blank {
		return nil, errBlank
	}
	return fields, nil
}

// isBlank reports whether the row that a text begins with is an empty line.
func isBlank(row [][]byte, text []byte) bool {
	return len(row) == 1 && len(row[0]) == 0 && text[0] != '"'
}

// peekRow returns the fields of the next row and its length, without consuming it. It returns an unreadable if the row is
// malformed.
func (r *petReader) peekRow(separator byte) (fields [][]byte, n int, err error) {
	for {
		fields, n, err := splitRow(r.buf, separator, r.ended, r.fields[:0])
		r.fields = fields
		switch {
		case err == nil && n == 0:
			return nil, 0, io.EOF
		case err != errMore:
			return fields, n, err
		}
		more, err := r.fill()
		switch {
		case err != nil:
			return nil, 0, err
		case more || r.ended:
		case bytes.IndexByte(r.buf, '\n') < 0:
			return nil, 0, unreadable("the line is longer than 1 MiB.")
		default:
			return nil, 0, errUnclosed
		}
	}
}
