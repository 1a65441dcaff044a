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

// Request is a kind of request, ready to be sent but for a number in it.
type Request struct {
	Share       int    // how many requests of a mix are of this kind, relative to the others
	Head, Tail  string // the bytes before and after the number; without a number there is no tail
	Form        Form
	First, Last int64    // the numbers to ask for
	InTurn      bool     // each number once before any comes again, in no order that a cache could like; else at random
	Status      int      // of the right answer
	Next        *Request // what is asked for once this one is answered; nil for nothing
	Field       string   // the field of the answer before that has the number of this request; none is the request before's
	at          int64    // the number that was drawn last, counted from the first
}

// Form is how a number stands in a request: nothing for a plain number, a verb of fmt, or Cursor.
type Form string

// Cursor is one of petstore's, which gives it out as an opaque text; the check before timing compares the two.
const Cursor Form = "cursor"

// place is where a number stands, with its form: {}, {%16d} or {cursor}.
var place = regexp.MustCompile(`\{(|cursor|%\d+d)\}`)

// grace is how long the last answers may take.
const grace = 30 * time.Second

// Times is the request with another share of a mix.
func (r Request) Times(share int) Request {
	r.Share = share
	return r
}

// Then is the request with one that follows it, with the number that this field of its answer has.
func (r Request) Then(field string, next Request) Request {
	next.Field, r.Next = field, &next
	return r
}

// Each is the request with each number of a range in turn.
func (r Request) Each(first, last int64) Request {
	r.First, r.Last, r.InTurn = first, last, true
	return r
}

// Random is the request with numbers up to the last at random.
func (r Request) Random(last int64) Request {
	r.First, r.Last = 1, last
	return r
}

// NewRequest makes a Request of a path, key or body in which {} stands for the number, with its form between the braces.
func NewRequest(method, path, key, body string, status int) Request {
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n", method, path)
	if key != "" {
		text += fmt.Sprintf("Authorization: Bearer %s\r\n", key)
	}
	if body != "" {
		length := len(body)
		if form := place.FindStringSubmatch(body); form != nil {
			length += len(Form(form[1]).Text(0)) - len(form[0])
		}
		text += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", length)
	}
	r := Request{Share: 1, Head: text + "\r\n" + body, Status: status}
	if form := place.FindStringSubmatch(r.Head); form != nil {
		r.Form = Form(form[1])
		r.Head, r.Tail, _ = strings.Cut(r.Head, form[0])
	}
	return r
}

// append writes a number.
func (f Form) append(b []byte, n int64) []byte {
	switch f {
	case "":
		return strconv.AppendInt(b, n, 10)
	case Cursor:
		raw := [9]byte{1}
		binary.BigEndian.PutUint64(raw[1:], uint64(n))
		return base64.RawURLEncoding.AppendEncode(b, raw[:])
	}
	return fmt.Appendf(b, string(f), n)
}

// Text is a number in this form.
func (f Form) Text(n int64) string { return string(f.append(nil, n)) }

// append writes the request with this number.
func (r Request) append(b []byte, n int64) []byte {
	b = append(b, r.Head...)
	if r.Tail == "" {
		return b
	}
	return append(r.Form.append(b, n), r.Tail...)
}

// Number is that of the first such field in an answer, 0 if there is none.
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

// Ask sends one request, with this number, and returns the answer and its body: the same bytes as under load, with time
// to look at what comes back.
func (r Request) Ask(address string, n int64) (*http.Response, []byte, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(grace))
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

// stride is a prime above every number of different requests, so it has no divisor in common with any: steps of it meet
// each request once before any again.
const stride = 2_654_435_761

// next is the number of the next request of this kind.
func (r *Request) next(random *rand.Rand) int64 {
	n := r.Last - r.First + 1
	if r.InTurn {
		r.at = (r.at + stride) % n
	} else {
		r.at = random.Int64N(n)
	}
	return r.First + r.at
}
