package terminal

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// WithCommas formats n with a comma between groups of three digits, such as 25,000.
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

// PluralIs is like Plural, but adds the verb, such as "1 line is" or "2 lines are".
func PluralIs(n int64, noun string) string {
	if n == 1 {
		return Plural(n, noun) + " is"
	}
	return Plural(n, noun) + " are"
}

// Rough returns a duration as a person would say it, such as "8 s", "25 min", "5 h" or "3 days".
func Rough(d time.Duration) string {
	in := func(unit time.Duration) int64 { return int64(math.Round(float64(d) / float64(unit))) }
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", in(time.Second))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", in(time.Minute))
	case d < 36*time.Hour:
		return fmt.Sprintf("%d h", in(time.Hour))
	}
	return WithCommas(in(24*time.Hour)) + " days"
}
