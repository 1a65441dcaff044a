package web

import (
	"bytes"
	"path"
	"regexp"
)

var (
	// remark matches a script's line that ends with a comment. A comment with a quotation mark stays, because it may be
	// part of a text.
	remark = regexp.MustCompile("^(.*[;{},)\\]]) // [^\"'`]*$")
	// spaced matches what needs no space around it in a style sheet.
	spaced = regexp.MustCompile(` *([{};,]) *|(:) `)
	// shownText matches a style that shows a text, in which spaces count.
	shownText = regexp.MustCompile(`content: "[^"]`)
)

// lean returns a file of a page as browsers need it: without indentation and empty lines, and scripts and style sheets
// without most comments. Line breaks stay, so that the place of an error can be found.
func lean(name string, source []byte) []byte {
	kind := path.Ext(name)
	if kind != ".js" && kind != ".css" && kind != ".html" {
		return source
	}
	var out bytes.Buffer
	comment := false // whether the line is inside a comment of several lines
	for line := range bytes.Lines(source) {
		line = bytes.TrimSpace(line)
		comment = comment || kind != ".html" && bytes.HasPrefix(line, []byte("/*"))
		if len(line) > 0 && !comment && !(kind == ".js" && bytes.HasPrefix(line, []byte("//"))) {
			switch {
			case kind == ".js":
				line = remark.ReplaceAll(line, []byte("$1"))
			case kind == ".css" && !shownText.Match(line):
				line = spaced.ReplaceAll(line, []byte("$1$2"))
			}
			out.Write(line)
			out.WriteByte('\n')
		}
		if comment && bytes.HasSuffix(line, []byte("*/")) {
			comment = false
		}
	}
	return out.Bytes()
}
