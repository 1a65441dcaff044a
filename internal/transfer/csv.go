package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"petstore/internal/petstore"
)

// columns says in which columns an animal's fields are; -1 means that the file has no such column.
type columns struct {
	name, category, status int
	header                 []string
	fields                 [][]byte // the fields of the current row
}

// readHeader reads the names of the columns.
func (r *Reader) readHeader() error {
	if line, _, _ := bytes.Cut(r.buf, []byte("\n")); bytes.Contains(line, []byte(`";"`)) || bytes.Contains(line, []byte("\"\t\"")) {
		return noCommas(string(line))
	}
	row, err := r.row()
	for err == errBlank {
		row, err = r.row()
	}
	if err == io.EOF {
		err = errors.New("it is empty")
	}
	if err != nil {
		return fmt.Errorf("a CSV file begins with a line that names its columns, such as name,categoryId,status, and this has none: %w", err)
	}
	for _, field := range row {
		r.header = append(r.header, string(field))
	}
	r.name, r.category, r.status = r.column("name"), r.column("categoryId"), r.column("status")
	shown := shorten(strings.Join(r.header, ","))
	for _, known := range []string{"name", "categoryId", "status"} {
		if n := r.count(known); n > 1 {
			return fmt.Errorf("the first line names the column %s %d times; it is %s", known, n, shown)
		}
		for _, column := range r.header {
			if strings.EqualFold(column, known) && column != known {
				return fmt.Errorf("the first line names the column %q; write %s", column, known)
			}
		}
	}
	switch {
	case r.name < 0 && r.category < 0 && strings.HasPrefix(r.header[0], "PK\x03\x04"):
		return errors.New("this is a spreadsheet or another archive; save it as CSV")
	case r.name < 0 && r.category < 0 && len(r.header) == 1 && strings.ContainsAny(r.header[0], ";\t"):
		return noCommas(r.header[0])
	case r.name < 0 && r.category < 0:
		return fmt.Errorf("the first line must name the columns, and it is %s; put name,categoryId,status above it, or what the columns are", shown)
	case r.name < 0:
		return fmt.Errorf("there is no column name; the first line is %s", shown)
	case r.category < 0:
		return fmt.Errorf("there is no column categoryId; the first line is %s", shown)
	}
	return nil
}

func noCommas(line string) error {
	return fmt.Errorf("no commas separate the columns; the first line is %s; save the file with commas between the columns", shorten(line))
}

// shorten quotes a line for a message.
func shorten(line string) string {
	shown := strconv.QuoteToASCII(line)
	if len(shown) > 200 {
		shown = shown[:200] + "…"
	}
	return shown
}

func (c *columns) column(name string) int { return slices.Index(c.header, name) }

func (c *columns) count(name string) (n int) {
	for _, column := range c.header {
		if column == name {
			n++
		}
	}
	return n
}

// Ignored names the columns of a CSV file that the Reader does not know. The column id is known, but not used.
func (r *Reader) Ignored() []string {
	return slices.DeleteFunc(slices.Clone(r.header), func(column string) bool {
		return column == "id" || column == "name" || column == "categoryId" || column == "status"
	})
}

// nextRow reads a row of CSV.
func (r *Reader) nextRow() (pet petstore.NewPet, err error) {
	row, err := r.row()
	if err != nil {
		return pet, err
	}
	if len(row) != len(r.header) {
		return pet, unreadable(fmt.Sprintf("the line has %d fields, and the first line of the file names %d columns.", len(row), len(r.header)))
	}
	pet = petstore.NewPet{Name: string(row[r.name]), Status: petstore.Available}
	var faults petstore.Faults
	faults.Add("name", petstore.CheckPetName(pet.Name))
	if number := string(row[r.category]); number == "" {
		faults.AddMissing("categoryId")
	} else if pet.CategoryID, err = strconv.ParseInt(number, 10, 64); err != nil {
		faults.Add("categoryId", "must be a whole number from -9223372036854775808 to 9223372036854775807")
	}
	if r.status >= 0 && len(row[r.status]) > 0 {
		pet.Status, _ = petstore.ParseStatus(string(row[r.status]))
		faults.Add("status", petstore.CheckStatus(pet.Status))
	}
	if len(faults) > 0 {
		return pet, unreadable(faults.String() + ".")
	}
	return pet, nil
}

// row reads the fields of a row, which are valid until the next call. After a malformed row, reading goes on with the
// second line of that row.
func (r *Reader) row() ([][]byte, error) {
	for {
		fields, n, err := splitRow(r.buf, r.ended, r.fields[:0])
		r.fields = fields
		switch {
		case err == nil && n == 0:
			return nil, io.EOF
		case err == nil:
			blank := len(fields) == 1 && len(fields[0]) == 0 && r.buf[0] != '"'
			r.use(n)
			if blank {
				return nil, errBlank
			}
			return fields, nil
		case err != errMore:
			return nil, r.skipLine(err.Error())
		}
		more, err := r.fill()
		switch {
		case err != nil:
			return nil, err
		case more || r.ended:
		case bytes.IndexByte(r.buf, '\n') < 0:
			return nil, r.skipLine("the line is longer than 1 MiB.")
		default:
			return nil, r.skipLine(errUnclosed.Error())
		}
	}
}
