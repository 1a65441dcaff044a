package load

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// connection is one client connection. It has at most one request in flight.
type connection struct {
	file    *os.File
	fd      int
	asked   question
	due     time.Time // the time when the request was due
	out, in []byte
	read    int // how many bytes of in are filled
	length  int // the length of the complete answer; 0 while unknown
	status  int
	chunked bool
}

// send sends a request in one write. The request fits into the send buffer, because the client waits for each answer before
// it sends the next request.
func (c *connection) send() error {
	c.out, c.read, c.length, c.status, c.chunked = c.asked.append(c.out[:0], c.asked.number), 0, 0, 0, false
	n, err := syscall.Write(c.fd, c.out)
	if err == nil && n < len(c.out) {
		err = errors.New("a request was sent only in part")
	}
	return err
}

// receive reads the bytes that have arrived and reports whether the answer is complete.
func (c *connection) receive() (complete bool, err error) {
	if c.read == len(c.in) {
		c.in = append(c.in, make([]byte, len(c.in))...)
	}
	n, err := syscall.Read(c.fd, c.in[c.read:])
	switch {
	case err == syscall.EAGAIN:
		return false, nil
	case err != nil:
		return false, err
	case n == 0:
		return false, errors.New("the server closed the connection")
	}
	c.read += n
	if c.length == 0 {
		if err := c.parseHead(); err != nil {
			return false, err
		}
	}
	if c.chunked {
		return bytes.HasSuffix(c.in[:c.read], []byte("\r\n0\r\n\r\n")), nil
	}
	return c.length > 0 && c.read >= c.length, nil
}

// parseHead reads only the status and the length from the head of an answer.
func (c *connection) parseHead() (err error) {
	end := bytes.Index(c.in[:c.read], []byte("\r\n\r\n"))
	if end < 0 {
		return nil
	}
	head, body := c.in[:end], 0
	if len(head) < len("HTTP/1.1 200") {
		return fmt.Errorf("the answer is not HTTP: %q", head)
	}
	c.status, _ = strconv.Atoi(string(head[9:12]))
	if length, ok := header(head, "Content-Length: "); ok {
		length, _, _ = bytes.Cut(length, []byte("\r"))
		body, err = strconv.Atoi(string(length))
	} else if _, c.chunked = header(head, "Transfer-Encoding: chunked"); !c.chunked && c.status != http.StatusNoContent {
		err = fmt.Errorf("the answer has no length: %q", head)
	}
	c.length = end + len("\r\n\r\n") + body
	return err
}

// header returns the text after the first occurrence of begin in the head of an answer. It also finds begin in lower case,
// as proxies write it.
func header(head []byte, begin string) (rest []byte, ok bool) {
	if _, rest, ok = bytes.Cut(head, []byte(begin)); !ok {
		_, rest, ok = bytes.Cut(head, []byte(strings.ToLower(begin)))
	}
	return rest, ok
}
