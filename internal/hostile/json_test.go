package hostile

import (
	"fmt"
	"strings"
	"testing"
)

// bombs returns small bodies that are expensive for a careless parser. No body is a valid animal.
func bombs() map[string]string {
	pet := func(name string) string { return `{"categoryId":1,"name":` + name + `}` }
	var names strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&names, `"%05d":0,`, i)
	}
	const megabyte = 1<<20 - 100
	return map[string]string{
		"arrays in arrays":            strings.Repeat("[", megabyte),
		"arrays in arrays, closed":    strings.Repeat("[", megabyte/2) + strings.Repeat("]", megabyte/2),
		"objects in objects":          strings.Repeat(`{"a":`, megabyte/5),
		"a deep value in a field":     pet(strings.Repeat("[", megabyte/2)),
		"many names":                  "{" + names.String() + `"name":"Rex"}`,
		"one name many times":         "{" + strings.Repeat(`"name":"Rex",`, 70_000) + `"categoryId":1}`,
		"a name twice":                `{"name":"Rex","name":"Max","categoryId":1}`,
		"a name twice, once escaped":  `{"name":"Rex","n\u0061me":"Max","categoryId":1}`,
		"a long string":               pet(`"` + strings.Repeat("a", megabyte-40) + `"`),
		"a long string of escapes":    pet(`"` + strings.Repeat(`\u0061`, megabyte/6-10) + `"`),
		"a long number":               `{"name":"Rex","categoryId":` + strings.Repeat("9", megabyte-40) + `}`,
		"a large number":              `{"name":"Rex","categoryId":1e999999999}`,
		"a number with long zeros":    `{"name":"Rex","categoryId":1.` + strings.Repeat("0", megabyte-40) + `1}`,
		"a long exponent":             `{"name":"Rex","categoryId":1e-` + strings.Repeat("0", megabyte-40) + `1}`,
		"bytes that are no UTF-8":     pet("\"\xff\xfe\xc0\x80\xed\xa0\x80\""),
		"half a surrogate":            pet(`"\ud800"`),
		"a null character":            pet("\"\x00\""),
		"a byte order mark":           "\ufeff" + pet(`"Rex"`),
		"white space only":            strings.Repeat(" \n", megabyte/2),
		"a string without end":        `{"name":"` + strings.Repeat("a", 1000),
		"more behind the value":       pet(`"Rex"`) + pet(`"Max"`),
		"noise":                       noise(megabyte),
		"not a number":                `{"name":"Rex","categoryId":NaN}`,
		"a comment":                   `{"name":"Rex",/* */"categoryId":1}`,
		"more than is taken":          pet(`"` + strings.Repeat("a", 1<<20) + `"`),
		"a key of the prototype":      `{"__proto__":{"admin":true},"constructor":{},"name":"Rex"}`,
		"names that differ in case":   `{"Name":"Rex","CATEGORYID":1}`,
		"null for everything":         `{"name":null,"categoryId":null}`,
		"wrong types for everything":  `{"name":{"$gt":""},"categoryId":[1]}`,
		"a list of many small values": "[" + strings.Repeat("0,", megabyte/2-10) + "0]",
	}
}

// bodyBombs sends each bomb twice: as a POST with a Content-Length, and as a PATCH in chunks. A PATCH may succeed without
// changing anything.
func bodyBombs(t *testing.T, s *target) {
	for name, body := range bombs() {
		length, chunks := fmt.Sprintf("Content-Length: %d", len(body)), fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		s.expect(t, name, s.head("POST", "/v1/pets", closeHeader, length)+body, repeats(), want{400, 413})
		s.expect(t, name+" in chunks, as a patch", s.head("PATCH", "/v1/pets/1", "Transfer-Encoding: chunked")+chunks, repeats(), want{200, 400, 413})
	}
}
