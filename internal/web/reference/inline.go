package reference

import (
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"
)

// These expressions match parts of a text that is already escaped.
var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	spanMark = regexp.MustCompile("\x00([0-9]+)\x00")
	link     = regexp.MustCompile(`(!?)\[([^\]]*)\]\(([^()\s]+)\)`)
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	italic   = regexp.MustCompile(`\*([^*\s][^*]*)\*`)
)

// inline renders the text of a paragraph, an item or a cell. Code is set aside first, because nothing in it has a meaning.
func (w *writer) inline(text string) string {
	var spans []string
	text = template.HTMLEscapeString(strings.ReplaceAll(text, "\x00", ""))
	text = codeSpan.ReplaceAllStringFunc(text, func(span string) string {
		spans = append(spans, "<code>"+strings.Trim(span, "`")+"</code>")
		return "\x00" + strconv.Itoa(len(spans)-1) + "\x00"
	})
	if w.href != nil {
		text = link.ReplaceAllStringFunc(text, w.link)
	}
	text = bold.ReplaceAllString(text, "<strong>$1</strong>")
	text = italic.ReplaceAllString(text, "<em>$1</em>")
	return spanMark.ReplaceAllStringFunc(text, func(mark string) string {
		number, _ := strconv.Atoi(strings.Trim(mark, "\x00")) // cannot fail, because only the marks above have NUL
		return spans[number]
	})
}

// link renders a link or a picture. Of a link that leads nowhere, only the text is left.
func (w *writer) link(source string) string {
	parts := link.FindStringSubmatch(source)
	text, target := parts[2], template.HTMLEscapeString(w.href(html.UnescapeString(parts[3])))
	switch {
	case target == "":
		return text
	case parts[1] != "":
		return `<img src="` + target + `" alt="` + text + `">`
	}
	return `<a href="` + target + `">` + text + `</a>`
}
