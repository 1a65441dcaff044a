package reference

import (
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
	for _, block := range blocks(description) {
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

// anchor turns a title into a URL fragment.
func anchor(title string) string { return strings.ReplaceAll(strings.ToLower(title), " ", "-") }

func blocks(text string) []string {
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n\n")
}

// markdown renders the Markdown that our texts use: paragraphs, headings, lists, code and bold text. It escapes everything
// else.
func markdown(text string) template.HTML {
	var b strings.Builder
	for _, block := range blocks(text) {
		switch {
		case block == "" || strings.HasPrefix(block, "# "): // skips the title, because the page has its own
		case strings.HasPrefix(block, "## "):
			b.WriteString("<h3>" + inline(block[3:]) + "</h3>")
		case strings.HasPrefix(block, "- "):
			b.WriteString("<ul>")
			for item := range strings.SplitSeq(block[2:], "\n- ") {
				b.WriteString("<li>" + inline(item) + "</li>")
			}
			b.WriteString("</ul>")
		default:
			b.WriteString("<p>" + inline(block) + "</p>")
		}
	}
	return template.HTML(b.String())
}

var bold = regexp.MustCompile(`\*\*([^*]+)\*\*`)

// inline escapes a text, and renders text between backticks as code and text between double asterisks as bold.
func inline(text string) string {
	parts := strings.Split(template.HTMLEscapeString(text), "`")
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i%2 == 0:
			b.WriteString(bold.ReplaceAllString(part, "<strong>$1</strong>"))
		case i == len(parts)-1: // a backtick without a closing backtick
			b.WriteString("`" + part)
		default:
			b.WriteString("<code>" + part + "</code>")
		}
	}
	return b.String()
}
