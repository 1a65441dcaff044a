package service

import (
	"io"
	"log/slog"

	"petstore/internal/terminal"
)

// logs holds the logger of the server and the access log.
type logs struct {
	*slog.Logger
	// access receives a line of JSON for every request. If access is nil, the Logger logs requests.
	access io.Writer
	queue  *logQueue
}

// newLogs returns logs in the given format. The format auto means text on a terminal, and JSON elsewhere. The lines go
// through a queue, so that no code waits for the reader of the log.
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
	l := logs{slog.New(handler(queue)), nil, queue}
	if !text && level <= slog.LevelInfo {
		l.access = queue
	}
	return l
}
