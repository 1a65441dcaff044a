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

// columns says which columns of a CSV file have the name, the category and the status. The index -1 means that the file has
// no such column.
type columns struct {
	name, category, status int
	header                 []string
	fields                 [][]byte // the fields of the current row
}

// readHeader reads the first row, which names the columns.
func (r *petReader) readHeader() error {
	if line, _, _ := bytes.Cut(r.buf, []byte("\n")); bytes.Contains(line, []byte(`";"`)) || bytes.Contains(line, []byte("\"\t\"")) {
		return errNoCommas(string(line))
	}
	row, err := r.readRow()
	for err == errBlank {
		row, err = r.readRow()
	}
	if err == io.EOF {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return fmt.Errorf("a CSV file must begin with a line that names its columns, such as name,categoryId,status: %w", err)
	}
	for _, field := range row {
		r.header = append(r.header, string(field))
	}
	r.name, r.category, r.status = slices.Index(r.header, "name"), slices.Index(r.header, "categoryId"), slices.Index(r.header, "status")
	shown := quoteLine(strings.Join(r.header, ","))
	for _, known := range []string{"name", "categoryId", "status"} {
		if n := r.countColumns(known); n > 1 {
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
		return errors.New("this is a spreadsheet or an archive; save it as CSV")
	case r.name < 0 && r.category < 0 && len(r.header) == 1 && strings.ContainsAny(r.header[0], ";\t"):
		return errNoCommas(r.header[0])
	case r.name < 0 && r.category < 0:
		return fmt.Errorf("the first line must name the columns, but it is %s; add a first line such as name,categoryId,status", shown)
	case r.name < 0:
		return fmt.Errorf("there is no column name; the first line is %s", shown)
	case r.category < 0:
		return fmt.Errorf("there is no column categoryId; the first line is %s", shown)
	}
	return nil
}

func errNoCommas(line string) error {
	return fmt.Errorf("no commas separate the columns; the first line is %s; save the file with commas between the columns", quoteLine(line))
}

// quoteLine quotes a line for a message. It shortens a long line.
func quoteLine(line string) string {
	shown := strconv.QuoteToASCII(line)
	if len(shown) > 200 {
		shown = shown[:200] + "…"
	}
	return shown
}

func (c *columns) countColumns(name string) (n int) {
	for _, column := range c.header {
		if column == name {
			n++
		}
	}
	return n
}

// ignoredColumns returns the names of the columns that the petReader does not use. It leaves out the column id, because
// every export has that column.
func (r *petReader) ignoredColumns() []string {
	return slices.DeleteFunc(slices.Clone(r.header), func(column string) bool {
		return column == "id" || column == "name" || column == "categoryId" || column == "status"
	})
}

// nextRow reads a row of a CSV file.
func (r *petReader) nextRow() (pet petstore.NewPet, err error) {
	row, err := r.readRow()
	if err != nil {
		return pet, err
	}
	if len(row) != len(r.header) {
		return pet, unreadable(fmt.Sprintf("the line has %d fields, but the first line of the file names %d columns.", len(row), len(r.header)))
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

// readRow returns the fields of the next row. The fields are valid until the next call. If a row is malformed, readRow skips
// only the first line of the row, because the next lines may be good rows.
func (r *petReader) readRow() ([][]byte, error) {
	for {
		fields, n, err := splitRow(r.buf, r.ended, r.fields[:0])
		r.fields = fields
		switch {
		case err == nil && n == 0:
			return nil, io.EOF
		case err == nil:
			blank := len(fields) == 1 && len(fields[0]) == 0 && r.buf[0] != '"'
			r.consume(n)
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
