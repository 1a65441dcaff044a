package httpapi_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

var badBodies = map[string][]struct{ behaviour, body string }{
	"invalid_json": {
		{"nothing", ``},
		{"white space", " \r\n\t"},
		{"null", `null`},
		{"a boolean", `true`},
		{"a number", `1`},
		{"a string", `"Rex"`},
		{"an array", `["Rex",1]`},
		{"an array of animals", `[{"name":"Rex","categoryId":1}]`},
		{"words", `Rex`},
		{"a form", `name=Rex&categoryId=1`},
		{"XML", `<pet><name>Rex</name></pet>`},
		{"an unclosed object", `{"name":"Rex","categoryId":1`},
		{"an unclosed string", `{"name":"Rex`},
		{"a name without a value", `{"name":`},
		{"a value without a name", `{:"Rex"}`},
		{"names without quotation marks", `{name:"Rex",categoryId:1}`},
		{"the wrong quotation marks", `{'name':'Rex','categoryId':1}`},
		{"a trailing comma", `{"name":"Rex","categoryId":1,}`},
		{"a leading comma", `{,"name":"Rex","categoryId":1}`},
		{"a missing comma", `{"name":"Rex" "categoryId":1}`},
		{"a missing colon", `{"name" "Rex","categoryId":1}`},
		{"a comment", `{"name":"Rex",/* dog */"categoryId":1}`},
		{"NaN", `{"name":"Rex","categoryId":NaN}`},
		{"infinity", `{"name":"Rex","categoryId":Infinity}`},
		{"negative infinity", `{"name":"Rex","categoryId":-Infinity}`},
		{"a leading plus", `{"name":"Rex","categoryId":+1}`},
		{"a leading zero", `{"name":"Rex","categoryId":01}`},
		{"a point without digits after it", `{"name":"Rex","categoryId":1.}`},
		{"a point without digits before it", `{"name":"Rex","categoryId":.5}`},
		{"an exponent without digits", `{"name":"Rex","categoryId":1e}`},
		{"a minus alone", `{"name":"Rex","categoryId":-}`},
		{"a hexadecimal number", `{"name":"Rex","categoryId":0x10}`},
		{"digits in groups", `{"name":"Rex","categoryId":1_000}`},
		{"an incomplete word", `{"name":"Rex","categoryId":1,"status":nul}`},
		{"a word in capitals", `{"name":"Rex","categoryId":1,"good":True}`},
		{"another object after it", `{"name":"Rex","categoryId":1}{"name":"Max","categoryId":1}`},
		{"a brace after it", `{"name":"Rex","categoryId":1}}`},
		{"a comma after it", `{"name":"Rex","categoryId":1},`},
		{"a word after it", `{"name":"Rex","categoryId":1} null`},
		{"a NUL after it", "{\"name\":\"Rex\",\"categoryId\":1}\x00"},
		{"the same name twice", `{"name":"Rex","categoryId":1,"name":"Rex"}`},
		{"the same category twice", `{"name":"Rex","categoryId":1,"categoryId":2}`},
		{"the same status twice", `{"name":"Rex","categoryId":1,"status":"sold","status":"sold"}`},
		{"the same unknown field twice", `{"name":"Rex","categoryId":1,"x":1,"x":2}`},
		{"the same field twice in an unknown one", `{"name":"Rex","categoryId":1,"x":{"a":1,"a":2}}`},
		{"the same field twice, once with escapes", `{"name":"Rex","categoryId":1,"n\u0061me":"Max"}`},
		{"bytes that are not UTF-8", "{\"name\":\"R\xffx\",\"categoryId\":1}"},
		{"bytes that are not UTF-8 in an unknown field", "{\"name\":\"Rex\",\"categoryId\":1,\"x\":\"\x80\"}"},
		{"bytes that are not UTF-8 in the name of a field", "{\"name\":\"Rex\",\"categoryId\":1,\"\xc3\":1}"},
		{"an overlong form of UTF-8", "{\"name\":\"R\xc0\xafx\",\"categoryId\":1}"},
		{"a surrogate in UTF-8", "{\"name\":\"\xed\xa0\x80\",\"categoryId\":1}"},
		{"a character beyond Unicode", "{\"name\":\"\xf4\x90\x80\x80\",\"categoryId\":1}"},
		{"Latin-1", "{\"name\":\"Zo\xeb\",\"categoryId\":1}"},
		{"UTF-16", "\xff\xfe{\x00\"\x00n\x00"},
		{"a byte order mark", "\xef\xbb\xbf{\"name\":\"Rex\",\"categoryId\":1}"},
		{"a high surrogate alone", `{"name":"R\ud800x","categoryId":1}`},
		{"a low surrogate alone", `{"name":"R\udc00x","categoryId":1}`},
		{"surrogates in the wrong order", `{"name":"\udc15\ud83d","categoryId":1}`},
		{"two high surrogates", `{"name":"\ud83d\ud83d","categoryId":1}`},
		{"a lone surrogate in an unknown field", `{"name":"Rex","categoryId":1,"x":"\ud800"}`},
		{"a NUL in a string", "{\"name\":\"R\x00x\",\"categoryId\":1}"},
		{"a line feed in a string", "{\"name\":\"R\nx\",\"categoryId\":1}"},
		{"an unknown escape", `{"name":"R\x41x","categoryId":1}`},
		{"an escape that is too short", `{"name":"R\u12","categoryId":1}`},
		{"arrays nested 100,000 deep", `{"name":"Rex","categoryId":1,"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`},
		{"objects nested 100,000 deep", strings.Repeat(`{"a":`, 100_000) + `1` + strings.Repeat(`}`, 100_000)},
		{"1,000,000 opening brackets", strings.Repeat("[", 1_000_000)},
		{"a name nested 100,000 deep", `{"categoryId":1,"name":` + strings.Repeat("[", 100_000)},
	},
	"missing_field": {
		{"an empty object", `{}`},
		{"no name", `{"categoryId":1}`},
		{"no category", `{"name":"Rex"}`},
		{"field names in another case", `{"Name":"Rex","CategoryId":1}`},
		{"field names with white space", `{"name ":"Rex"," categoryId":1}`},
		{"field names of another convention", `{"name":"Rex","category_id":1}`},
		{"an animal in an envelope", `{"pet":{"name":"Rex","categoryId":1}}`},
		{"a missing field and a faulty one", `{"name":null}`},
	},
	"invalid_field": {
		{"a name that is null", `{"name":null,"categoryId":1}`},
		{"a name that is a number", `{"name":1,"categoryId":1}`},
		{"a name that is a boolean", `{"name":true,"categoryId":1}`},
		{"a name that is an array", `{"name":["Rex"],"categoryId":1}`},
		{"a name that is an object", `{"name":{"en":"Rex"},"categoryId":1}`},
		{"a name that is empty", `{"name":"","categoryId":1}`},
		{"a name of white space", `{"name":" \t\r\n\u00a0\u2003\u3000","categoryId":1}`},
		{"a name of 1,001 characters", `{"name":"` + strings.Repeat("é", 1001) + `","categoryId":1}`},
		{"a name with U+0000", `{"name":"R\u0000x","categoryId":1}`},
		{"a name that is U+0000", `{"name":"\u0000","categoryId":1}`},
		{"a category that is null", `{"name":"Rex","categoryId":null}`},
		{"a category that is a string", `{"name":"Rex","categoryId":"1"}`},
		{"a category that is an empty string", `{"name":"Rex","categoryId":""}`},
		{"a category that is a boolean", `{"name":"Rex","categoryId":false}`},
		{"a category that is an array", `{"name":"Rex","categoryId":[1]}`},
		{"a category that is an object", `{"name":"Rex","categoryId":{"id":1}}`},
		{"a category with a fraction", `{"name":"Rex","categoryId":1.5}`},
		{"a category with a tiny fraction", `{"name":"Rex","categoryId":1.00000000000000000000000000000000001}`},
		{"a category between two integers by its exponent", `{"name":"Rex","categoryId":15e-1}`},
		{"a category of 2^63", `{"name":"Rex","categoryId":9223372036854775808}`},
		{"a category below -2^63", `{"name":"Rex","categoryId":-9223372036854775809}`},
		{"a category of 2^64", `{"name":"Rex","categoryId":18446744073709551616}`},
		{"a category of 1e19", `{"name":"Rex","categoryId":1e19}`},
		{"a category with a huge exponent", `{"name":"Rex","categoryId":1e999999999}`},
		{"a category with an exponent beyond int64", `{"name":"Rex","categoryId":1e99999999999999999999}`},
		{"a category with a huge negative exponent", `{"name":"Rex","categoryId":1e-999999999}`},
		{"a category of 100,000 digits", `{"name":"Rex","categoryId":` + strings.Repeat("9", 100_000) + `}`},
		{"a category with 100,000 digits after its point", `{"name":"Rex","categoryId":1.` + strings.Repeat("0", 100_000) + `1}`},
		{"a status that is null", `{"name":"Rex","categoryId":1,"status":null}`},
		{"a status that is unknown", `{"name":"Rex","categoryId":1,"status":"lost"}`},
		{"a status that is empty", `{"name":"Rex","categoryId":1,"status":""}`},
		{"a status in another case", `{"name":"Rex","categoryId":1,"status":"Sold"}`},
		{"a status with white space", `{"name":"Rex","categoryId":1,"status":"sold "}`},
		{"a status that is a number", `{"name":"Rex","categoryId":1,"status":3}`},
		{"a status that is a boolean", `{"name":"Rex","categoryId":1,"status":true}`},
		{"a status that is an array", `{"name":"Rex","categoryId":1,"status":["sold"]}`},
		{"a status that is an object", `{"name":"Rex","categoryId":1,"status":{}}`},
	},
}

func TestBadBodyIsRefusedAndNothingIsStored(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		key := s.key(petstore.Enterprise)
		for code, cases := range badBodies {
			t.Run(string(code), func(t *testing.T) {
				for _, c := range cases {
					t.Run(c.behaviour, func(t *testing.T) { s.in(t).post(key, c.body).is(t, 400, code) })
				}
			})
		}
		if pets := s.pets(); len(pets) != 0 {
			t.Errorf("stored all the same: %v", pets)
		}
	})
}

func TestMediaTypeDecidesWhetherABodyIsRead(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	const pet = `{"name":"Rex","categoryId":1}`
	send := func(headers []string) *answer {
		headers = append(headers, fmt.Sprintf("Content-Length: %d", len(pet)))
		return s.send(request("POST", "/v1/pets", key, headers...) + pet)
	}
	taken := [][]string{
		nil,
		{"Content-Type:"},
		{"Content-Type: application/json"},
		{"Content-Type: application/json; charset=utf-8"},
		{`Content-Type: application/json;charset="UTF-8"`},
		{"Content-Type: application/json;"},
		{"Content-Type: Application/JSON"},
		{"Content-Type: application/problem+json"},
		{"Content-Type: application/vnd.pets.v1+json; q=1"},
		{"Content-Type: application/json", "Content-Encoding: identity"},
	}
	for _, headers := range taken {
		send(headers).is(t, 201, "")
	}
	for _, headers := range [][]string{
		{"Content-Type: text/plain"},
		{"Content-Type: text/json"},
		{"Content-Type: application/xml"},
		{"Content-Type: application/x-www-form-urlencoded"},
		{"Content-Type: multipart/form-data; boundary=x"},
		{"Content-Type: application/octet-stream"},
		{"Content-Type: application/jsonp"},
		{"Content-Type: application/json-seq"},
		{"Content-Type: application/json+xml"},
		{"Content-Type: text/plain; a=application/json"},
		{"Content-Type: application/json, text/plain"},
		{"Content-Type: application/json charset=utf-8"},
		{"Content-Type: application /json"},
		{`Content-Type: "application/json"`},
		{"Content-Type: application/*"},
		{"Content-Type: */*"},
		{"Content-Type: application/"},
		{"Content-Type: json"},
		{"Content-Type: +json"},
		{"Content-Type: pets+json"},
		{"Content-Type: ;"},
		{"Content-Type: " + strings.Repeat("a", 10_000) + "/json"},
		{"Content-Type: application/json", "Content-Type: application/json"},
		{"Content-Type: application/json", "Content-Encoding: gzip"},
		{"Content-Type: application/json", "Content-Encoding: identity, gzip"},
		{"Content-Encoding: br"},
		{"Content-Encoding: identity", "Content-Encoding: gzip"},
		{"Content-Encoding: ", "Content-Encoding: gzip"},
	} {
		refused := send(headers)
		refused.is(t, 415, "unsupported_media_type")
		if strings.Contains(strings.Join(headers, " "), "Content-Encoding") {
			refused.has(t, "Accept-Encoding", "identity")
		} else {
			refused.has(t, "Accept", "application/json")
		}
	}
	if n := len(s.pets()); n != len(taken) {
		t.Errorf("%d animals are stored, want %d", n, len(taken))
	}
}

// petOfSize returns the JSON of an animal, padded to size bytes.
func petOfSize(size int) string {
	const pet = `{"name":"Rex","categoryId":1}`
	return pet + strings.Repeat(" ", size-len(pet))
}

func chunked(body string) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(len(body), 60_000)
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// Like a simple client, the test sends each request completely before it reads the answer.
func TestBodyOverOneMebibyteIsTooLarge(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, c := range []struct {
		size, status int
		code         string
	}{{1 << 20, 201, ""}, {1<<20 + 1, 413, "payload_too_large"}, {10_000_000, 413, "payload_too_large"}} {
		body := petOfSize(c.size)
		t.Run(fmt.Sprintf("%d bytes of known length", c.size), func(t *testing.T) {
			s.in(t).post(key, body).is(t, c.status, c.code)
		})
		t.Run(fmt.Sprintf("%d bytes in chunks", c.size), func(t *testing.T) {
			head := request("POST", "/v1/pets", key, "Content-Type: application/json", "Transfer-Encoding: chunked")
			s.in(t).send(head+chunked(body)).is(t, c.status, c.code)
		})
		t.Run(fmt.Sprintf("%d bytes without a key", c.size), func(t *testing.T) {
			s.in(t).post("", body).is(t, 401, "unauthorized")
		})
	}
	if n := len(s.pets()); n != 2 {
		t.Errorf("%d animals are stored, want only the two that are small enough", n)
	}
}

func TestIncompleteBodyIsRefused(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	json := "Content-Type: application/json"
	for behaviour, raw := range map[string]string{
		"it is shorter than announced": request("POST", "/v1/pets", key, json, "Content-Length: 100") + `{"name":"Rex","categoryId":1}`,
		"its last chunk is missing":    request("POST", "/v1/pets", key, json, "Transfer-Encoding: chunked") + "1d\r\n{\"name\":\"Rex\",\"categoryId\":1}\r\n",
		"its chunks are broken":        request("POST", "/v1/pets", key, json, "Transfer-Encoding: chunked") + "zz\r\n{\"name\":\"Rex\",\"categoryId\":1}\r\n0\r\n\r\n",
	} {
		t.Run(behaviour, func(t *testing.T) {
			conn := dial(t, s.address)
			io.WriteString(conn, raw)
			conn.CloseWrite()
			a, err := readAnswer(conn, "POST")
			noError(t, err)
			a.is(t, 400, "invalid_json")
		})
	}
	if pets := s.pets(); len(pets) != 0 {
		t.Errorf("stored all the same: %v", pets)
	}
}

func TestEndlessBodyIsNotReadForever(t *testing.T) {
	s := serve(t)
	for _, key := range []string{"", s.key(petstore.Enterprise)} {
		conn := dial(t, s.address)
		io.WriteString(conn, request("POST", "/v1/pets", key, "Content-Type: application/json", "Content-Length: 1000000000000"))
		junk := strings.Repeat(" ", 1<<20)
		sent := 0
		for sent < 1<<10 {
			if _, err := io.WriteString(conn, junk); err != nil {
				break
			}
			sent++
		}
		if sent >= 100 {
			t.Errorf("the server has read %d MiB and keeps reading", sent)
		}
	}
}
