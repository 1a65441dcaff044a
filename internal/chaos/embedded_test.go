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

// The type embedded is one server with its SQLite file on a small disk.
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
	awaitHealthy := func(t testing.TB) { awaitReady(t, e.server.URL) }
	e.system = &system{base: e.server.URL, keys: newKeys(t, database), awaitHealthy: awaitHealthy, faults: []fault{
		{part: "server", name: "the server is killed and started", do: e.kill, uncounted: true},
		{part: "server", name: "the server is killed and started ten times", do: e.killOften, uncounted: true},
		{part: "server", name: "the server hangs", do: e.pause},
		{part: "server", name: "the server is restarted", do: e.restart, uncounted: true},
		{part: "server", name: "the server finds its disk read-only", do: e.readOnly, uncounted: true},
		{part: "server", name: "the disk of the server is full", do: e.fill},
		{part: "server", name: "the file of the server is gone for a while", do: e.away("", false)},
		{part: "server", name: "the file of the server is replaced for a while", do: e.away("", true)},
		{part: "server", name: "the write-ahead log of the server is gone for a while", do: e.away("-wal", false)},
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

func (e *embedded) pause(t testing.TB, random *rand.Rand) { hang(t, random, e.server) }

func (e *embedded) restart(t testing.TB, _ *rand.Rand) {
	e.server.Stop(t)
	e.server.Start(t)
}

func (e *embedded) fill(t testing.TB, random *rand.Rand) {
	e.disk.Fill(t)
	e.awaitRefusal(t)
	hold(random)
	e.disk.Free(t)
}

// readOnly kills the server and makes the disk read-only. The server must refuse to start until the disk is writable again.
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

// The fault away moves a file of the database aside. After a while, it moves the file back. If replaced is true, another
// file takes the place of the file until then.
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
		if err != nil && !errors.Is(err, os.ErrNotExist) { // before the first write, there is no write-ahead log to move
			t.Fatal(err)
		}
	}
}
