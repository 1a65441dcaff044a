package service

import (
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// The test opens more connections than the server has files. Most have been used once, some never. If the server did not
// close idle connections, a new client would have to wait two minutes until they time out.
func TestIdleConnectionsAreClosedWhenOpenFilesRunShort(t *testing.T) {
	t.Parallel()
	command := testservice.CommandRaced(t, testservice.ServeArgs(t)...)
	limited := exec.Command("sh", append([]string{"-c", `ulimit -n 128 && exec "$@"`, "sh", command.Path}, command.Args[1:]...)...)
	limited.Env = command.Env
	s := testservice.Launch(t, limited)
	for i := range 200 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%4 != 0 {
			io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		}
	}
	if got := s.Ask(t, "GET", "/v1/pets", ""); got.Status != http.StatusOK {
		t.Errorf("a new client gets %d", got.Status)
	}
	if log := s.Stderr.String(); strings.Contains(log, "too many open files") {
		t.Errorf("files ran out:\n%s", log)
	}
}
