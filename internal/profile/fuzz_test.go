package profile

import (
	"os"
	"testing"
)

// FuzzProfile reads any file as a profile. A profile that is accepted is the same after it is written and read again.
func FuzzProfile(f *testing.F) {
	for _, seed := range []string{`{"server":"http://a","key":"b"}`, `{"Server":"a","KEY":"\u0000"}`, `{"server":1}`, `{"server":"a","key":"b"} x`, "", "null", `{"server":"\ud800","key":"b"}`} {
		f.Add([]byte(seed))
	}
	stored := Folder(f.TempDir())
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(stored.File("a"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := stored.Read("a")
		if err != nil {
			return
		}
		if err := stored.Write("b", p); err != nil {
			t.Fatal(err)
		}
		if again, err := stored.Read("b"); err != nil || again != p {
			t.Errorf("%q is read as %+v, written and read again as %+v, %v", text, p, again, err)
		}
	})
}
