package sqlite

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// walBound is the size that the WAL of a server may reach while another process follows it.
const walBound = 64 << 20

// followWAL is a process that holds a transaction, as Litestream does. On each line of its standard input it begins a new
// one, and on the line "checkpoint" it first moves the WAL into the database. It prints a line for each transaction.
func followWAL(path string) (err error) {
	var conns [3]*sqlite3.Conn
	for i := range conns {
		if conns[i], err = sqlite3.OpenConn(path, sqlite3.OpenReadWrite); err != nil {
			return err
		}
		defer conns[i].Close()
		conns[i].SetBusyTimeout(busyTimeout)
	}
	holder, checkpointer, blocker := conns[0], conns[1], conns[2]
	steps := func(conn *sqlite3.Conn, sql ...string) {
		for _, statement := range sql {
			err = errors.Join(err, run(conn, statement))
		}
	}
	steps(blocker, "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE _litestream_seq (seq INTEGER)")
	steps(holder, "BEGIN", "SELECT count(*) FROM pets")
	fmt.Println("holding")
	for lines := bufio.NewScanner(os.Stdin); err == nil && lines.Scan(); {
		checkpoint := lines.Text() == "checkpoint"
		if checkpoint {
			steps(blocker, "BEGIN IMMEDIATE")
		}
		steps(holder, "ROLLBACK")
		if checkpoint {
			steps(checkpointer, "PRAGMA wal_checkpoint(PASSIVE)")
		}
		steps(holder, "BEGIN", "SELECT count(*) FROM pets")
		if checkpoint {
			steps(blocker, "ROLLBACK", "INSERT INTO _litestream_seq VALUES (1)")
		}
		fmt.Println("holding")
	}
	return err
}

// follower is a process that runs followWAL.
type follower struct {
	t     *testing.T
	lines *bufio.Scanner
	stdin io.WriteCloser
	wait  func() error
}

func startFollower(t *testing.T, path string) *follower {
	t.Helper()
	cmd := otherProcess(t, "follow", path)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	noError(t, err)
	stdout, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	f := &follower{t, bufio.NewScanner(stdout), stdin, cmd.Wait}
	f.awaitTransaction()
	return f
}

func (f *follower) awaitTransaction() {
	f.t.Helper()
	if !f.lines.Scan() {
		f.t.Fatal("the other process ended")
	}
}

// renew makes the process begin a new transaction.
func (f *follower) renew(how string) {
	f.t.Helper()
	_, err := fmt.Fprintln(f.stdin, how)
	noError(f.t, err)
	f.awaitTransaction()
}

func (f *follower) stop() {
	f.t.Helper()
	noError(f.t, f.stdin.Close())
	noError(f.t, f.wait())
}

// openFollowed opens a database to serve, and starts a process that follows its WAL.
func openFollowed(t *testing.T) (*DB, *follower) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "petstore.db")
	db := open(t, Config{Path: path, Create: true, Serve: true})
	return db, startFollower(t, path)
}

// writeMiB adds about that many MiB to the WAL. Meanwhile every reader is used, as under load.
func writeMiB(t *testing.T, db *DB, mebibytes int) {
	t.Helper()
	batch := slices.Repeat([]change{{pet: big}}, 250)
	for range mebibytes / 2 {
		_, err := db.commitBatch(batch)
		noError(t, err)
		for range 2 * cap(db.readers) {
			_, err := readFile(db, petstore.PetQuery{Limit: 1})
			noError(t, err)
		}
	}
}

func TestTheWALStaysSmallBesideAProcessThatCheckpointsIt(t *testing.T) {
	db, other := openFollowed(t)
	for range 15 {
		writeMiB(t, db, 8)
		other.renew("checkpoint")
		if size := db.WALSize(); size > walBound {
			t.Fatalf("the WAL grew to %d bytes", size)
		}
	}
	other.stop()
}

func TestAnIdleServerEmptiesTheWALOnceTheLastReaderEnds(t *testing.T) {
	db, other := openFollowed(t)
	writeMiB(t, db, 70)
	upkeep(t, db)
	if size := db.WALSize(); size < walBound {
		t.Fatalf("while another process reads it, the WAL has only %d bytes", size)
	}
	other.stop()
	upkeep(t, db)
	if size := db.WALSize(); size > walLimit {
		t.Errorf("the WAL of an idle server keeps %d bytes", size)
	}
}

func TestAnIdleServerEmptiesTheWALBesideAProcessThatReadsAgainAndAgain(t *testing.T) {
	db, other := openFollowed(t)
	writeMiB(t, db, 70)
	for range 3 { // the transaction no longer shows the WAL after the third time
		upkeep(t, db)
		other.renew("read")
	}
	upkeep(t, db)
	if size := db.WALSize(); size > walLimit {
		t.Errorf("the WAL of an idle server keeps %d bytes", size)
	}
	other.stop()
}

// upkeep does what a server does every second.
func upkeep(t *testing.T, db *DB) {
	t.Helper()
	_, err := db.ExpireOrders(t.Context())
	noError(t, err)
}

// While the WAL is large, a transaction that a reader left open would keep another process from emptying it. Once it is
// small, open transactions save time again.
func TestReadersKeepTransactionsOnlyWhileTheWALIsSmall(t *testing.T) {
	db, other := openFollowed(t)
	writeMiB(t, db, 40)
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			if r.inTransaction() {
				t.Error("a reader keeps its transaction while the WAL is large")
			}
		}
	})
	other.renew("checkpoint")
	upkeep(t, db)
	holdTransactions(t, db)
	other.stop()
}
