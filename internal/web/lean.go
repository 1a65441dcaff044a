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
	// styleSpace and scriptSpace match what needs no spaces around it.
	styleSpace  = regexp.MustCompile(`;? *(}) *| *([{;,]) *|(:) `)
	scriptSpace = regexp.MustCompile(` *([=?:,;(){}\[\]<>&|]+) *`)
)

// lean returns a file of a page as browsers need it: without indentation and empty lines, and scripts and style sheets
// without most comments, spaces and line breaks. The files themselves stay readable, and nothing has to be built.
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
			switch kind {
			case ".js":
				line = outsideTexts(remark.ReplaceAll(line, []byte("$1")), scriptSpace, "$1")
			case ".css":
				line = outsideTexts(line, styleSpace, "$1$2$3")
			}
			out.Write(line)
			if breaksMatter(kind, line) {
				out.WriteByte('\n')
			}
		}
		if comment && bytes.HasSuffix(line, []byte("*/")) {
			comment = false
		}
	}
	return out.Bytes()
}

// breaksMatter reports whether the line break after a line must stay. The imports of a script stay lines of their own.
func breaksMatter(kind string, line []byte) bool {
	switch end := line[len(line)-1]; kind {
	case ".css":
		return end != '{' && end != '}' && end != ';' && end != ','
	case ".js":
		return bytes.HasPrefix(line, []byte("import")) || bytes.Contains(line, []byte("//")) || end != '{' && end != ';' && end != ',' && end != '('
	}
	return true
}

// text matches a text in a line: between quotation marks, or a template with no other template inside.
var text = regexp.MustCompile("\"[^\"\\\\`]*\"|`[^`]*`")

// outsideTexts replaces matches in a line, but not inside texts. A line that may have texts of another kind, or a regular
// expression, stays as it is.
func outsideTexts(line []byte, pattern *regexp.Regexp, with string) []byte {
	if bytes.Count(line, []byte("`")) > 2 || pattern == scriptSpace && bytes.ContainsAny(text.ReplaceAll(line, nil), "'`/\\\"") {
		return line
	}
	var out []byte
	for len(line) > 0 {
		found := text.FindIndex(line)
		if found == nil {
			found = []int{len(line), len(line)}
		}
		out = append(out, pattern.ReplaceAll(line[:found[0]], []byte(with))...)
		out = append(out, line[found[0]:found[1]]...)
		line = line[found[1]:]
	}
	return out
}
