package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// harmful says whether a terminal may obey a character instead of showing it. Control characters begin escape sequences;
// other characters reverse the direction of the text or begin a new line.
func harmful(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// harmless makes text from strangers safe to print: it writes harmful characters as \x1b or \u202e.
func harmless(text string) string {
	return escaped(text, func(r rune) string { return strings.Trim(strconv.QuoteRuneToASCII(r), "'") })
}

// harmlessJSON escapes the harmful characters in JSON, except for the line breaks between its values.
func harmlessJSON(text string) string {
	return escaped(text, func(r rune) string {
		if r == '\n' {
			return "\n"
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

func escaped(text string, escape func(rune) string) string {
	if !strings.ContainsFunc(text, harmful) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if harmful(r) {
			b.WriteString(escape(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
