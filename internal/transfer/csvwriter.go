package transfer

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"

	"petstore/internal/petstore"
)

// csvWriter writes CSV. The columns of the profile are there only if an animal has facts, so it holds back all rows before
// the first such animal.
type csvWriter struct {
	to     io.Writer
	rows   *csv.Writer // writes to early until the first animal with facts, and then to the file
	early  spool
	isWide bool // the rows have the columns of the profile
}

func newCSVWriter(to io.Writer) *csvWriter {
	w := &csvWriter{to: to}
	w.rows = csv.NewWriter(&w.early)
	return w
}

func (w *csvWriter) write(p exportedPet) error {
	if !w.isWide && p.Facts != (petstore.Facts{}) {
		if err := w.widen(); err != nil {
			return err
		}
	}
	row := []string{strconv.FormatInt(p.ID, 10), p.Name, strconv.FormatInt(p.CategoryID, 10), p.Status}
	if w.isWide {
		for _, fact := range facts {
			row = append(row, fact.toCell(*fact.of(&p.Facts)))
		}
	}
	return w.rows.Write(row)
}

// petColumns are the columns of every export.
var petColumns = []string{"id", "name", "categoryId", "status"}

// widen writes the header with all columns, and then the rows that were held back.
func (w *csvWriter) widen() error {
	early, err := w.heldBack()
	if err != nil {
		return err
	}
	w.isWide, w.rows = true, csv.NewWriter(w.to)
	header := slices.Clone(petColumns)
	for _, fact := range facts {
		header = append(header, fact.name)
	}
	if err := w.rows.Write(header); err != nil {
		return err
	}
	r := &petReader{source: early, memory: make([]byte, maxLine), columns: columns{separator: ','}}
	for row := make([]string, len(header)); ; {
		fields, err := r.readRow()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for i, field := range fields {
			row[i] = string(field)
		}
		if err := w.rows.Write(row); err != nil {
			return err
		}
	}
}

// heldBack returns the rows that were held back.
func (w *csvWriter) heldBack() (io.Reader, error) {
	w.rows.Flush()
	if err := w.rows.Error(); err != nil {
		return nil, err
	}
	return w.early.reader()
}

func (w *csvWriter) flush() error {
	if w.isWide {
		w.rows.Flush()
		return w.rows.Error()
	}
	early, err := w.heldBack()
	if err != nil {
		return err
	}
	w.rows = csv.NewWriter(w.to)
	w.rows.Write(petColumns)
	w.rows.Flush()
	if err := w.rows.Error(); err != nil {
		return err
	}
	_, err = io.Copy(w.to, early)
	return err
}

func (w *csvWriter) close() { w.early.close() }
