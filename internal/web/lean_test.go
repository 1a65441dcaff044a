package web

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

func TestFilesAreServedWithoutCommentsAndSpaces(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"a.js": {"// A comment.\n\n/**\n * Two lines\n */\nif (a) {\n  b = c ? \"; // text\" : d - -e; // gone\n  f({ g, h }); // it's kept\n  /* gone */\n}\nx = /a = b/;\ny = `a = ${b}` + c;\n",
			"if(a){b=c?\"; // text\":d - -e;\nf({ g, h }); // it's kept\n}\nx = /a = b/;y=`a = ${b}` + c;"},
		"a.css":  {"/* A comment. */\n.a, .b :is(p) { margin: 0 auto; }\n", ".a,.b :is(p){margin:0 auto}"},
		"a.html": {"<p>\n  // text\n</p>\n", "<p>\n// text\n</p>\n"},
		"a.svg":  {"<svg>\n  </svg>\n", "<svg>\n  </svg>\n"},
	} {
		if got := string(lean(name, []byte(c.source))); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// notText matches escaped characters and regular expressions of a script, which may hold marks that begin no text.
var notText = regexp.MustCompile(`\\.|/[^/]+/`)

// A text that spans lines would lose its indentation, code after a comment on the same line would be lost, and a text in a
// style sheet would lose its spaces.
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
				if strings.Count(notText.ReplaceAllString(line, ""), "`")%2 != 0 {
					t.Errorf("%s: a text spans lines: %s", name, line)
				}
				fallthrough
			case ".css":
				if _, after, found := strings.Cut(line, "*/"); strings.HasPrefix(line, "/*") && found && after != "" {
					t.Errorf("%s: code follows a comment: %s", name, line)
				}
				if got := lean(name, []byte(line)); len(got) > 0 && texts(string(got)) != texts(line) {
					t.Errorf("%s: a text changes: %s", name, line)
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

// texts returns what stands between quotation marks in a line, and then the same for accents.
func texts(line string) string {
	var found strings.Builder
	for _, mark := range []string{`"`, "`"} {
		for i, part := range strings.Split(strings.TrimSpace(line), mark) {
			if i%2 == 1 {
				found.WriteString(part)
			}
		}
	}
	return found.String()
}
