package terminal

import (
	"testing"
	"time"
)

// FuzzValues parses any text as a duration and as a size. An accepted duration must never be negative, and an accepted size
// must be at least 1.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{"90d", "36h", "-1h", "65535d", "64MiB", "9223372036854775807", "8589934592GiB", "0KiB", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err == nil && d < 0 {
			t.Errorf("%q is parsed as the duration %s", text, time.Duration(d))
		}
		var s Size
		if err := s.UnmarshalText([]byte(text)); err == nil && s < 1 {
			t.Errorf("%q is parsed as the size %d", text, s)
		}
	})
}
