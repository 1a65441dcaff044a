package transfer

import (
	"bufio"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"

	"petstore/internal/petstore"
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

// exportedPet is an animal to export.
type exportedPet struct {
	ID         int64
	Name       string
	CategoryID int64
	Status     string
	Facts      petstore.Facts
}

// petWriter writes a file of animals. The file is complete when flush has returned.
type petWriter interface {
	write(exportedPet) error
	flush() error
	close()
}

func newPetWriter(to io.Writer, format fileFormat) petWriter {
	if format == csvFormat {
		return newCSVWriter(to)
	}
	buffer := bufio.NewWriter(to)
	return &jsonWriter{buffer, json.NewEncoder(buffer)}
}

// jsonWriter writes JSON Lines.
type jsonWriter struct {
	buffer  *bufio.Writer
	objects *json.Encoder
}

func (w *jsonWriter) write(p exportedPet) error {
	return w.objects.Encode(struct {
		ID          int64    `json:"id"`
		Name        string   `json:"name"`
		CategoryID  int64    `json:"categoryId"`
		Status      string   `json:"status"`
		Breed       string   `json:"breed,omitempty"`
		Sex         string   `json:"sex,omitempty"`
		BornOn      string   `json:"bornOn,omitempty"`
		ArrivedOn   string   `json:"arrivedOn,omitempty"`
		Description string   `json:"description,omitempty"`
		Tags        []string `json:"tags,omitempty"`
		Notes       string   `json:"notes,omitempty"`
	}{
		p.ID, p.Name, p.CategoryID, p.Status,
		p.Facts.Breed, string(p.Facts.Sex), p.Facts.BornOn, p.Facts.ArrivedOn, p.Facts.Description, p.Facts.Tags.List(), p.Facts.Notes,
	})
}

func (w *jsonWriter) flush() error { return w.buffer.Flush() }

func (w *jsonWriter) close() {}
