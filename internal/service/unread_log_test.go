//go:build unix

package service

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// fullPipe returns a pipe that is full until somebody reads from it.
func fullPipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	noError(t, err)
	t.Cleanup(func() { reader.Close(); writer.Close() })
	raw, err := writer.SyscallConn()
	noError(t, err)
	raw.Write(func(fd uintptr) (done bool) {
		for err == nil || err == syscall.EINTR {
			_, err = syscall.Write(int(fd), []byte("\n"))
		}
		return true
	})
	if err != syscall.EAGAIN {
		t.Fatal(err)
	}
	return reader, writer
}

// startPiped starts a server whose output goes to the given files.
func startPiped(t *testing.T, stdout, stderr *os.File) (s *testservice.Instance, admin string) {
	t.Helper()
	listen, admin := testservice.FreeAddress(t), testservice.FreeAddress(t)
	command := testservice.CommandRaced(t, testservice.ServeArgs(t, "--listen", listen, "--admin-listen", admin)...)
	command.Env = append(command.Env, "PETSTORE_API_KEY=a-key-of-my-own-choice")
	command.Stdout, command.Stderr = stdout, stderr
	s = &testservice.Instance{URL: "http://" + listen, Key: "a-key-of-my-own-choice", Command: command, Stderr: &testservice.Transcript{}, Ended: make(chan struct{})}
	noError(t, command.Start())
	go func() { command.Wait(); close(s.Ended) }()
	t.Cleanup(s.Kill)
	testservice.Eventually(t, "the server is alive", time.Minute, func() bool {
		got, err := testservice.Request(s.URL, "", "GET", "/healthz", "")
		return err == nil && got.Status == 200
	})
	return s, "http://" + admin
}

// fillLog sends so many requests that their log lines do not fit into the queue.
func fillLog(t *testing.T, s *testservice.Instance) {
	t.Helper()
	for i := range 2 * queueSize / 100_000 {
		if got, err := testservice.Request(s.URL, s.Key, "GET", "/"+strings.Repeat("x", 100_000), ""); got.Status != 404 {
			t.Fatalf("request %d gets %d, %.100v", i, got.Status, err)
		}
	}
}

func droppedLines(t *testing.T, admin string) (lines int) {
	t.Helper()
	got, err := testservice.Request(admin, "", "GET", "/metrics", "")
	noError(t, err)
	_, value, found := strings.Cut(got.Body, "\npetstore_log_lines_dropped_total ")
	if _, err := fmt.Sscan(value, &lines); !found || err != nil {
		t.Fatalf("the metrics do not count dropped lines: %v", err)
	}
	return lines
}

func TestTheServerWorksWhileNobodyReadsItsLog(t *testing.T) {
	t.Parallel()
	_, stderr := fullPipe(t)
	s, admin := startPiped(t, nil, stderr)
	fillLog(t, s)
	if got := s.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`); got.Status != 201 {
		t.Errorf("a create gets %d", got.Status)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := s.Ask(t, "GET", path, ""); got.Status != 200 {
			t.Errorf("%s is %d", path, got.Status)
		}
	}
	if droppedLines(t, admin) == 0 {
		t.Error("no line was dropped")
	}
	if status := s.Stop(t); status != 0 {
		t.Errorf("ended with %d", status)
	}
}

func TestTheServerKeepsRunningWhenItsLogIsClosed(t *testing.T) {
	t.Parallel()
	reader, stderr, err := os.Pipe()
	noError(t, err)
	s, _ := startPiped(t, nil, stderr)
	stderr.Close()
	reader.Close()
	fillLog(t, s)
	if got := s.Ask(t, "GET", "/v1/pets", ""); got.Status != 200 {
		t.Errorf("a list gets %d", got.Status)
	}
	if status := s.Stop(t); status != 0 {
		t.Errorf("ended with %d", status)
	}
}

func TestTheFirstStartServesBeforeItsOutputIsRead(t *testing.T) {
	t.Parallel()
	reader, stdout := fullPipe(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	noError(t, err)
	defer log.Close()
	s, _ := startPiped(t, stdout, log)
	if got := s.Ask(t, "GET", "/v1/pets", ""); got.Status != 200 {
		t.Errorf("a list gets %d", got.Status)
	}
	reader.SetReadDeadline(time.Now().Add(time.Minute))
	for lines := bufio.NewScanner(reader); !strings.Contains(lines.Text(), s.URL); {
		if !lines.Scan() {
			t.Fatalf("the address is not printed: %v", lines.Err())
		}
	}
	testservice.Eventually(t, "the log mentions it", time.Minute, func() bool {
		return strings.Contains(testservice.Printed(log.Name()).String(), "nobody reads standard output")
	})
}

func TestAUsageErrorEndsTheProgramThoughNobodyReadsIt(t *testing.T) {
	t.Parallel()
	_, stderr := fullPipe(t)
	command := testservice.Command(t, "serve", "--listen", "eighty")
	command.Stderr = stderr
	noError(t, command.Start())
	defer time.AfterFunc(time.Minute, func() { command.Process.Kill() }).Stop()
	command.Wait()
	if status := command.ProcessState.ExitCode(); status != 2 {
		t.Errorf("it ended with %s", command.ProcessState)
	}
}
