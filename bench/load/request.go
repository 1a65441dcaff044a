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

// Request is a kind of request. All its bytes are ready except for a number, such as an id.
type Request struct {
	Share       int    // how many requests of a mix are of this kind, relative to the others
	Head, Tail  string // the bytes before and after the number; without a number there is no tail
	Form        Form
	First, Last int64    // the range of numbers
	InTurn      bool     // whether each number is used once before any is repeated, in an order without locality; else at random
	Status      int      // the expected status
	Next        *Request // the request that follows the answer to this one, if any
	Field       string   // the field of the previous answer that has the number; if empty, the previous number is used again
	at          int64    // the last number, counted from First
}

// Form is how a number is written in a request: a verb of package fmt, Cursor, or "" for a plain number.
type Form string

// Cursor is the form of petstore's opaque cursors. A check before the measurement compares it with a real cursor.
const Cursor Form = "cursor"

// placeholder marks the place of a number and its form: {}, {%16d} or {cursor}.
var placeholder = regexp.MustCompile(`\{(|cursor|%\d+d)\}`)

// answerTimeout is how long the load waits for the last answers.
const answerTimeout = 30 * time.Second

// Times returns the request with that share of a mix.
func (r Request) Times(share int) Request {
	r.Share = share
	return r
}

// Then returns the request followed by next. The number of next comes from that field of the answer.
func (r Request) Then(field string, next Request) Request {
	next.Field, r.Next = field, &next
	return r
}

// Each returns the request with each number of a range in turn.
func (r Request) Each(first, last int64) Request {
	r.First, r.Last, r.InTurn = first, last, true
	return r
}

// Random returns the request with random numbers from 1 to last.
func (r Request) Random(last int64) Request {
	r.First, r.Last = 1, last
	return r
}

// NewRequest makes a Request. In its path, key or body, {} stands for the number, with the form between the braces.
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
	r := Request{Share: 1, Head: text + "\r\n" + body, Status: status}
	if form := placeholder.FindStringSubmatch(r.Head); form != nil {
		r.Form = Form(form[1])
		r.Head, r.Tail, _ = strings.Cut(r.Head, form[0])
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
	return fmt.Appendf(b, string(f), n)
}

// Text returns a number in this form.
func (f Form) Text(n int64) string { return string(f.append(nil, n)) }

// append appends the request with this number.
func (r Request) append(b []byte, n int64) []byte {
	b = append(b, r.Head...)
	if r.Tail == "" {
		return b
	}
	return append(r.Form.append(b, n), r.Tail...)
}

// Number returns the number in the first such field of an answer, or 0 if there is none.
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

// Ask sends one request with this number, the same bytes as under load, and returns the whole answer for checking.
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

// stride is a prime larger than the length of every range. Steps of this size therefore reach each number of a range once
// before any is repeated.
const stride = 2_654_435_761

// next returns the number of the next request of this kind.
func (r *Request) next(random *rand.Rand) int64 {
	n := r.Last - r.First + 1
	if r.InTurn {
		r.at = (r.at + stride) % n
	} else {
		r.at = random.Int64N(n)
	}
	return r.First + r.at
}
