package result

import (
	"strconv"
	"strings"
)

// Count writes a number of things as people do: 10 thousand, 10 million, else with commas.
func Count(n int64) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return strconv.FormatInt(n/1_000_000, 10) + " million"
	case n >= 1_000 && n%1_000 == 0:
		return strconv.FormatInt(n/1_000, 10) + " thousand"
	}
	return Commas(n)
}

// Commas groups the digits of a number by three.
func Commas(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
