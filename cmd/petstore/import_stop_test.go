package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// emptyJournal is the size of a journal without lines: its header and an empty block.
const emptyJournal = int64(len("petstore import 1\n") + 20)

// signalImport starts an import as a process, and sends the signal to it as soon as its journal has grown.
func signalImport(t *testing.T, signal os.Signal, file string, env []string, args ...string) (stderr string, status int) {
	t.Helper()
	command := testservice.CommandRaced(t, append([]string{"import", file}, args...)...)
	command.Env = append(command.Env, env...)
	var said bytes.Buffer
	command.Stderr = &said
	before := max(journalSize(t, file), emptyJournal)
	noError(t, command.Start())
	ended := make(chan struct{})
	go func() {
		command.Wait()
		close(ended)
	}()
	for deadline := time.Now().Add(time.Minute); journalSize(t, file) <= before && time.Now().Before(deadline); {
		select {
		case <-ended:
		case <-time.After(time.Millisecond):
			continue
		}
		break
	}
	command.Process.Signal(signal)
	<-ended
	return said.String(), command.ProcessState.ExitCode()
}

// journalSize returns the total size of the journals of a file. No other test may use a file with that name.
func journalSize(t *testing.T, file string) (size int64) {
	t.Helper()
	for _, journal := range journalsOf(t, file) {
		if info, err := os.Stat(journal); err == nil {
			size += info.Size()
		}
	}
	return size
}

func TestAKilledImportIntoADatabaseContinuesAndAddsNothingTwice(t *testing.T) {
	t.Parallel()
	for kind, database := range map[string]string{"SQLite": testservice.NewDatabase(t), "PostgreSQL": testservice.Postgres(t)} {
		t.Run(kind, func(t *testing.T) {
			const lines = 16_000
			file := writeFile(t, "killed-"+kind+".csv", rowsOf(lines))
			for range 4 {
				signalImport(t, syscall.SIGKILL, file, nil, "--database", database)
			}
			runImport(t, nil, 0, "Added ", file, "--database", database)
			expectEachOnce(t, exported(t, database), lines)
		})
	}
}

func TestAKilledImportThroughTheAPIContinuesAndAddsNothingTwice(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	const lines = 3000
	file := writeFile(t, "killed-server.csv", rowsOf(lines))
	env := []string{"PETSTORE_SERVER=" + s.URL, "PETSTORE_API_KEY=" + s.Key}
	for range 3 {
		signalImport(t, syscall.SIGKILL, file, env)
	}
	runImport(t, asClient(s), 0, "Added ", file)
	out, stderr, status := invokeWith(t, asClient(s), "export")
	if status != 0 {
		t.Fatal(stderr)
	}
	expectEachOnce(t, strings.Split(strings.TrimSpace(out), "\n")[1:], lines)
}

func TestAnInterruptedImportSaysHowToContinue(t *testing.T) {
	t.Parallel()
	s := testservice.ServeRaced(t)
	const lines = 20_000
	file := writeFile(t, "interrupted.csv", rowsOf(lines))
	env := []string{"PETSTORE_SERVER=" + s.URL, "PETSTORE_API_KEY=" + s.Key}
	stderr, status := signalImport(t, syscall.SIGINT, file, env)
	if status != 1 || !strings.Contains(stderr, "stopped; what was added stays; run the same command again to continue, which adds nothing twice") {
		t.Fatalf("%d %s", status, stderr)
	}
	stored := len(s.EveryPet(t))
	// The journal contains all stored lines, except the lines whose requests took too long.
	if journaled := (journalSize(t, file) - emptyJournal) / 12; journaled+16 < int64(stored) {
		t.Errorf("the store has %d animals, the journal at most %d", stored, journaled)
	}
}

func TestAnImportThatWaitsForInputCanBeStopped(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	command := testservice.Command(t, "import", "-")
	command.Env = append(command.Env, "PETSTORE_SERVER="+s.URL, "PETSTORE_API_KEY="+s.Key)
	input, err := command.StdinPipe()
	noError(t, err)
	defer input.Close()
	var said bytes.Buffer
	command.Stderr = &said
	noError(t, command.Start())
	fmt.Fprint(input, "name,categoryId\nRex,1\n")
	testservice.Eventually(t, "the first line is added", time.Minute, func() bool { return len(s.EveryPet(t)) == 1 })
	command.Process.Signal(os.Interrupt)
	command.Wait()
	if command.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "Added 1 animal.") || !strings.Contains(said.String(), "stopped; what was added stays") {
		t.Errorf("%v: %s", command.ProcessState, said.String())
	}
}

func TestAnImportStopsWhenItsFileChangesAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	long := strings.Repeat("x", 900)
	text := strings.ReplaceAll(rowsOf(1500), "Animal", long)
	file := writeFile(t, "pets.csv", text)
	said := make(chan string)
	go func() {
		_, stderr, status := invokeWith(t, asClient(s), "import", file)
		said <- fmt.Sprint(status, " ", stderr)
	}()
	testservice.Eventually(t, "animals are added", time.Minute, func() bool {
		return len(testservice.Decode[[]testservice.Pet](t, s.Ask(t, "GET", "/v1/pets", "").Body)) > 0
	})
	rewrite(t, file, text+long+" 1500,1,sold\n")
	if got := <-said; !strings.HasPrefix(got, "1 ") || !strings.Contains(got, "the file changed while it was read; what was added stays") {
		t.Fatal(got)
	}
	runImport(t, asClient(s), 0, "Added ", file)
	if n := len(s.EveryPet(t)); n != 1501 {
		t.Errorf("there are %d animals", n)
	}
}
