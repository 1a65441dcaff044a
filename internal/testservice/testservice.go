// Package testservice starts throwaway services for tests, from the programs on the machine. The services are real, and use
// free ports and a temporary folder. They end with the test process, even if the test process is killed. Only tests import
// the package.
//
// The tests of a process share [Postgres], [Redis] and [Browser]. A test that breaks a server starts its own server, with
// [StartPostgres] or [StartRedis]. [Build] and [NewServer] run petstore itself, and [WriteCertificate] writes a certificate
// for petstore. If a program is missing on the machine, the test is skipped. If CI is "true" in the environment, the test
// fails instead; see [Missing].
package testservice

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// serviceTimeout is how long a test waits for a service. Only a broken service needs that long.
const serviceTimeout = 30 * time.Second

// Missing ends a test that needs something that is missing on this machine. If CI is "true" in the environment, Missing
// fails the test. Otherwise it skips the test.
func Missing(t testing.TB, what, how string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: %s", what, how)
	}
	t.Skipf("%s is missing: %s", what, how)
}

// serverFolders are patterns for the folders in which packages install servers that are not on the PATH. If a pattern
// matches several versions, the last match is used.
var serverFolders = []string{
	"/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/opt/homebrew/sbin",
	"/usr/local/pgsql/bin", "/usr/pgsql-*/bin", "/usr/lib/postgresql/*/bin",
	"/usr/local/opt/postgresql@*/bin", "/opt/homebrew/opt/postgresql@*/bin",
}

// Program returns the path of a program that a test starts. If the program is missing, Program ends the test.
func Program(t testing.TB, name, how string) string {
	t.Helper()
	path := program(name)
	if path == "" {
		Missing(t, name, how)
	}
	return path
}

// program returns the path of the first of the named programs that is on the machine, or "" if there is none.
func program(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		for _, pattern := range serverFolders {
			if found, _ := filepath.Glob(filepath.Join(pattern, name)); len(found) > 0 {
				return slices.Max(found)
			}
		}
	}
	return ""
}

// folder creates a folder for a service. The folder is removed after the test process has ended.
func folder(t testing.TB, name string) string {
	t.Helper()
	parent, err := scratch()
	if err != nil {
		t.Fatalf("a temporary folder cannot be made: %v", err)
	}
	dir, err := os.MkdirTemp(parent, name+"-")
	if err != nil {
		t.Fatalf("a temporary folder cannot be made: %v", err)
	}
	return dir
}

// scratch creates the folder of this process, and starts a shell that watches the process. The shell's standard input ends
// when this process ends, for whatever reason. Then the shell ends the services listed in the folder, and the
// PostgreSQL servers that a service has started, and removes the folder.
var scratch = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "petstore-test-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o711); err != nil { // a service may run as another user, who must be able to enter the folder
		return "", err
	}
	const guard = `read -r _; cd "$1"
for pid in *.pid $(head -qn1 */data/postmaster.pid); do kill -QUIT "${pid%.pid}"; kill -CONT "${pid%.pid}"; done
for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" && break; sleep 0.3; done`
	cmd := exec.Command("sh", "-c", guard, "sh", dir)
	cmd.SysProcAttr = ownGroup()
	if _, err := cmd.StdinPipe(); err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	go cmd.Wait() // keeps the shell's standard input open until this process ends
	return dir, nil
})

// process is a running service.
type process struct {
	*os.Process
	log    string
	exited chan struct{}
}

// start runs a command and writes its output to a log in the given folder. The command ends with this process at the
// latest.
func start(cmd *exec.Cmd, dir string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = ownGroup()
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pidFile := filepath.Join(filepath.Dir(dir), fmt.Sprintf("%d.pid", cmd.Process.Pid))
	if err := os.WriteFile(pidFile, nil, 0o600); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	p := &process{Process: cmd.Process, log: log.Name(), exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the log says how the command ended
		os.Remove(pidFile)
		close(p.exited)
	}()
	return p, nil
}

// wait waits until the service is ready. It returns an error if the service ends, or does not become ready in time.
func (p *process) wait(ready func() error) error {
	deadline := time.Now().Add(serviceTimeout)
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return errors.New("the process ended: " + p.logTail())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not ready after %v: %w; %s", serviceTimeout, err, p.logTail())
		}
	}
}

// end sends the signal, and waits until the process has ended.
func (p *process) end(sig os.Signal) error {
	if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(serviceTimeout):
		return fmt.Errorf("process %d did not end on %v", p.Pid, sig)
	}
}

func (p *process) logTail() string {
	text, _ := os.ReadFile(p.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
