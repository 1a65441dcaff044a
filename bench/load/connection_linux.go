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

// connection is one client: it has at most one request on its way.
type connection struct {
	file    *os.File
	fd      int
	asked   question
	due     time.Time // when it was
	out, in []byte
	read    int // how much of in is filled
	length  int // of the whole answer, 0 while unknown
	status  int
	chunked bool
}

// send sends a request, which is far smaller than what the system takes at once from a client that waits for every answer.
func (c *connection) send() error {
	c.out, c.read, c.length, c.status, c.chunked = c.asked.append(c.out[:0], c.asked.number), 0, 0, 0, false
	n, err := syscall.Write(c.fd, c.out)
	if err == nil && n < len(c.out) {
		err = errors.New("a request was sent in part only")
	}
	return err
}

// receive reads what has come and reports whether the answer is whole.
func (c *connection) receive() (whole bool, err error) {
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

// parseHead reads the status and the length, and nothing else of the head.
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

// header is what follows the begin of a header, as net/http writes it or, like proxies do, in small letters.
func header(head []byte, begin string) (rest []byte, ok bool) {
	if _, rest, ok = bytes.Cut(head, []byte(begin)); !ok {
		_, rest, ok = bytes.Cut(head, []byte(strings.ToLower(begin)))
	}
	return rest, ok
}
