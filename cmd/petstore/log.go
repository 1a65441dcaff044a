package main

import (
	"io"
	"log/slog"
	"os"
)

// logs holds where the server logs what it does.
type logs struct {
	*slog.Logger
	// access gets a line of JSON for every request. If it is nil, the Logger logs requests.
	access io.Writer
	queue  *logQueue
}

// newLogs writes text for a person at a terminal and JSON otherwise, through a queue that nothing waits for.
func newLogs(out io.Writer, level slog.Level, format string) logs {
	text := format == "text" || format == "auto" && isTerminal(out)
	handler := func(w io.Writer) slog.Handler {
		options := &slog.HandlerOptions{Level: level}
		if text {
			return slog.NewTextHandler(w, options)
		}
		return slog.NewJSONHandler(w, options)
	}
	queue := newLogQueue(out, handler)
	made := logs{slog.New(handler(queue)), nil, queue}
	if !text && level <= slog.LevelInfo {
		made.access = queue
	}
	return made
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && hasWindow(file)
}
