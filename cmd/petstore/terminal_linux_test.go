package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"petstore/client"
	"petstore/internal/testservice"

	"golang.org/x/sys/unix"
)

// session is a command that runs at a terminal, together with the output on the terminal.
type session struct {
	keyboard *os.File
	screen   *testservice.Transcript
	command  *exec.Cmd
	ended    chan struct{}
}

// runAtTerminal starts a command at a terminal that is columns wide.
func runAtTerminal(t *testing.T, columns uint16, env map[string]string, args ...string) *session {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	noError(t, err)
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	noError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	noError(t, err)
	noError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	noError(t, err)
	defer slave.Close()
	s := &session{master, &testservice.Transcript{}, testservice.Command(t, args...), make(chan struct{})}
	s.command.Env = append(s.command.Env, "TERM=xterm", "NO_COLOR=")
	for name, value := range env {
		s.command.Env = append(s.command.Env, name+"="+value)
	}
	s.command.Stdin, s.command.Stdout, s.command.Stderr = slave, slave, slave
	s.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	noError(t, s.command.Start())
	t.Cleanup(func() { s.command.Process.Kill() })
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			s.screen.Write(buffer[:n])
			if err != nil { // the command has ended, which closes its end of the terminal
				s.command.Wait()
				close(s.ended)
				return
			}
		}
	}()
	return s
}

// sees waits until the screen shows a text.
func (s *session) sees(t *testing.T, text string) {
	t.Helper()
	testservice.Eventually(t, fmt.Sprintf("the screen shows %q", text), time.Minute, func() bool { return strings.Contains(s.screen.String(), text) })
}

// echoes reports whether the terminal shows what the user types.
func (s *session) echoes(t *testing.T) bool {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(s.keyboard.Fd()), unix.TCGETS)
	noError(t, err)
	return mode.Lflag&unix.ECHO != 0
}

func (s *session) types(text string) { s.keyboard.WriteString(text) }

// wait waits until the command ends. It returns the exit status and what the terminal showed.
func (s *session) wait(t *testing.T) (int, string) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		t.Fatalf("the command does not end:\n%s", s.screen)
	}
	return s.command.ProcessState.ExitCode(), strings.ReplaceAll(s.screen.String(), "\r\n", "\n")
}

func TestAnAnimalOnATerminalIsShownWithItsProfile(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.env["NO_COLOR"] = "1"
	user.does(t, "categories", "name", "5", "Dogs")
	user.does(t, "pets", "add", "Biscuit", "--category", "5")
	const row = "ID  NAME     CATEGORY  STATUS\n1   Biscuit  5 Dogs    available\n"
	if _, screen := runAtTerminal(t, 80, user.env, "pets", "show", "1").wait(t); screen != row {
		t.Errorf("without a profile, pets show showed\n%s", screen)
	}
	user.does(t, "pets", "edit", "1", "--breed", "Beagle", "--sex", "male", "--born", "2024", "--arrived", "2026-11-02", "--tag", "shy", "--tag", "old",
		"--description", "Kind.\r\nLikes\tham.", "--notes", "Bites\u202e.")
	photo := testservice.Decode[client.Photo](t, user.does(t, "pets", "photo", "add", "1", photoFile(t, 3, 2), "--json"))
	profile := row + `Breed:       Beagle
Sex:         male
Born:        2024
Arrived:     2026-11-02
Tags:        shy, old
Description: Kind.
             Likes\tham.
Notes:       Bites\u202e.
Photo:       1  ` + photo.URL + "\n"
	for _, typed := range []string{"show 1", "edit 1 --breed Beagle"} {
		if _, screen := runAtTerminal(t, 80, user.env, append([]string{"pets"}, strings.Fields(typed)...)...).wait(t); screen != profile {
			t.Errorf("pets %s showed\n%s\nwant\n%s", typed, screen, profile)
		}
	}
}

func TestAListOnATerminalIsATableThatFitsItsWidth(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.does(t, "categories", "name", "5", "Dogs")
	user.does(t, "pets", "add", strings.Repeat("long ", 20), "--category", "5", "--status", "sold")
	user.does(t, "pets", "add", "猫\x1b[2J", "--category", "7")
	const table = "ID  NAME               CATEGORY  STATUS\n" +
		"2   猫\\x1b[2J          7         \x1b[32mavailable\x1b[0m\n" +
		"1   long long long l…  5 Dogs    \x1b[90msold\x1b[0m\n"
	if status, screen := runAtTerminal(t, 42, user.env, "pets", "list").wait(t); status != 0 || screen != table {
		t.Errorf("pets list ended with %d and showed\n%s\nwant\n%s", status, screen, table)
	}
	user.does(t, "categories", "name", "7", strings.Repeat("cats ", 20))
	if _, screen := runAtTerminal(t, 42, user.env, "pets", "list").wait(t); !strings.Contains(screen, "1   long long l…  5 Dogs         ") {
		t.Errorf("with a long category pets list showed\n%s", screen)
	}
	user.does(t, "orders", "place", "2", "--reference", strings.Repeat("shop ", 40))
	_, orders := runAtTerminal(t, 80, user.env, "orders", "list").wait(t)
	for line := range strings.Lines(strings.NewReplacer("\x1b[33m", "", "\x1b[0m", "").Replace(orders)) {
		if utf8.RuneCountInString(strings.TrimSpace(line)) > 80 {
			t.Errorf("orders list showed a row that does not fit:\n%s", orders)
		}
	}
	user.env["NO_COLOR"] = "1"
	if _, screen := runAtTerminal(t, 80, user.env, "pets", "show", "2").wait(t); strings.Contains(screen, "\x1b") || !strings.HasPrefix(screen, "ID  NAME") {
		t.Errorf("with NO_COLOR pets show showed %q", screen)
	}
	if _, screen := runAtTerminal(t, 80, user.env, "orders", "list", "--status", "expired").wait(t); screen != "There is nothing to list.\n" {
		t.Errorf("orders list showed %q", screen)
	}
}

func TestOrdersOnATerminalShowTheNamesOfTheAnimals(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	user := remoteUser{s, asClient(s)}
	for _, name := range []string{"Rex", "Tom", "Kit"} {
		user.does(t, "pets", "add", name, "--category", "1")
	}
	user.does(t, "orders", "place", "1")
	user.does(t, "orders", "cancel", "1")
	user.does(t, "pets", "delete", "1", "--yes")
	showsPets := func(env map[string]string, want string, args ...string) {
		t.Helper()
		_, screen := runAtTerminal(t, 100, env, args...).wait(t)
		var pets []string
		for line := range strings.Lines(screen) {
			pets = append(pets, strings.TrimSpace(line[strings.Index(screen, "PET"):strings.Index(screen, "STATUS")]))
		}
		if got := strings.Join(pets, ","); got != want {
			t.Errorf("petstore %q shows the animals %s, want %s:\n%s", args, got, want, screen)
		}
	}
	showsPets(user.env, "PET,2 Tom", "orders", "place", "2")
	showsPets(user.env, "PET,2 Tom", "orders", "complete", "2")
	showsPets(user.env, "PET,3 Kit", "orders", "place", "3")
	showsPets(user.env, "PET,3 Kit", "orders", "show", "3")
	showsPets(user.env, "PET,3 Kit,2 Tom,1", "orders", "list")
	if piped := user.does(t, "orders", "list", "--status", "open"); !strings.HasPrefix(piped, "3\t3\topen\t") {
		t.Errorf("in a pipe, orders list prints %q", piped)
	}

	few := smallKey(t, s, database, "--plan", "enterprise", "--per-minute", "6", "--per-day", "6")
	showsPets(few, "PET,3,2,1", "orders", "list") // three names would cost over half of the five requests left
	showsPets(few, "PET,3 Kit", "orders", "list", "--status", "open")
}

func TestAListOnATerminalHasAtMost30Rows(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	for i := range 31 {
		user.Ask(t, "POST", "/v1/pets", `{"name":"`+strconv.Itoa(i)+`","categoryId":1}`)
	}
	for _, c := range []struct {
		typed string
		lines int
		more  bool
	}{{"", 32, true}, {"--all", 32, false}, {"--limit 31", 32, false}, {"--limit 5", 6, false}} {
		_, screen := runAtTerminal(t, 80, user.env, append([]string{"pets", "list"}, strings.Fields(c.typed)...)...).wait(t)
		more := strings.Contains(screen, "Only the first 30 are shown.")
		if strings.Count(screen, "\n") != c.lines || more != c.more {
			t.Errorf("pets list %s showed\n%s", c.typed, screen)
		}
	}
}

func TestDeletingAnAnimalNeedsConfirmation(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.does(t, "pets", "add", "Rex\x07", "--category", "1")
	for _, c := range []struct {
		types, says string
		status      int
	}{
		{"\n", "nothing was done", 1},
		{"no\n", "nothing was done", 1},
		{"\x04", "nothing was done", 1},
		{"\x03", "petstore: stopped; nothing was done", 1},
		{"y\n", "Deleted animal 1.", 0},
	} {
		s := runAtTerminal(t, 80, user.env, "pets", "delete", "1")
		s.sees(t, `Delete Rex\a (1, available) for good? [y/N] `)
		s.types(c.types)
		if status, screen := s.wait(t); status != c.status || !strings.Contains(screen, c.says) {
			t.Errorf("after %q pets delete ended with %d:\n%s", c.types, status, screen)
		}
	}
}

func TestATypedKeyIsNotEchoed(t *testing.T) {
	t.Parallel()
	s, home := testservice.Serve(t, "--environment", "staging"), t.TempDir()
	env := map[string]string{"XDG_CONFIG_HOME": home, "PETSTORE_SERVER": s.URL, "PETSTORE_PROFILE": "staging"}
	asked := func() *session {
		login := runAtTerminal(t, 80, env, "login")
		login.sees(t, "API key for "+s.URL+": ")
		testservice.Eventually(t, "the terminal does not echo", time.Minute, func() bool { return !login.echoes(t) })
		return login
	}
	login := asked()
	login.types("\x03")
	if status, screen := login.wait(t); status != 1 || !strings.Contains(screen, "petstore: stopped") || leftIn(t, home) != nil {
		t.Errorf("after Ctrl-C login ended with %d and left %v:\n%s", status, leftIn(t, home), screen)
	}
	if !login.echoes(t) {
		t.Error("after Ctrl-C the terminal still does not echo")
	}
	login = asked()
	login.types(s.Key + "\n")
	status, screen := login.wait(t)
	if status != 0 || strings.Contains(screen, s.Key) || !strings.Contains(screen, "Logged in to "+s.URL+" (staging) with the profile staging.") {
		t.Errorf("login ended with %d:\n%s", status, screen)
	}
	if _, err := os.Stat(filepath.Join(home, "petstore", "profiles", "staging.json")); err != nil {
		t.Error(err)
	}
}

func TestAWaitForTheRateLimitIsShownAndCanBeInterrupted(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	s.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
	target, err := url.Parse(s.URL)
	noError(t, err)
	for _, limited := range []string{"/v1/pets", "/v1/categories"} { // pets list asks for the animals, and then for the names of categories
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != limited {
				httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, `{"code":"rate_limited","message":"Wait.","status":429}`)
		}))
		t.Cleanup(proxy.Close)
		list := runAtTerminal(t, 80, map[string]string{"PETSTORE_SERVER": proxy.URL, "PETSTORE_API_KEY": s.Key}, "pets", "list")
		list.sees(t, " s for the rate limit.")
		list.types("\x03")
		if status, screen := list.wait(t); status != 1 || !strings.HasSuffix(screen, "petstore: stopped\n") {
			t.Errorf("%s: after Ctrl-C pets list ended with %d:\n%s", limited, status, screen)
		}
	}
}

func TestARawCallAtATerminalIndentsTheAnswerAndEscapesIt(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.does(t, "pets", "add", "a\u202eb", "--category", "1")
	const want = "[\n  {\n    \"id\": 1,\n    \"name\": \"a\\u202eb\",\n    \"categoryId\": 1,\n    \"status\": \"available\"\n  }\n]\n"
	if status, screen := runAtTerminal(t, 80, user.env, "api", "GET", "/pets").wait(t); status != 0 || screen != want {
		t.Errorf("petstore api ended with %d and showed\n%s", status, screen)
	}
	if status, screen := runAtTerminal(t, 80, user.env, "api", "DELETE", "/pets/1").wait(t); status != 0 || screen != "" {
		t.Errorf("petstore api DELETE ended with %d and showed\n%s", status, screen)
	}
}

func TestAPersonAtATerminalSeesNoLogLines(t *testing.T) {
	t.Parallel()
	status, screen := runAtTerminal(t, 200, nil, "keys", "create", "--name", "shop", "--database", testservice.NewDatabase(t)).wait(t)
	if status != 0 || !strings.Contains(screen, "Created key key_") || strings.Contains(screen, `"msg"`) {
		t.Errorf("it ended with %d and showed\n%s", status, screen)
	}
}
