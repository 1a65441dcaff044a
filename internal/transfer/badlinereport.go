package transfer

import (
	"fmt"
	"os"
	"sync"

	"petstore/internal/terminal"
)

// badLineReport is a file that lists the bad lines, which are not animals. For each bad line, the report has the number of
// the line and what is wrong with the line. The file is created for the first bad line.
type badLineReport struct {
	name string

	mu     sync.Mutex
	n      int64
	file   *os.File
	closed bool
}

// checkName refuses the report if it would overwrite the file to import or a database.
func (b *badLineReport) checkName(imported *stableFile) error {
	if err := refuseDatabase("--bad-lines", b.name); err != nil {
		return err
	}
	info, err := os.Stat(b.name)
	if err != nil {
		return nil
	}
	if same, err := imported.Stat(); err == nil && os.SameFile(info, same) {
		return terminal.WrongUsage("--bad-lines is the file to import; choose another file")
	}
	return nil
}

// removeOld removes the report of an earlier import.
func (b *badLineReport) removeOld() error {
	info, err := os.Lstat(b.name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if err := os.Remove(b.name); err != nil {
		return fmt.Errorf("the bad lines of an earlier import cannot be removed; choose another file with --bad-lines: %w", err)
	}
	return nil
}

// add adds a bad line to the report. After close, add does nothing, because the import may still read lines for a moment
// after it has given up.
func (b *badLineReport) add(number int64, reason string) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	if b.file == nil {
		if b.file, err = os.OpenFile(b.name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
			return fmt.Errorf("line %d is bad (%s), and the file for bad lines cannot be created; choose another file with --bad-lines: %w", number, terminal.Escape(reason), err)
		}
	}
	b.n++
	if _, err := fmt.Fprintf(b.file, "line %d: %s\n", number, terminal.Escape(reason)); err != nil {
		return fmt.Errorf("the bad lines cannot be reported; choose another file with --bad-lines: %w", err)
	}
	return nil
}

// close closes the file and returns how many lines the report has.
func (b *badLineReport) close() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file != nil && !b.closed {
		b.file.Close()
	}
	b.closed = true
	return b.n
}
