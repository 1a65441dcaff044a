package transfer

import (
	"fmt"
	"os"
	"sync"

	"petstore/internal/terminal"
)

// badLines is a file that lists the lines that are not animals: the number of each, and what is wrong with it. The file
// is made when the first bad line comes.
type badLines struct {
	name string

	mu    sync.Mutex
	n     int64
	file  *os.File
	ended bool
}

// check refuses a name that is that of the file to import, or of a database.
func (b *badLines) check(read *Steady) error {
	if err := spareDatabase("--bad-lines", b.name); err != nil {
		return err
	}
	info, err := os.Stat(b.name)
	if err != nil {
		return nil
	}
	if same, err := read.Stat(); err == nil && os.SameFile(info, same) {
		return terminal.WrongUsage("--bad-lines names the file to import; name another")
	}
	return nil
}

// begin removes the list of an earlier import.
func (b *badLines) begin() error {
	info, err := os.Lstat(b.name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if err := os.Remove(b.name); err != nil {
		return fmt.Errorf("the bad lines of an earlier import cannot be removed; name another file with --bad-lines: %w", err)
	}
	return nil
}

// report adds a line. After the end it does nothing: a file that is still read when the import gives up may have more.
func (b *badLines) report(number int64, reason string) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return nil
	}
	if b.file == nil {
		if b.file, err = os.OpenFile(b.name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
			return fmt.Errorf("line %d is bad (%s), and that could not be written down; name another file with --bad-lines: %w", number, terminal.Escape(reason), err)
		}
	}
	b.n++
	if _, err := fmt.Fprintf(b.file, "line %d: %s\n", number, terminal.Escape(reason)); err != nil {
		return fmt.Errorf("the bad lines cannot be written down; name another file with --bad-lines: %w", err)
	}
	return nil
}

// tell says where the bad lines are listed.
func (b *badLines) tell() string { return b.name + " says which, and why" }

// end closes the file and returns how many lines it lists.
func (b *badLines) end() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file != nil && !b.ended {
		b.file.Close()
	}
	b.ended = true
	return b.n
}
