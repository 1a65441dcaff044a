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
	styleSpace  = regexp.MustCompile(` *([{};,]) *|(:) `)
	scriptSpace = regexp.MustCompile(` *([=?:,;(){}\[\]<>&|]+) *`)
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
			switch kind {
			case ".js":
				line = outsideTexts(remark.ReplaceAll(line, []byte("$1")), scriptSpace, "$1")
			case ".css":
				line = outsideTexts(line, styleSpace, "$1$2")
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

// outsideTexts replaces matches in a line, but not between quotation marks. A line that may have texts of another kind, or a
// regular expression, stays as it is.
func outsideTexts(line []byte, pattern *regexp.Regexp, with string) []byte {
	parts := bytes.Split(line, []byte(`"`))
	for i, part := range parts {
		if i%2 == 0 && pattern == scriptSpace && bytes.ContainsAny(part, "'`/\\") || i%2 == 1 && bytes.ContainsAny(part, "`\\") {
			return line
		}
	}
	for i := 0; i < len(parts); i += 2 {
		parts[i] = pattern.ReplaceAll(parts[i], []byte(with))
	}
	return bytes.Join(parts, []byte(`"`))
}
