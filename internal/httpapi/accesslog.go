package httpapi

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"
)

// logAnswer logs one line about an answered request. The line goes to the logger Access, or to Log if Access is nil.
func (a *API) logAnswer(x *exchange, elapsed time.Duration) {
	ctx, level := x.r.Context(), levelOf(x)
	switch {
	case !a.Log.Enabled(ctx, level):
	case a.Access != nil:
		line := buffers.Get().(*[]byte)
		*line = a.appendLine((*line)[:0], x, elapsed)
		a.Access.Write(*line)
		buffers.Put(line)
	default:
		a.Log.LogAttrs(ctx, level, "request", a.attributes(x, elapsed)...)
	}
}

// levelOf returns the log level for a request. The level is error only if the service could not do its work. Some other
// statuses from 500 on are no errors: net/http uses them to answer mistakes of clients.
func levelOf(x *exchange) slog.Level {
	switch {
	case x.operation != nil && x.operation.probe:
		return slog.LevelDebug
	case x.status == http.StatusInternalServerError, x.status == http.StatusServiceUnavailable:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// addFields adds the fields of a request to a line in either format.
func (a *API) addFields(l *line, x *exchange, elapsed time.Duration) {
	l.text("id", x.requestID)
	l.text("method", a.redactedMethod(x))
	l.text("path", a.redactedPath(x))
	l.text("route", x.route())
	l.number("status", x.status)
	l.number("bytes", x.size)
	l.duration("duration", elapsed)
	l.text("client", a.clientOf(x))
	if x.key.ID != "" {
		l.text("key", x.key.ID)
	}
	if x.traceID != "" {
		l.text("trace_id", x.traceID)
	}
	if x.isDeprecated() {
		l.flag("deprecated")
	}
	if x.cut {
		l.flag("cut")
	}
	if x.cause != nil {
		l.text("cause", x.cause.Error())
	}
}

// attributes returns the fields of a request for slog, which adds the time, the level and the message.
func (a *API) attributes(x *exchange, elapsed time.Duration) []slog.Attr {
	l := line{attrs: make([]slog.Attr, 0, 13)}
	a.addFields(&l, x, elapsed)
	return l.attrs
}

// appendLine appends the line that slog's JSON handler would write. It takes a fraction of the time that the handler takes.
// The time matters, because every request has a line.
func (a *API) appendLine(b []byte, x *exchange, elapsed time.Duration) []byte {
	b = append(b, `{"time":"`...)
	b = x.start.Add(elapsed).AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","level":"`...)
	b = append(b, levelOf(x).String()...)
	b = append(b, `","msg":"request"`...)
	l := line{json: b}
	a.addFields(&l, x, elapsed)
	return append(l.json, "}\n"...)
}

// line collects fields as slog attributes if attrs is not nil, and as JSON otherwise.
type line struct {
	attrs []slog.Attr
	json  []byte
}

func (l *line) text(name, value string) {
	if l.attrs != nil {
		l.attrs = append(l.attrs, slog.String(name, value))
	} else {
		l.json = appendString(appendName(l.json, name), value)
	}
}

func (l *line) number(name string, value int) {
	if l.attrs != nil {
		l.attrs = append(l.attrs, slog.Int(name, value))
	} else {
		l.json = strconv.AppendInt(appendName(l.json, name), int64(value), 10)
	}
}

// duration writes the duration in nanoseconds into JSON, as slog does.
func (l *line) duration(name string, value time.Duration) {
	if l.attrs != nil {
		l.attrs = append(l.attrs, slog.Duration(name, value))
	} else {
		l.json = strconv.AppendInt(appendName(l.json, name), int64(value), 10)
	}
}

// flag adds a field that is true. A field that would be false does not appear in the line.
func (l *line) flag(name string) {
	if l.attrs != nil {
		l.attrs = append(l.attrs, slog.Bool(name, true))
	} else {
		l.json = append(appendName(l.json, name), "true"...)
	}
}

func appendName(b []byte, name string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":`...)
}
