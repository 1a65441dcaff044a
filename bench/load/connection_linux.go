package load

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
)

// connection is one client: it has at most one request on its way.
type connection struct {
	fd      int
	out     []byte
	in      []byte
	read    int // how much of in is filled
	length  int // of the whole answer, 0 while unknown
	status  int
	chunked bool
}

func dial(address string) (*connection, error) {
	addr, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	to := &syscall.SockaddrInet4{Port: addr.Port, Addr: [4]byte(addr.IP.To4())}
	err = errors.Join(
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1),
		syscall.Connect(fd, to),
		syscall.SetNonblock(fd, true))
	if err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return &connection{fd: fd, out: make([]byte, 0, 1<<10), in: make([]byte, 64<<10)}, nil
}

func (c *connection) close() { syscall.Close(c.fd) }

// send sends what is in out. A request is far smaller than what the system takes at once from a client that waits for
// every answer.
func (c *connection) send() error {
	c.read, c.length, c.status, c.chunked = 0, 0, 0, false
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
	if c.length == 0 && !c.chunked {
		if err := c.parseHead(); err != nil {
			return false, err
		}
	}
	if c.chunked {
		return bytes.HasSuffix(c.in[:c.read], lastChunk), nil
	}
	return c.length > 0 && c.read >= c.length, nil
}

var (
	headEnd   = []byte("\r\n\r\n")
	lastChunk = []byte("\r\n0\r\n\r\n")
)

// parseHead reads the status and the length, and nothing else of the head.
func (c *connection) parseHead() error {
	end := bytes.Index(c.in[:c.read], headEnd)
	if end < 0 {
		return nil
	}
	head := c.in[:end]
	if len(head) < len("HTTP/1.1 200") {
		return fmt.Errorf("the answer is not HTTP: %q", head)
	}
	c.status, _ = strconv.Atoi(string(head[9:12]))
	length, ok := header(head, "Content-Length: ")
	switch {
	case c.status == http.StatusNoContent:
	case ok:
		length, _, _ = bytes.Cut(length, headEnd[:2])
		n, err := strconv.Atoi(string(length))
		if err != nil {
			return err
		}
		end += n
	default:
		if _, c.chunked = header(head, "Transfer-Encoding: chunked"); !c.chunked {
			return fmt.Errorf("the answer has no length: %q", head)
		}
	}
	c.length = end + len(headEnd)
	return nil
}

// header is what follows the begin of a header, as net/http writes it or, like proxies do, in small letters.
func header(head []byte, begin string) (rest []byte, ok bool) {
	if _, rest, ok = bytes.Cut(head, []byte(begin)); !ok {
		_, rest, ok = bytes.Cut(head, []byte(strings.ToLower(begin)))
	}
	return rest, ok
}
