package transfer

import (
	"bytes"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

// textThat draws texts that a check accepts: any, and such as CSV and lists of tags find difficult.
func textThat(check func(string) string) *rapid.Generator[string] {
	awkward := rapid.StringOfN(rapid.SampledFrom([]rune("\r\n\"',;| \t\\.\ufeff\u00a0{}[]é🐕\u2028a")), 1, 12, -1)
	return rapid.OneOf(rapid.String(), awkward).Filter(func(s string) bool { return utf8.ValidString(s) && check(s) == "" })
}

// orNothing draws an empty text half of the time.
func orNothing(g *rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), g)
}

var (
	someTags = rapid.SliceOfN(textThat(func(s string) string { return petstore.CheckTags([]string{s}) }), 0, 5).
			Filter(func(tags []string) bool { return petstore.CheckTags(tags) == "" })
	someFacts = rapid.Custom(func(t *rapid.T) petstore.Facts {
		return petstore.Facts{
			Breed:       orNothing(textThat(petstore.CheckBreed)).Draw(t, "breed"),
			Sex:         rapid.SampledFrom([]petstore.Sex{"", petstore.Female, petstore.Male}).Draw(t, "sex"),
			BornOn:      rapid.SampledFrom([]string{"", "2024", "2024-05", "2024-02-29"}).Draw(t, "bornOn"),
			ArrivedOn:   rapid.SampledFrom([]string{"", "2026-11-18"}).Draw(t, "arrivedOn"),
			Description: orNothing(textThat(petstore.CheckDescription)).Draw(t, "description"),
			Tags:        petstore.NewTags(someTags.Draw(t, "tags")),
			Notes:       orNothing(textThat(petstore.CheckDescription)).Draw(t, "notes"),
		}
	})
	someLine = rapid.Custom(func(t *rapid.T) petLine {
		line := petLine{Pet: petstore.NewPet{
			Name:       textThat(petstore.CheckPetName).Draw(t, "name"),
			CategoryID: rapid.Int64().Draw(t, "category"),
			Status:     rapid.SampledFrom(petstore.Statuses).Draw(t, "status"),
		}}
		if rapid.Bool().Draw(t, "has facts") {
			line.Facts = someFacts.Draw(t, "facts")
		}
		return line
	})
)

func TestWrittenAnimalsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(someLine, 0, 20).Draw(t, "animals")
		for _, format := range []fileFormat{csvFormat, jsonLinesFormat} {
			var text bytes.Buffer
			w := newPetWriter(&text, format)
			for i, line := range want {
				if err := w.write(exported(int64(i), line)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.flush(); err != nil {
				t.Fatal(err)
			}
			r, err := newPetReader(&text, format)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range want {
				got, err := r.Next()
				line.Number = got.Number
				if err != nil || got != line {
					t.Fatalf("%s: %+v came back as %+v, %v", format, line, got, err)
				}
			}
			if _, err := r.Next(); err != io.EOF {
				t.Fatalf("%s: after the last line: %v", format, err)
			}
		}
	})
}

func TestACellOfTagsIsReadAsAList(t *testing.T) {
	for cell, want := range map[string][]string{
		"shy":                          {"shy"},
		" shy ,good with cats,":        {"shy", "good with cats"},
		`"shy, but kind" , old`:        {"shy, but kind", "old"},
		`"a ""b""","  c"`:              {`a "b"`, "  c"},
		`5" tall, old`:                 {`5" tall`, "old"},
		"house-trained; loves | water": {"house-trained; loves | water"},
	} {
		text, problem := tagsFromCell(cell)
		if got := petstore.Tags(text).List(); problem != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %q, %s", cell, got, problem)
		}
	}
	for cell, want := range map[string]string{
		`"shy" old`:                     "must be separated by commas",
		`"shy, old`:                     "must be separated by commas",
		`shy,shy`:                       "must differ from each other",
		"shy\nold":                      "must each be valid: tag 1 must not contain control characters",
		`shy,""`:                        "must each be valid: tag 2 must not be empty",
		",x" + strings.Repeat(",x", 20): "must have at most 20 entries",
	} {
		if _, problem := tagsFromCell(cell); !strings.Contains(problem, want) {
			t.Errorf("%q: %q", cell, problem)
		}
	}
}

// A file of a store without profiles is, byte for byte, what versions without profiles wrote.
func TestAnExportHasColumnsForTheProfileOnlyIfAnAnimalHasOne(t *testing.T) {
	plain, kind := exportedPet{2, "Rex, \"the\" dog", 7, "sold", petstore.Facts{}}, petstore.Facts{Breed: "Beagle", Tags: "shy\nlikes \"ham\", cheese", Notes: "Bites."}
	for _, c := range []struct {
		what   string
		format fileFormat
		pets   []exportedPet
		want   string
	}{
		{"no animals", csvFormat, nil, "id,name,categoryId,status\n"},
		{"no profiles", csvFormat, []exportedPet{plain, plain}, "id,name,categoryId,status\n2,\"Rex, \"\"the\"\" dog\",7,sold\n2,\"Rex, \"\"the\"\" dog\",7,sold\n"},
		{"a profile after others", csvFormat, []exportedPet{plain, {1, "Ann", 7, "sold", kind}, plain}, "id,name,categoryId,status,breed,sex,bornOn,arrivedOn,description,tags,notes\n" +
			"2,\"Rex, \"\"the\"\" dog\",7,sold,,,,,,,\n" + `1,Ann,7,sold,Beagle,,,,,"shy, ""likes """"ham"""", cheese""",Bites.` + "\n" + "2,\"Rex, \"\"the\"\" dog\",7,sold,,,,,,,\n"},
		{"JSON Lines", jsonLinesFormat, []exportedPet{{2, "Rex", 7, "sold", petstore.Facts{}}, {1, "Ann", 7, "sold", kind}},
			`{"id":2,"name":"Rex","categoryId":7,"status":"sold"}` + "\n" + `{"id":1,"name":"Ann","categoryId":7,"status":"sold","breed":"Beagle","tags":["shy","likes \"ham\", cheese"],"notes":"Bites."}` + "\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			var text bytes.Buffer
			w := newPetWriter(&text, c.format)
			defer w.close()
			for _, pet := range c.pets {
				if err := w.write(pet); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.flush(); err != nil || text.String() != c.want {
				t.Errorf("%v, got\n%s\nwant\n%s", err, text.String(), c.want)
			}
		})
	}
}

// The rows before the first profile do not fit into memory, so they are in a temporary file.
func TestAProfileMayComeAfterManyRows(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for _, last := range []petstore.Facts{{}, {Breed: "Beagle"}} {
		const rows = 3 * spoolMemory / 1000
		var text bytes.Buffer
		w := newPetWriter(&text, csvFormat)
		for i := range int64(rows) {
			if err := w.write(exportedPet{ID: i, Name: strings.Repeat("x\r\n", 300), Status: "sold"}); err != nil {
				t.Fatal(err)
			}
		}
		w.write(exportedPet{rows, "last", 1, "sold", last})
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		w.close()
		r, err := newPetReader(&text, csvFormat)
		if err != nil || (len(r.header) > 4) != (last != petstore.Facts{}) {
			t.Fatalf("the header is %q, %v", r.header, err)
		}
		for i := range rows + 1 {
			if line, err := r.Next(); err != nil || (i < rows) != (line.Pet.Name == strings.Repeat("x\r\n", 300)) {
				t.Fatalf("row %d is %+v, %v", i, line, err)
			}
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("in the temporary folder are %v, %v", left, err)
	}
}
