//go:build linux

package chaos

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"petstore/internal/testservice"
)

// embedded is one server on its SQLite file, on a small disk.
type embedded struct {
	*system
	disk   *testservice.Disk
	file   string
	server *testservice.Server
}

func startEmbedded(t testing.TB) *system {
	e := &embedded{disk: testservice.SmallDisk(t, 64<<20)}
	e.file = filepath.Join(e.disk.Folder, "pets.db")
	database := "sqlite:" + e.file
	e.server = testservice.NewServer(t, testservice.Build(t), "--database", database, "--log-level", "warn")
	e.server.Start(t)
	keys := make(map[string]string)
	for _, name := range []string{"ann", "bob"} {
		keys[name] = testservice.NewKey(t, testservice.Build(t), database, "--plan", "enterprise", "--per-minute", "1000000000", "--per-day", "1000000000")
	}
	whole := func(t testing.TB) { awaitReady(t, e.server.URL) }
	e.system = &system{base: e.server.URL, keys: keys, whole: whole, faults: []fault{
		{"server", "the server is killed and started", e.kill},
		{"server", "the server is killed and started ten times", e.killOften},
		{"server", "the server hangs", e.pause},
		{"server", "the server is restarted", e.restart},
		{"server", "the server finds its disk read-only", e.readOnly},
		{"server", "the disk of the server is full", e.fill},
		{"server", "the file of the server is gone for a while", e.away("", false)},
		{"server", "the file of the server is replaced for a while", e.away("", true)},
		{"server", "the log of the server is gone for a while", e.away("-wal", false)},
	}}
	return e.system
}

func (e *embedded) kill(t testing.TB, _ *rand.Rand) {
	e.server.Kill(t)
	e.server.Start(t)
}

func (e *embedded) killOften(t testing.TB, random *rand.Rand) {
	for range 10 {
		e.kill(t, random)
	}
}

func (e *embedded) pause(t testing.TB, random *rand.Rand) {
	e.server.Pause(t)
	hold(random)
	e.server.Resume(t)
}

func (e *embedded) restart(t testing.TB, _ *rand.Rand) {
	e.server.Stop(t)
	e.server.Start(t)
}

func (e *embedded) fill(t testing.TB, random *rand.Rand) {
	e.disk.Fill(t)
	e.bites(t)
	hold(random)
	e.disk.Free(t)
}

// readOnly has a server crash and start where it may not write: it refuses, and serves after a restart where it may.
func (e *embedded) readOnly(t testing.TB, _ *rand.Rand) {
	e.server.Kill(t)
	e.disk.ReadOnly(t)
	err := e.server.TryStart()
	e.disk.Writable(t)
	if err == nil {
		t.Fatal("the server is ready on a disk that it cannot write to")
	}
	e.server.Start(t)
}

// away moves a file of the database aside, perhaps with another in its place, and back.
func (e *embedded) away(end string, replaced bool) func(testing.TB, *rand.Rand) {
	return func(t testing.TB, random *rand.Rand) {
		file := e.file + end
		err := os.Rename(file, file+".away")
		if err == nil && replaced {
			err = os.WriteFile(file, []byte("another file"), 0o600)
		}
		if err == nil {
			hold(random)
			err = os.Rename(file+".away", file)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) { // there is no log before the first write
			t.Fatal(err)
		}
	}
}
