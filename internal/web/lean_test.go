package web

import (
	"io/fs"
	"path"
	"strings"
	"testing"
)

func TestFilesAreServedWithoutIndentationAndComments(t *testing.T) {
	const source = "// A comment.\n\n/**\n * Two lines\n */\nif (a) {\n  b(\"// no comment\"); // kept\n  /* gone */\n}\n"
	for name, want := range map[string]string{
		"a.js":   "if (a) {\nb(\"// no comment\"); // kept\n}\n",
		"a.html": "// A comment.\n/**\n* Two lines\n*/\nif (a) {\nb(\"// no comment\"); // kept\n/* gone */\n}\n",
		"a.svg":  source,
	} {
		if got := string(lean(name, []byte(source))); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// A text that spans lines would lose its indentation, and code after a comment on the same line would be lost.
func TestNoFileLosesMoreThanComments(t *testing.T) {
	err := fs.WalkDir(files, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		source, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(source)) {
			line = strings.TrimSpace(line)
			switch path.Ext(name) {
			case ".js":
				if strings.Count(line, "`")%2 != 0 {
					t.Errorf("%s: a text spans lines: %s", name, line)
				}
				fallthrough
			case ".css":
				if _, after, found := strings.Cut(line, "*/"); strings.HasPrefix(line, "/*") && found && after != "" {
					t.Errorf("%s: code follows a comment: %s", name, line)
				}
			case ".html":
				if strings.Contains(line, "<pre") || strings.Contains(line, "<textarea") && !strings.Contains(line, "</textarea>") {
					t.Errorf("%s: the white space counts: %s", name, line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
