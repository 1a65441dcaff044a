package server

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// If the bytes from a client are not HTTP, net/http refuses them before any handler runs. It sends the refusal as plain text
// in a single write. These constants are parts of such refusals. A test compares them with what net/http writes.
const (
	refusalHeaders   = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	refusalOverPlain = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
	refusalOfExpect  = "417 Expectation Failed\r\n"
)

// refusedByServer recognizes a refusal by net/http among the writes of a connection. It returns the status and the message
// that the client gets instead. For all other writes the status is 0. No other write can look like a refusal: the answers of
// handlers have other headers, TLS bytes differ entirely, and a body has no CRLF, because JSON and the web pages never
// contain one.
func refusedByServer(b []byte) (status int, message string) {
	const code = len("HTTP/1.1 ")
	if len(b) < code+3 || b[code] < '4' || !bytes.HasPrefix(b, []byte("HTTP/1.")) {
		return 0, ""
	}
	if string(b) == refusalOverPlain {
		return http.StatusBadRequest, "This port speaks HTTPS. Use an address that begins with https://."
	}
	line, _, _ := bytes.Cut(b, []byte("\r\n"))
	status, _ = strconv.Atoi(string(line[code : code+3]))
	if !bytes.HasPrefix(b[len(line):], []byte(refusalHeaders)) && !bytes.HasPrefix(b[code:], []byte(refusalOfExpect)) {
		return 0, ""
	}
	switch status {
	case http.StatusExpectationFailed:
		return status, "The header Expect may only be 100-continue. Send the request without it."
	case http.StatusRequestHeaderFieldsTooLarge:
		return status, fmt.Sprintf("The headers are larger than %d KiB. Send fewer or shorter ones.", maxHeader>>10)
	case http.StatusNotImplemented:
		return status, "The header Transfer-Encoding may only be chunked. Send the body as it is."
	}
	if _, why, found := strings.Cut(string(line), ": "); found {
		return status, "This is not a valid HTTP request: " + why + "."
	}
	return status, "This is not a valid HTTP request: its first line or a header cannot be read, or its path is wrongly percent-encoded."
}
