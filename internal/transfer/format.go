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

// fileFormat is the format of a file with animals.
type fileFormat string

const (
	csvFormat       fileFormat = "csv"
	jsonLinesFormat fileFormat = "jsonl"
)

// formatByName returns the format for the extension of a file name, or "" if the extension is unknown.
func formatByName(name string) fileFormat {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return csvFormat
	case ".jsonl", ".ndjson":
		return jsonLinesFormat
	}
	return ""
}

// exportedPet is an animal in the form that an exported file has.
type exportedPet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

// petWriter writes a file with animals. The file is complete when flush has returned.
type petWriter struct {
	write func(exportedPet) error
	flush func() error
}

func newPetWriter(to io.Writer, format fileFormat) (petWriter, error) {
	if format == csvFormat {
		return newCSVWriter(csv.NewWriter(to))
	}
	buffer := bufio.NewWriter(to)
	encoder := json.NewEncoder(buffer)
	return petWriter{func(p exportedPet) error { return encoder.Encode(p) }, buffer.Flush}, nil
}

func newCSVWriter(rows *csv.Writer) (petWriter, error) {
	err := rows.Write([]string{"id", "name", "categoryId", "status"})
	return petWriter{
		write: func(p exportedPet) error {
			return rows.Write([]string{strconv.FormatInt(p.ID, 10), p.Name, strconv.FormatInt(p.CategoryID, 10), p.Status})
		},
		flush: func() error {
			rows.Flush()
			return rows.Error()
		},
	}, err
}
