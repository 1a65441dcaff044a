package web

import (
	"bytes"
	"path"
)

// lean returns a file of a page as browsers need it: without indentation and empty lines, and scripts and style sheets
// without the comments that have lines of their own. Line breaks stay, so that the place of an error can be found.
func lean(name string, source []byte) []byte {
	code := path.Ext(name) == ".js" || path.Ext(name) == ".css"
	if !code && path.Ext(name) != ".html" {
		return source
	}
	var out bytes.Buffer
	comment := false // whether the line is inside a comment of several lines
	for line := range bytes.Lines(source) {
		line = bytes.TrimSpace(line)
		comment = comment || code && bytes.HasPrefix(line, []byte("/*"))
		if len(line) > 0 && !comment && !(code && bytes.HasPrefix(line, []byte("//"))) {
			out.Write(line)
			out.WriteByte('\n')
		}
		if comment && bytes.HasSuffix(line, []byte("*/")) {
			comment = false
		}
	}
	return out.Bytes()
}
