package terminal

import "strconv"

// WithCommas writes n with commas between thousands, such as 25,000.
func WithCommas(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Plural returns a count with its noun, such as "1 line" or "2 lines".
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return WithCommas(n) + " " + noun + "s"
}

// PluralIs is like Plural, with the verb: "1 line is" or "2 lines are".
func PluralIs(n int64, noun string) string {
	if n == 1 {
		return Plural(n, noun) + " is"
	}
	return Plural(n, noun) + " are"
}
