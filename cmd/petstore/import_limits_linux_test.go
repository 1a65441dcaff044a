package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// smallKey creates a key. It returns the environment variables that make a command call the server with that key.
func smallKey(t *testing.T, s *testservice.Instance, database string, args ...string) map[string]string {
	t.Helper()
	key, stderr, status := invoke(t, append([]string{"keys", "create", "--name", "small", "--database", database}, args...)...)
	if status != 0 {
		t.Fatal(stderr)
	}
	return map[string]string{"PETSTORE_SERVER": s.URL, "PETSTORE_API_KEY": strings.TrimSpace(key)}
}

// How many days an import takes depends on the time of day: 1,000 of the 5,000 lines are added before the next midnight.
func TestALongImportSaysBeforehandHowLongItTakes(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	free := smallKey(t, s, database)
	file := writeFile(t, "long.csv", rowsOf(5000))
	started := func(want string) string {
		command := testservice.Command(t, "import", file)
		for name, value := range free {
			command.Env = append(command.Env, name+"="+value)
		}
		said := &testservice.Transcript{}
		command.Stderr = said
		noError(t, command.Start())
		before := len(s.EveryPet(t))
		announced := regexp.MustCompile(want)
		testservice.Eventually(t, "the import announces "+want, time.Minute, func() bool { return announced.MatchString(said.String()) })
		testservice.Eventually(t, "animals are added", 2*time.Minute, func() bool { return len(s.EveryPet(t)) > before })
		command.Process.Signal(os.Interrupt)
		command.Wait()
		return said.String()
	}
	const because = " takes about [3456] days, because this key may send only 60 requests per minute and 1,000 per day. If you stop the import, the same command continues it.\n"
	if said := started("^Adding 5,000 lines" + because); !strings.Contains(said, "stopped; what was added stays") {
		t.Errorf("the import said %s", said)
	}
	started("^Adding 4,9[0-9]{2} lines" + because)

	_, stderr, status := invokeWith(t, asClient(s), "import", file, "--label", "unlimited")
	if status != 0 || !strings.Contains(stderr, "Added 5,000 animals.") || strings.Contains(stderr, "takes about") {
		t.Errorf("with an unlimited key, the import ended with %d and said %s", status, stderr)
	}
}

func TestTheTimeLeftOfAnImportCountsTheLimits(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	file := writeFile(t, "long.csv", rowsOf(5000))
	imported := runAtTerminal(t, 120, smallKey(t, s, database), "import", file)
	imported.sees(t, " days left")
	imported.types("\x03")
	if status, screen := imported.wait(t); status != 1 || !strings.Contains(screen, "stopped; what was added stays") {
		t.Errorf("after Ctrl-C the import ended with %d:\n%s", status, screen)
	}
}

func TestAnImportWaitsForTheNextDay(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	s := testservice.Serve(t, "--database", database)
	daily := smallKey(t, s, database, "--plan", "enterprise", "--per-minute", "5", "--per-day", "5")
	imported := runAtTerminal(t, 120, daily, "import", writeFile(t, "daily.csv", rowsOf(100)))
	imported.sees(t, " for the rate limit.")
	imported.types("\x03")
	if status, screen := imported.wait(t); status != 1 || !strings.Contains(screen, "Added 4 animals.") || !strings.Contains(screen, "stopped; what was added stays") {
		t.Errorf("after Ctrl-C the import ended with %d:\n%s", status, screen)
	}
}

func TestALongExportSaysBeforehandHowLongItTakes(t *testing.T) {
	t.Parallel()
	database := testservice.NewDatabase(t)
	runImport(t, nil, 0, "Added 20,000 animals.", writeFile(t, "many.csv", rowsOf(20_000)), "--database", database)
	s := testservice.Serve(t, "--database", database)
	command := testservice.Command(t, "export", "--output", filepath.Join(t.TempDir(), "out.csv"))
	for name, value := range smallKey(t, s, database, "--plan", "enterprise", "--per-minute", "9", "--per-day", "9") {
		command.Env = append(command.Env, name+"="+value)
	}
	said := &testservice.Transcript{}
	command.Stderr = said
	noError(t, command.Start())
	want := regexp.MustCompile(`^Exporting 20,000 animals takes about \d+ (h|days), because this key may send only 9 requests per (minute|day)`)
	testservice.Eventually(t, "the export announces how long it takes", time.Minute, func() bool { return want.MatchString(said.String()) })
	command.Process.Signal(os.Interrupt)
	command.Wait()
	if !bytes.HasSuffix([]byte(said.String()), []byte("petstore: stopped; there is no complete export\n")) {
		t.Errorf("the export said %s", said)
	}
}
