package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"petstore/internal/bulk"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// journalBegins is the size of a journal without lines.
const journalBegins = int64(len("petstore import 1\n"))

// killed starts an import as a process, and sends it the signal when its journal has more lines.
func killed(t *testing.T, signal os.Signal, file string, env []string, args ...string) (stderr string, status int) {
	t.Helper()
	command := raced(t, append([]string{"import", file}, args...)...)
	command.Env = append(command.Env, env...)
	var said bytes.Buffer
	command.Stderr = &said
	before := max(journaled(t, file), journalBegins)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		command.Wait()
		close(ended)
	}()
	for deadline := time.Now().Add(time.Minute); journaled(t, file) <= before && time.Now().Before(deadline); {
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

// journaled is the size of the journal of a file.
func journaled(t *testing.T, file string) (size int64) {
	t.Helper()
	journals, err := filepath.Glob(file + ".imported-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, journal := range journals {
		if info, err := os.Stat(journal); err == nil {
			size += info.Size()
		}
	}
	return size
}

func TestAKilledImportIntoAStoreGoesOnAndAddsNothingTwice(t *testing.T) {
	t.Parallel()
	for kind, database := range map[string]string{"SQLite": newDatabase(t), "PostgreSQL": testservice.Postgres(t)} {
		t.Run(kind, func(t *testing.T) {
			const lines = 16_000
			file := written(t, "pets.csv", named(lines))
			for range 4 {
				killed(t, syscall.SIGKILL, file, nil, "--database", database)
			}
			importing(t, nil, 0, "Added ", file, "--database", database)
			eachOnce(t, exported(t, database), lines)
		})
	}
}

func TestAKilledImportThroughTheAPIGoesOnAndAddsNothingTwice(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	const lines = 3000
	file := written(t, "pets.csv", named(lines))
	env := []string{"PETSTORE_SERVER=" + s.URL, "PETSTORE_API_KEY=" + s.Key}
	for range 3 {
		killed(t, syscall.SIGKILL, file, env)
	}
	importing(t, s.asClient(), 0, "Added ", file)
	out, stderr, status := invokeWith(t, s.asClient(), "export")
	if status != 0 {
		t.Fatal(stderr)
	}
	eachOnce(t, strings.Split(strings.TrimSpace(out), "\n")[1:], lines)
}

// journaling makes an importer that has a journal and no file to read.
func journaling(t *testing.T, journal string, confirm func(bulk.Block) (bool, error)) *importer {
	t.Helper()
	im := &importer{ledger: bulk.NewLedger()}
	if err := im.open(journal, confirm); err != nil {
		t.Fatal(err)
	}
	return im
}

// failingAdd is a storage that fails to add animals.
type failingAdd struct{ petstore.Storage }

func (failingAdd) AddPets(context.Context, []petstore.NewPet, *petstore.Idempotency) (bool, error) {
	return false, petstore.MaybeDone(context.DeadlineExceeded)
}

func TestTheJournalNamesLinesBeforeTheyAreStored(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	im := journaling(t, journal, nil)
	if err := im.batch(t.Context(), failingAdd{}, []item{{ID: bulk.ID{Count: 1}}}); !petstore.IsCode(err, petstore.OutcomeUnknown) {
		t.Fatal(err)
	}
	im.journal.Close()
	asked := 0
	again := journaling(t, journal, func(bulk.Block) (bool, error) { asked++; return true, nil })
	defer again.journal.Close()
	if asked != 1 || again.journaled != 1 {
		t.Errorf("the store is asked %d times, and the journal has %d lines", asked, again.journaled)
	}
}

func TestTheJournalTakesMoreLinesAtOnceThanABlockHolds(t *testing.T) {
	t.Parallel()
	const lines = 5000
	acknowledged := make(chan bulk.ID, lines)
	for i := range uint32(lines) {
		acknowledged <- bulk.ID{Count: i + 1}
	}
	close(acknowledged)
	journal := filepath.Join(t.TempDir(), "journal")
	im := journaling(t, journal, nil)
	if err := im.note(acknowledged); err != nil {
		t.Fatal(err)
	}
	im.journal.Close()
	again := journaling(t, journal, nil)
	defer again.journal.Close()
	if again.journaled != lines {
		t.Errorf("the journal has %d lines", again.journaled)
	}
}

func TestAnImportThatIsStoppedSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	s := startRaced(t)
	const lines = 20_000
	file := written(t, "pets.csv", named(lines))
	env := []string{"PETSTORE_SERVER=" + s.URL, "PETSTORE_API_KEY=" + s.Key}
	stderr, status := killed(t, syscall.SIGINT, file, env)
	if status != 1 || !strings.Contains(stderr, "stopped; what was added stays, and the same command goes on and adds nothing twice") {
		t.Fatalf("%d %s", status, stderr)
	}
	there := len(s.everyPet(t))
	// The lines in the store are in the journal, except those whose requests took too long.
	if noted := (journaled(t, file) - journalBegins) / 12; noted+16 < int64(there) {
		t.Errorf("the store has %d animals, the journal at most %d", there, noted)
	}
}

func TestAnImportThatWaitsForInputCanBeStopped(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	command := program(t, "import", "-")
	command.Env = append(command.Env, "PETSTORE_SERVER="+s.URL, "PETSTORE_API_KEY="+s.Key)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	var said bytes.Buffer
	command.Stderr = &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(input, "name,categoryId\nRex,1\n")
	eventually(t, "the first line is added", time.Minute, func() bool { return len(s.everyPet(t)) == 1 })
	command.Process.Signal(os.Interrupt)
	command.Wait()
	if command.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "Added 1 animal.") || !strings.Contains(said.String(), "stopped; what was added stays") {
		t.Errorf("%v: %s", command.ProcessState, said.String())
	}
}

func TestAnImportOfAFileThatChangesStopsAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	long := strings.Repeat("x", 900)
	text := strings.ReplaceAll(named(1500), "Animal", long)
	file := written(t, "pets.csv", text)
	said := make(chan string)
	go func() {
		_, stderr, status := invokeWith(t, s.asClient(), "import", file)
		said <- fmt.Sprint(status, " ", stderr)
	}()
	eventually(t, "animals are added", time.Minute, func() bool { return len(decode[[]pet](t, s.ask(t, "GET", "/v1/pets", "").body)) > 0 })
	rewrite(t, file, text+long+" 1500,1,sold\n")
	if got := <-said; !strings.HasPrefix(got, "1 ") || !strings.Contains(got, "the file changed while it was read; what was added stays") {
		t.Fatal(got)
	}
	importing(t, s.asClient(), 0, "Added ", file)
	if n := len(s.everyPet(t)); n != 1501 {
		t.Errorf("there are %d animals", n)
	}
}
