package reference

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"
)

// section is a part of the document's description that begins with a title in bold, as in "**Keys.** Every …".
type section struct {
	ID, Title string
	Text      template.HTML
}

var titled = regexp.MustCompile(`^\*\*([^*]+)\.\*\* `)

// sections splits a description into the text before the first title and a section for each title.
func sections(description string) (intro template.HTML, all []section) {
	for _, block := range strings.Split(strings.TrimSpace(description), "\n\n") {
		title := titled.FindStringSubmatch(block)
		switch {
		case title != nil:
			text := markdown(strings.TrimPrefix(block, title[0]))
			all = append(all, section{ID: anchor(title[1]), Title: title[1], Text: text})
		case len(all) > 0:
			all[len(all)-1].Text += markdown(block)
		default:
			intro += markdown(block)
		}
	}
	return intro, all
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchor turns a title into a URL fragment, as GitHub does.
func anchor(title string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}

// writer renders the Markdown that our texts use: paragraphs, headings, lists, tables, code, pictures, links, and text in
// bold or italics. It escapes everything else.
type writer struct {
	strings.Builder
	// level is the level of a heading that begins with "##".
	level int
	// href returns the address to which a link leads on this server, or "" if it leads nowhere. If href is nil, the text has
	// no links.
	href func(target string) string
	// headings lists the headings of the level that have an anchor. If href is nil, no heading has one.
	headings []heading
}

type heading struct{ ID, Title string }

// markdown renders a text of the reference. It has no links, and its headings are below those of the page.
func markdown(text string) template.HTML {
	w := writer{level: 3}
	w.write(text)
	return template.HTML(w.String())
}

// item matches the beginning of an item of a list.
var item = regexp.MustCompile(`^(?:- |([0-9]+)\. )`)

func (w *writer) write(text string) {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n")
	for len(lines) > 0 {
		first, length := lines[0], blockLength(lines)
		block := lines[:length]
		switch {
		case first == "" || strings.HasPrefix(first, "# "): // skips the title, because the page has its own
		case strings.HasPrefix(first, "## ") || strings.HasPrefix(first, "### "):
			w.writeHeading(first)
		case strings.HasPrefix(first, "```"):
			w.writeCode(first[3:], strings.TrimSuffix(strings.Join(block[1:], "\n"), "```"))
		case length > 1 && strings.HasPrefix(block[1], "|--"):
			w.writeTable(block)
		case item.MatchString(first):
			w.writeList(block)
		default:
			w.WriteString("<p>" + w.inline(strings.Join(block, "\n")) + "</p>")
		}
		lines = lines[length:]
	}
}

// blockLength returns the number of lines of the first block. An empty line and a heading are blocks of their own. Code ends
// with its fence, and everything else before an empty line or code.
func blockLength(lines []string) int {
	if lines[0] == "" || strings.HasPrefix(lines[0], "#") {
		return 1
	}
	isCode := strings.HasPrefix(lines[0], "```")
	for i, line := range lines[1:] {
		switch {
		case isCode && line == "```":
			return i + 2
		case !isCode && (line == "" || strings.HasPrefix(line, "```")):
			return i + 1
		}
	}
	return len(lines)
}

func (w *writer) writeHeading(line string) {
	mark, title, _ := strings.Cut(line, " ")
	level := w.level + len(mark) - 2
	if w.href == nil {
		fmt.Fprintf(w, "<h%d>%s</h%[1]d>", level, w.inline(title))
		return
	}
	h := heading{anchor(title), strings.ReplaceAll(title, "`", "")}
	w.headings = append(w.headings, h)
	fmt.Fprintf(w, `<h%[1]d id="%[2]s" tabindex="-1">%[3]s <a class="anchor" href="#%[2]s" aria-label="Link to %[4]s">#</a></h%[1]d>`,
		level, template.HTMLEscapeString(h.ID), w.inline(title), template.HTMLEscapeString(h.Title))
}

// languages has the name that people give to the language of code.
var languages = map[string]string{"": "Example", "console": "Terminal", "sh": "Shell", "go": "Go", "python": "Python", "js": "JavaScript"}

func (w *writer) writeCode(language, code string) {
	fmt.Fprintf(w, `<div class="code"><div class="code-head">%s <button type="button" class="copy">Copy<span class="out"> this code</span></button></div><pre><code>%s</code></pre></div>`,
		languages[language], highlight(strings.TrimSuffix(code, "\n")))
}

// writeList writes a list. The lines of an item that do not begin with a mark continue the item.
func (w *writer) writeList(lines []string) {
	element := "ul"
	if item.FindStringSubmatch(lines[0])[1] != "" {
		element = "ol"
	}
	w.WriteString("<" + element + ">")
	for len(lines) > 0 {
		end := 1
		for end < len(lines) && !item.MatchString(lines[end]) {
			end++
		}
		text := strings.TrimPrefix(strings.Join(lines[:end], "\n"), item.FindString(lines[0]))
		w.WriteString("<li>" + w.inline(text) + "</li>")
		lines = lines[end:]
	}
	w.WriteString("</" + element + ">")
}

// writeTable writes a table. The first cell of each row is its heading. Without any text, the row of headings is left out.
// Each cell knows its column, because a narrow screen shows the cells below each other.
func (w *writer) writeTable(lines []string) {
	w.WriteString("<table>")
	columns := cells(lines[0])
	if strings.Trim(lines[0], "| ") != "" {
		w.WriteString("<thead><tr>")
		for _, cell := range columns {
			if cell == "" {
				w.WriteString("<td></td>")
			} else {
				w.WriteString(`<th scope="col">` + w.inline(cell) + "</th>")
			}
		}
		w.WriteString("</tr></thead>")
	}
	w.WriteString("<tbody>")
	for _, line := range lines[2:] {
		w.WriteString("<tr>")
		for i, cell := range cells(line) {
			switch {
			case i == 0:
				w.WriteString(`<th scope="row">` + w.inline(cell) + "</th>")
			case i < len(columns) && columns[i] != "":
				fmt.Fprintf(w, `<td data-column="%s">%s</td>`, template.HTMLEscapeString(columns[i]), w.inline(cell))
			default:
				w.WriteString("<td>" + w.inline(cell) + "</td>")
			}
		}
		w.WriteString("</tr>")
	}
	w.WriteString("</tbody></table>")
}

// cells splits the row of a table. A bar after a backslash is part of its cell.
func cells(line string) []string {
	parts := strings.Split(strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, "\x00"), "|")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(strings.TrimSpace(part), "\x00", "|")
	}
	return parts
}
