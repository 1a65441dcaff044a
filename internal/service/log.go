package service

import (
	"io"
	"log/slog"

	"petstore/internal/terminal"
)

// logs holds the destinations of the server's log.
type logs struct {
	*slog.Logger
	// access gets a line of JSON for every request. If it is nil, the Logger logs requests.
	access io.Writer
	queue  *logQueue
}

// newLogs makes logs that are text on a terminal and JSON elsewhere. They go through a queue, so that no code waits for
// a reader.
func newLogs(out io.Writer, level slog.Level, format string) logs {
	text := format == "text" || format == "auto" && terminal.IsTerminal(out)
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
