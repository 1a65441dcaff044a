package terminal

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that a person can also write in days, such as 90d.
type Duration time.Duration

// UnmarshalText parses a duration such as 90d, 36h or 1h30m.
func (d *Duration) UnmarshalText(text []byte) error {
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err == nil {
			*d = Duration(n) * Duration(24*time.Hour)
			return nil
		}
	}
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is not a duration such as 90d, 36h or 45m", text)
	}
	*d = Duration(parsed)
	return nil
}

// Size is a number of bytes that a person can also write as 512KiB, 64MiB or 1GiB.
type Size int64

// UnmarshalText parses a size such as 64MiB or 65536.
func (s *Size) UnmarshalText(text []byte) error {
	digits, unit := string(text), int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB"} {
		if before, found := strings.CutSuffix(digits, suffix); found {
			digits, unit = before, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a size such as 64MiB, 512KiB or 65536", text)
	}
	*s = Size(n * unit)
	return nil
}

// IsWebAddress reports whether u is an http or https URL to which a path can be added. Such a URL has a host, but no
// credentials, no query and no fragment.
func IsWebAddress(u *url.URL) bool {
	web := u.Scheme == "http" || u.Scheme == "https"
	return web && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

var credentials = regexp.MustCompile(`//.*@`)

// HideCredentials hides the user and the password in a URL, so that a message can show the URL.
func HideCredentials(address string) string { return credentials.ReplaceAllString(address, "//…@") }
