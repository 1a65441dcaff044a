package profile

import (
	"os"
	"testing"
)

// FuzzProfile reads any bytes as a profile. An accepted profile must not change when it is written and read again.
func FuzzProfile(f *testing.F) {
	for _, seed := range []string{`{"server":"http://a","key":"b"}`, `{"Server":"a","KEY":"\u0000"}`, `{"server":1}`, `{"server":"a","key":"b"} x`, "", "null", `{"server":"\ud800","key":"b"}`} {
		f.Add([]byte(seed))
	}
	profiles := Folder(f.TempDir())
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(profiles.File("a"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := profiles.Read("a")
		if err != nil {
			return
		}
		if err := profiles.Write("b", p); err != nil {
			t.Fatal(err)
		}
		if again, err := profiles.Read("b"); err != nil || again != p {
			t.Errorf("%q is read as %+v, written and read again as %+v, %v", text, p, again, err)
		}
	})
}
