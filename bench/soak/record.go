// Package soak holds what a long run at a constant rate has measured, and tells whether anything grows in it.
package soak

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"petstore/bench/load"
	"petstore/bench/result"
)

// Header says what was measured, how and on what.
type Header struct {
	Date        time.Time      `json:"date"`
	Revision    string         `json:"revision"`
	Store       string         `json:"store"`
	Name        string         `json:"name"`
	Rate        float64        `json:"rate"` // requests a second
	For         time.Duration  `json:"for"`
	Connections int            `json:"connections"`
	Rows        int64          `json:"rows"`
	Machine     result.Machine `json:"machine"`
}

// Sample is one interval.
type Sample struct {
	At time.Duration `json:"at"` // since the start
	load.Result
	Resident   int64   `json:"resident"` // bytes, of the server
	Heap       float64 `json:"heap"`     // bytes that Go has allocated and not yet freed
	Goroutines float64 `json:"goroutines"`
	Files      int     `json:"files"` // that the server has open
	Log        int64   `json:"log"`   // bytes of the write-ahead log
	Database   int64   `json:"database"`
	Animals    float64 `json:"animals"`
}

// Run is a soak, and the file that it is in: every sample is written at once, so that a run which breaks off is worth what
// it has measured.
type Run struct {
	Header
	Samples []Sample
	file    *os.File
}

// line is one of the file, and has one of these.
type line struct {
	Soak   *Header `json:"soak,omitempty"`
	Sample *Sample `json:"sample,omitempty"`
}

// Create begins a file.
func Create(path string, h Header) (*Run, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &Run{Header: h, file: file}, json.NewEncoder(file).Encode(line{Soak: &h})
}

// Add appends a sample.
func (r *Run) Add(s Sample) error {
	r.Samples = append(r.Samples, s)
	return json.NewEncoder(r.file).Encode(line{Sample: &s})
}

// Close ends the file.
func (r *Run) Close() error { return r.file.Close() }

// Load reads a file, also one that broke off.
func Load(path string) (*Run, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := &Run{}
	for in := json.NewDecoder(file); ; {
		var l line
		if err := in.Decode(&l); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if l.Soak != nil {
			r.Header = *l.Soak
		}
		if l.Sample != nil {
			r.Samples = append(r.Samples, *l.Sample)
		}
	}
	if len(r.Samples) == 0 {
		return nil, fmt.Errorf("%s holds no samples of a soak", path)
	}
	return r, nil
}
