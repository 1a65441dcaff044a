package transfer

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Format is how a file of animals is written.
type Format string

// The formats of a file.
const (
	CSV       Format = "csv"
	JSONLines Format = "jsonl"
)

// FormatOf guesses the format of a file from the extension of its name. It returns "" for an unknown extension.
func FormatOf(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return CSV
	case ".jsonl", ".ndjson":
		return JSONLines
	}
	return ""
}

// Pet is an animal as a file of animals shows it.
type Pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

// Writer writes a file of animals. Everything is written when Flush returns.
type Writer struct {
	Write func(Pet) error
	Flush func() error
}

// NewWriter makes a Writer.
func NewWriter(to io.Writer, format Format) (Writer, error) {
	if format == CSV {
		return newCSVWriter(csv.NewWriter(to))
	}
	buffer := bufio.NewWriter(to)
	encoder := json.NewEncoder(buffer)
	return Writer{func(p Pet) error { return encoder.Encode(p) }, buffer.Flush}, nil
}

func newCSVWriter(rows *csv.Writer) (Writer, error) {
	err := rows.Write([]string{"id", "name", "categoryId", "status"})
	return Writer{
		Write: func(p Pet) error {
			return rows.Write([]string{strconv.FormatInt(p.ID, 10), p.Name, strconv.FormatInt(p.CategoryID, 10), p.Status})
		},
		Flush: func() error {
			rows.Flush()
			return rows.Error()
		},
	}, err
}
