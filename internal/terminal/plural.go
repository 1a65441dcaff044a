package terminal

import "strconv"

// Grouped writes a number with commas between thousands.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Plural is "1 line" or "2 lines".
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(n) + " " + noun + "s"
}

// PluralIs is "1 line is" or "2 lines are".
func PluralIs(n int64, noun string) string {
	if n == 1 {
		return Plural(n, noun) + " is"
	}
	return Plural(n, noun) + " are"
}
