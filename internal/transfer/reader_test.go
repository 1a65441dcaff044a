package transfer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

// exported returns a line as an export has it.
func exported(id int64, line petLine) exportedPet {
	return exportedPet{id, line.Pet.Name, line.Pet.CategoryID, line.Pet.Status.String(), line.Facts}
}

// readAll returns a text for each line: `1: "Rex" 7 available` for an animal, and "1! reason" for a bad line. The name of a
// category and facts follow an animal if it has any.
func readAll(source io.Reader, format fileFormat) (lines []string, err error) {
	r, err := newPetReader(source, format)
	if err != nil {
		return nil, err
	}
	for {
		line, err := r.Next()
		bad := (*badLine)(nil)
		switch {
		case err == io.EOF:
			return lines, nil
		case errors.As(err, &bad):
			lines = append(lines, fmt.Sprintf("%d! %s", bad.Number, bad.Reason))
		case err != nil:
			return lines, err
		default:
			shown := fmt.Sprintf("%d: %q %d %s", line.Number, line.Pet.Name, line.Pet.CategoryID, line.Pet.Status)
			if line.Category != "" {
				shown += fmt.Sprintf(" %q", line.Category)
			}
			if line.hasFacts() {
				shown += fmt.Sprintf(" %q", line.Facts)
			}
			lines = append(lines, shown)
		}
	}
}

const (
	header = "name,categoryId,status\n"
	whole  = "must be a whole number from -9223372036854775808 to 9223372036854775807"
)

func TestGoodAndBadLinesAreRead(t *testing.T) {
	for _, c := range []struct {
		what, text string
		want       []string
	}{
		{"plain rows", header + "Rex,7,sold\nTom,-1,pending\n", []string{`2: "Rex" 7 sold`, `3: "Tom" -1 pending`}},
		{"no line break at the end", header + "Rex,7,sold", []string{`2: "Rex" 7 sold`}},
		{"a BOM", "\xef\xbb\xbf" + header + "Rex,7,sold\n", []string{`2: "Rex" 7 sold`}},
		{"CRLF", "name,categoryId,status\r\nRex,7,sold\r\n\"Tom\",8,\r\n", []string{`2: "Rex" 7 sold`, `3: "Tom" 8 available`}},
		{"quotation marks and line breaks in a name", header + "\"Rex \"\"the\"\"\r\ndog,\",7,sold\nTom,8,sold\n", []string{`2: "Rex \"the\"\r\ndog," 7 sold`, `4: "Tom" 8 sold`}},
		{"other columns in another order", "id,categoryId,color,name\n1,7,red,Rex\n", []string{`2: "Rex" 7 available`}},
		{"blank lines", "\n" + header + "\n\r\nRex,7,sold\n\n", []string{`5: "Rex" 7 sold`}},
		{"a line with an empty field in quotation marks", header + "\"\"\nRex,7,sold\n", []string{"2! the line has 1 fields, but the first line of the file names 3 columns.", `3: "Rex" 7 sold`}},
		{"only a header", header, nil},
		{"bad rows between good ones", header + ",7,sold\nRex,,lost\nRex,7\nRex,1.5,sold\nTom,8,sold\n", []string{
			"2! name must not be empty.", "3! categoryId is required; status must be one of available, pending, sold.",
			"4! the line has 2 fields, but the first line of the file names 3 columns.", "5! categoryId " + whole + ".", `6: "Tom" 8 sold`}},
		{"invalid UTF-8", header + "R\xffx,7,sold\nTom,8,sold\n", []string{"2! name must be valid UTF-8.", `3: "Tom" 8 sold`}},
		{"stray quotation marks", header + "\"Rex,7,sold\n\"Tom\",8,sold\nAnn \"A\",9,sold\nBob,1,sold\n", []string{
			"2! " + string(errQuote), `3: "Tom" 8 sold`, "4! " + string(errQuote), `5: "Bob" 1 sold`}},
		{"a quoted field that never ends", header + "Rex,7,sold\n\"Tom,8,sold\nBob,1,sold\n", []string{
			`2: "Rex" 7 sold`, "3! " + string(errUnclosed), `4: "Bob" 1 sold`}},
		{"a quoted field that does not end within 1 MiB", header + "\"Tom,8,sold\n" + strings.Repeat("Bob,1,sold\n", maxLine/11+2), nil},
		{"a line that is too long", header + strings.Repeat("x", 3*maxLine) + "\nTom,8,sold\n", []string{"2! the line is longer than 1 MiB.", `3: "Tom" 8 sold`}},
		{"JSON Lines", "{\"name\":\"Rex\",\"categoryId\":7}\n\n {\"name\":\"Tom\",\"categoryId\":8,\"status\":\"sold\"}\r\n", []string{`1: "Rex" 7 available`, `3: "Tom" 8 sold`}},
		{"bad objects between good ones", "{\"name\":\"Rex\",\"categoryId\":7}\n{\"name\":\n{\"name\":\"\",\"categoryId\":7}\n{\"name\":\"Tom\",\"categoryId\":8}", []string{
			`1: "Rex" 7 available`, "2! The line is not valid JSON (at byte 9). It must be one JSON object in UTF-8.", "3! name must not be empty.", `4: "Tom" 8 available`}},
		{"lines that are not an animal", strings.Join([]string{`{}`, `[{"name":"Rex","categoryId":7}]`, `{"name":"Rex","categoryId":7} {}`, `{"name":"Rex","name":"Tom"}`,
			`{"name":"Rex","categoryId":7,}`, `{"name":1,"status":"lost"}`, `{"x":[` + strings.Repeat(`{"a":0},`, 1000) + `0]}`}, "\n"), []string{
			"1! name is required; categoryId is required.",
			"2! The line is not a JSON object. Write one with name and categoryId.",
			"3! There is more after the JSON object in the line. Write one object only.",
			"4! The line has the same field twice (at byte 14). Write each field once.",
			"5! The line is not valid JSON (at byte 28). It must be one JSON object in UTF-8.",
			"6! name must be a string; categoryId is required; status must be one of available, pending, sold.",
			"7! The line has more than 1,000 fields. Write name and categoryId only."}},
		{"a spreadsheet as Excel saves it", "\xef\xbb\xbfName ;Category;Status;Breed;SEX;Born on;Arrived On;Description;Tags;Notes;Cage;\r\n" +
			"Bella;Dogs;Available;Beagle;F;2024-05; 2026-02-28 ;\"Kind; likes\r\ncats\";\"shy, good with cats\";Bites, sometimes.;4;\r\n" +
			"Rex;7;;;Male;;;;;;5;\r\n" + ";;;;;;;;;;;\r\n", []string{
			`2: "Bella" 0 available "Dogs" {"Beagle" "female" "2024-05" "2026-02-28" "Kind; likes\r\ncats" "shy\ngood with cats" "Bites, sometimes."}`,
			`4: "Rex" 7 available {"" "male" "" "" "" "" ""}`}},
		{"semicolons between quotation marks", "\"name\";\"categoryId\"\n\"Rex; \"\"the\"\" dog\";7\n", []string{`2: "Rex; \"the\" dog" 7 available`}},
		{"tabs", "name\tcategoryId\nRex, Tom\t7\n", []string{`2: "Rex, Tom" 7 available`}},
		{"commas, although semicolons would do", "name,category,;name;category\nRex,7,x\n", []string{`2: "Rex" 7 available`}},
		{"headers in any spelling", " NAME ,Category_ID,\"\ufeffsTaTuS\",born-on\nRex,7, Sold ,2024\n", []string{`2: "Rex" 7 sold {"" "" "2024" "" "" "" ""}`}},
		{"a column that is only similar to another", "name,categoryId, Name ,category id\nRex,7,Tom,8\n", []string{`2: "Rex" 7 available`}},
		{"the number of the category before its name", "name,categoryId,category\nRex,7,Dogs\nTom,,Cats\nAnn,,\nBob,x,Dogs\n", []string{
			`2: "Rex" 7 available`, `3: "Tom" 0 available "Cats"`, "4! categoryId is required.", "5! categoryId " + whole + "."}},
		{"categories that are numbers or nothing", "name,category\nRex,-7\nTom,99999999999999999999\nAnn, \n", []string{
			`2: "Rex" -7 available`, "3! category must be a name, or a whole number from -9223372036854775808 to 9223372036854775807.", "4! category is required."}},
		{"bad facts in CSV", "name,categoryId,breed,sex,bornOn,arrivedOn,description,tags,notes\nRex,7,a\tb,x,24,2024,\xff,\"a,a\",\x00\nTom,7, , ,, , ,,\n", []string{
			"2! breed must not contain control characters; sex must be one of female, male; bornOn must be a year, a month or a day, such as 2024, 2024-05 or 2024-05-17; " +
				"arrivedOn must be a day, such as 2024-05-17; description must be valid UTF-8; tags must differ from each other: tag 2 repeats an earlier one; notes must not contain the character U+0000.",
			`3: "Tom" 7 available`}},
		{"facts in JSON Lines", `{"name":"Rex","category":" Dogs ","breed":"Beagle","sex":"male","bornOn":"2024","arrivedOn":"2026-02-28","description":"a","tags":["shy","a, b"],"notes":"b"}` + "\n" +
			`{"name":"Rex","categoryId":7,"category":{"id":1},"breed":"","sex":null,"tags":[]}` + "\n" + `{"name":"Rex","category":8}`, []string{
			`1: "Rex" 0 available "Dogs" {"Beagle" "male" "2024" "2026-02-28" "a" "shy\na, b" "b"}`, `2: "Rex" 7 available`, `3: "Rex" 8 available`}},
		{"bad facts in JSON Lines", `{"name":"Rex","categoryId":7,"breed":1,"sex":"Male","tags":"shy"}` + "\n" + `{"name":"Rex","category":true,"tags":["a",null]}` + "\n" + `{"name":"","category":""}`, []string{
			"1! breed must be a string; sex must be one of female, male; tags must be a list of strings.",
			"2! category must be the name of a category, or its number; tags must be a list of strings.",
			"3! name must not be empty; category must be the name of a category, or its number."}},
		{"an object that is too long", "{\"name\":\"" + strings.Repeat("x", 2*maxLine) + "\"}\n{\"name\":\"Tom\",\"categoryId\":8}", []string{
			"1! the line is longer than 1 MiB.", `2: "Tom" 8 available`}},
	} {
		t.Run(c.what, func(t *testing.T) {
			for _, source := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text)), iotest.DataErrReader(strings.NewReader(c.text))} {
				if len(c.text) > maxLine {
					source = strings.NewReader(c.text)
				}
				got, err := readAll(source, "")
				noError(t, err)
				if c.want == nil && len(got) > 2 { // only the first line is bad
					if !strings.HasPrefix(got[0], "2! ") || strings.Contains(strings.Join(got[1:], ""), "!") {
						t.Errorf("got %q …", got[:3])
					}
					continue
				}
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
			}
		})
	}
}

func TestAFileWithoutAnimalsIsRefusedWithAReason(t *testing.T) {
	for _, c := range []struct{ what, text, want string }{
		{"no header", "Rex,7,sold\n", `the first line must name the columns, but it is "Rex,7,sold"`},
		{"no header, with semicolons", "Rex;7;sold\n", `the first line must name the columns, but it is "Rex;7;sold"`},
		{"a spreadsheet", "PK\x03\x04\x14\x00\x06\n", "save it as CSV"},
		{"a wrong column", "name,kind\nRex,7\n", `there is no column categoryId or category; the first line is "name,kind"`},
		{"a wrong column, with semicolons", "Name;Kind\nRex;7\n", `there is no column categoryId or category; the first line is "Name;Kind"`},
		{"no name", "categoryId\n7\n", "there is no column name"},
		{"a column in two cases", "Name,categoryId,name\nRex,7,Tom\n", "the first line names the column name 2 times"},
		{"two similar columns", "name,category_id,category-id\nRex,7,8\n", "the first line names the column categoryId 2 times"},
		{"a column of the profile twice", "name,categoryId,Tags,tags\nRex,7,a,b\n", "the first line names the column tags 2 times"},
		{"a column twice", "name,categoryId,name\nRex,7,Tom\n", "the first line names the column name 2 times"},
		{"nothing", "", "the file is empty"},
		{"UTF-16", "\xff\xfen\x00a\x00", "the text is UTF-16; save it as UTF-8"},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, err := readAll(strings.NewReader(c.text), "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestNothingIsReadFromAFileAfterItChanged(t *testing.T) {
	for what, change := range map[string]func(name string) error{
		"it grows": func(name string) error {
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("Tom,8,sold\n")
			return err
		},
		"it is truncated": func(name string) error { return os.Truncate(name, maxLine+100) },
		"it keeps its size": func(name string) error {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := f.WriteAt([]byte("T"), int64(len(header))); err != nil {
				return err
			}
			return os.Chtimes(name, time.Time{}, time.Now().Add(time.Second)) // sets a later time, because the clock of the file system may be coarse
		},
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "pets.csv")
			noError(t, os.WriteFile(name, []byte(header+strings.Repeat("Rex,7,sold\n", maxLine/5)), 0o600))
			file, err := os.Open(name)
			noError(t, err)
			defer file.Close()
			stable, err := newStableFile(file)
			noError(t, err)
			r, err := newPetReader(stable, csvFormat)
			noError(t, err)
			noError(t, change(name))
			for err = nil; err == nil; _, err = r.Next() {
			}
			if !errors.Is(err, errChanged) || r.offset > maxLine {
				t.Errorf("after %d bytes: %v", r.offset, err)
			}
		})
	}
}

// noError fails the test if err is not nil.
func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
