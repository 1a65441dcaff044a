package load

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Request describes one kind of request. All its bytes are ready in advance except a number, such as an id.
type Request struct {
	Share       int    // how many requests in a mix are of this kind, relative to the other kinds
	Head        string // the bytes before the first place of the number
	Places      []Place
	First, Last int64    // the lowest and the highest number
	InTurn      bool     // whether every number is used before one repeats, in scattered order; otherwise they are random
	Status      int      // the expected status
	Next        *Request // the request to send after the answer to this request, or nil
	Field       string   // the field in the previous answer that has the number; if empty, the request uses the previous number
	at          int64    // the offset of the last number from First
}

// Place is where a request has its number.
type Place struct {
	Form  Form
	After string // the bytes up to the next place, or to the end
}

// Form is the way in which a request writes a number: a verb of package fmt, Cursor, "" for a plain number, or "mod" and a
// divisor. With a divisor, it writes the remainder plus 1, so that a number that is used once can choose one of a few ids.
type Form string

// Cursor is the form of petstore's opaque cursors. Before a measurement, the bench compares such a cursor with a real one.
const Cursor Form = "cursor"

// placeholder marks the place of a number and its form: {}, {%16d}, {mod100} or {cursor}.
var placeholder = regexp.MustCompile(`\{(|cursor|%\d+d|mod\d+)\}`)

// answerTimeout is how long the load waits for the last answers.
const answerTimeout = 30 * time.Second

// Times returns the request with the given share in a mix.
func (r Request) Times(share int) Request {
	r.Share = share
	return r
}

// Then returns the request, followed by the request next. The number for next comes from the given field in the answer to
// the first request.
func (r Request) Then(field string, next Request) Request {
	next.Field, r.Next = field, &next
	return r
}

// Each returns the request with every number from first to last, each used once before any repeats.
func (r Request) Each(first, last int64) Request {
	r.First, r.Last, r.InTurn = first, last, true
	return r
}

// Random returns the request with random numbers from 1 to last.
func (r Request) Random(last int64) Request {
	r.First, r.Last = 1, last
	return r
}

// NewRequest makes a Request. In its path, key or body, each pair of braces stands for the number. The form of the number is
// between the braces.
func NewRequest(method, path, key, body string, status int) Request {
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n", method, path)
	if key != "" {
		text += fmt.Sprintf("Authorization: Bearer %s\r\n", key)
	}
	if body != "" {
		length := len(body)
		if form := placeholder.FindStringSubmatch(body); form != nil {
			length += len(Form(form[1]).Text(0)) - len(form[0])
		}
		text += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", length)
	}
	text += "\r\n" + body
	between := placeholder.Split(text, -1)
	r := Request{Share: 1, Head: between[0], Status: status}
	for i, form := range placeholder.FindAllStringSubmatch(text, -1) {
		r.Places = append(r.Places, Place{Form(form[1]), between[i+1]})
	}
	return r
}

// append appends a number in this form.
func (f Form) append(b []byte, n int64) []byte {
	switch f {
	case "":
		return strconv.AppendInt(b, n, 10)
	case Cursor:
		raw := [9]byte{1}
		binary.BigEndian.PutUint64(raw[1:], uint64(n))
		return base64.RawURLEncoding.AppendEncode(b, raw[:])
	}
	if divisor, ok := strings.CutPrefix(string(f), "mod"); ok {
		return strconv.AppendInt(b, n%int64(integer(divisor))+1, 10)
	}
	return fmt.Appendf(b, string(f), n)
}

// Text returns a number in this form.
func (f Form) Text(n int64) string { return string(f.append(nil, n)) }

// append appends the bytes of the request with the number n.
func (r Request) append(b []byte, n int64) []byte {
	b = append(b, r.Head...)
	for _, place := range r.Places {
		b = append(place.Form.append(b, n), place.After...)
	}
	return b
}

// Number returns the number in the first field of that name in an answer, or 0 if there is no such field.
func Number(answer []byte, field string) (n int64) {
	_, digits, _ := bytes.Cut(answer, []byte(`"`+field+`":`))
	for _, digit := range digits {
		if digit < '0' || digit > '9' {
			break
		}
		n = n*10 + int64(digit-'0')
	}
	return n
}

// Ask sends one request with the number n, and returns the whole answer for checks. The bytes are the same as under load.
func (r Request) Ask(address string, n int64) (*http.Response, []byte, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(answerTimeout))
	if _, err := conn.Write(r.append(nil, n)); err != nil {
		return nil, nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != r.Status {
		err = fmt.Errorf("status %d instead of %d: %s", answer.StatusCode, r.Status, body)
	}
	return answer, body, err
}

// stride is a prime that is larger than the length of every range. Steps of this size therefore reach every number in a
// range before any number repeats.
const stride = 2_654_435_761

// next returns the number for the next request of this kind.
func (r *Request) next(random *rand.Rand) int64 {
	n := r.Last - r.First + 1
	if r.InTurn {
		r.at = (r.at + stride) % n
	} else {
		r.at = random.Int64N(n)
	}
	return r.First + r.at
}
