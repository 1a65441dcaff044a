package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// isUnsafe reports whether a terminal may act on a character instead of showing it. Control characters start escape
// sequences. Bidi controls reverse the direction of the text. Separators start a new line.
func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// Escape makes untrusted text safe to print. It writes unsafe characters as escapes, such as \x1b or \u202e.
func Escape(text string) string {
	return replaceUnsafe(text, func(r rune) string { return strings.Trim(strconv.QuoteRuneToASCII(r), "'") })
}

// OneLine escapes text and joins its lines, so that the text fits into a table cell or a sentence.
func OneLine(text string) string { return Escape(strings.Join(strings.Fields(text), " ")) }

// EscapeJSON escapes the unsafe characters in a JSON text, except the line breaks between values.
func EscapeJSON(text string) string {
	return replaceUnsafe(text, func(r rune) string {
		if r == '\n' {
			return "\n"
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

func replaceUnsafe(text string, escape func(rune) string) string {
	if !strings.ContainsFunc(text, isUnsafe) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isUnsafe(r) {
			b.WriteString(escape(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
