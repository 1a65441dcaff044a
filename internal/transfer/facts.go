package transfer

import (
	"encoding/json"
	"slices"
	"strings"

	"petstore/client"
	"petstore/internal/petstore"
	"petstore/internal/strictjson"
)

// fact is a field of an animal's profile. In CSV it is a column, and in JSON Lines a member of that name. A fact that is
// empty, missing or null is not known.
type fact struct {
	name     string
	of       func(*petstore.Facts) *string
	fromCell func(cell string) (text, problem string)
	fromJSON func(value strictjson.Value) (text, problem string)
	toCell   func(text string) string
}

// facts lists all of them in the order of the columns of an export.
var facts = []fact{
	textFact("breed", func(f *petstore.Facts) *string { return &f.Breed }, verbatim, petstore.CheckBreed),
	textFact("sex", func(f *petstore.Facts) *string { return (*string)(&f.Sex) }, tidySex, petstore.CheckSex),
	textFact("bornOn", func(f *petstore.Facts) *string { return &f.BornOn }, strings.TrimSpace, petstore.CheckBornOn),
	textFact("arrivedOn", func(f *petstore.Facts) *string { return &f.ArrivedOn }, strings.TrimSpace, petstore.CheckArrivedOn),
	textFact("description", func(f *petstore.Facts) *string { return &f.Description }, verbatim, petstore.CheckDescription),
	{"tags", func(f *petstore.Facts) *string { return (*string)(&f.Tags) }, tagsFromCell, tagsFromJSON, tagsToCell},
	textFact("notes", func(f *petstore.Facts) *string { return &f.Notes }, verbatim, petstore.CheckDescription),
}

// textFact returns a fact that is one text. The function tidy corrects what people write in spreadsheets.
func textFact(name string, of func(*petstore.Facts) *string, tidy, check func(string) string) fact {
	return fact{
		name: name,
		of:   of,
		fromCell: func(cell string) (text, problem string) {
			text = tidy(cell)
			return text, check(text)
		},
		fromJSON: func(value strictjson.Value) (text, problem string) {
			if text, isText := strictjson.Unquote(value); isText && text == "" {
				return "", ""
			}
			problem = strictjson.ReadText(&text, value, check)
			return text, problem
		},
		toCell: verbatim,
	}
}

func verbatim(cell string) string { return cell }

// tidySex accepts any case, and the first letter alone.
func tidySex(cell string) string {
	switch sex := strings.ToLower(strings.TrimSpace(cell)); sex {
	case "f":
		return string(petstore.Female)
	case "m":
		return string(petstore.Male)
	default:
		return sex
	}
}

// readCell stores the fact that a cell of a CSV file holds, and returns what is wrong with it.
func (f *fact) readCell(into *petstore.Facts, cell string) (problem string) {
	if strings.TrimSpace(cell) == "" {
		return ""
	}
	*f.of(into), problem = f.fromCell(cell)
	return problem
}

// readJSON stores the fact that a member of an object holds, and returns what is wrong with it.
func (f *fact) readJSON(into *petstore.Facts, value strictjson.Value) (problem string) {
	if value.Kind() == 'n' {
		return ""
	}
	*f.of(into), problem = f.fromJSON(value)
	return problem
}

func tagsFromJSON(value strictjson.Value) (text, problem string) {
	var tags []*string
	if err := json.Unmarshal(value, &tags); err != nil || slices.Contains(tags, nil) {
		return "", "must be a list of strings"
	}
	list := make([]string, len(tags))
	for i, tag := range tags {
		list[i] = *tag
	}
	return string(petstore.NewTags(list)), petstore.CheckTags(list)
}

// tagsFromCell reads tags that are separated by commas. Spaces around a tag do not count, nor do tags that are empty. A tag
// in quotation marks is taken as it is, with two marks for each mark in it.
func tagsFromCell(cell string) (text, problem string) {
	var tags []string
	for rest, more := cell, true; more; {
		rest = strings.TrimSpace(rest)
		tag := rest
		if strings.HasPrefix(rest, `"`) {
			field, n, err := splitQuotedTag(rest)
			if err != nil {
				return "", "must be separated by commas: after a tag in quotation marks there is something else than a comma"
			}
			tag, rest = field, rest[n:]
			_, rest, more = strings.Cut(rest, ",")
		} else {
			tag, rest, more = strings.Cut(rest, ",")
			tag = strings.TrimSpace(tag)
			if tag == "" {
				continue
			}
		}
		tags = append(tags, tag)
	}
	return string(petstore.NewTags(tags)), petstore.CheckTags(tags)
}

// splitQuotedTag returns the first tag of a text that begins with a quotation mark, and its length.
func splitQuotedTag(text string) (tag string, n int, err error) {
	end := 1
	for {
		i := strings.IndexByte(text[end:], '"')
		if i < 0 {
			return "", 0, errUnclosed
		}
		end += i + 1
		if !strings.HasPrefix(text[end:], `"`) {
			break
		}
		end++
	}
	if after := strings.TrimSpace(text[end:]); after != "" && after[0] != ',' {
		return "", 0, errQuote
	}
	return strings.ReplaceAll(text[1:end-1], `""`, `"`), end, nil
}

// tagsToCell returns a cell that tagsFromCell reads back.
func tagsToCell(text string) string {
	tags := petstore.Tags(text).List()
	for i, tag := range tags {
		if strings.ContainsAny(tag, `,"`) || strings.TrimSpace(tag) != tag {
			tags[i] = `"` + strings.ReplaceAll(tag, `"`, `""`) + `"`
		}
	}
	return strings.Join(tags, ", ")
}

// factsOf returns the facts of a profile that a server sent.
func factsOf(p *client.Profile) petstore.Facts {
	if p == nil {
		return petstore.Facts{}
	}
	return petstore.Facts{
		Breed: p.Breed, Sex: petstore.Sex(p.Sex), BornOn: p.BornOn, ArrivedOn: p.ArrivedOn,
		Description: p.Description, Tags: petstore.NewTags(p.Tags), Notes: p.Notes,
	}
}

// patchOf returns the patch that sets the facts that are known.
func patchOf(f petstore.Facts) petstore.ProfilePatch {
	return petstore.ProfilePatch{
		Breed: known(f.Breed), Sex: known(f.Sex), BornOn: known(f.BornOn), ArrivedOn: known(f.ArrivedOn),
		Description: known(f.Description), Tags: known(f.Tags), Notes: known(f.Notes),
	}
}

// clientPatchOf is patchOf for a server.
func clientPatchOf(f petstore.Facts) client.ProfilePatch {
	patch := client.ProfilePatch{
		Breed: known(f.Breed), Sex: known(client.Sex(f.Sex)), BornOn: known(f.BornOn), ArrivedOn: known(f.ArrivedOn),
		Description: known(f.Description), Notes: known(f.Notes),
	}
	if tags := f.Tags.List(); tags != nil {
		patch.Tags = &tags
	}
	return patch
}

// known returns nil for a fact that is empty.
func known[T ~string](fact T) *T {
	if fact == "" {
		return nil
	}
	return &fact
}
