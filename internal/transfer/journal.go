package transfer

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// journal is a file that remembers which lines are stored, even after the program ends. It consists of blocks. A block is on
// disk when appendBlock returns.
type journal struct {
	file *os.File
	lock *flock.Flock
}

// blockID identifies a block. A block has lines that were stored together, or that are about to be stored together.
type blockID [16]byte

// factsMark is the ID of an empty block. The lines before it were stored by a version of the program that ignored facts.
var factsMark = blockID([]byte("with facts since"))

// newBlockID returns a random ID, which no other block has.
func newBlockID() (b blockID) {
	rand.Read(b[:])
	return b
}

const (
	journalHeader   = "petstore import 1\n"
	blockHeaderSize = 16 + 4 // the ID of the block, and the number of lines in it
	entrySize       = 8 + 4  // the hash and the count of a shortID
	maxBlockLines   = 2000
)

// openJournal opens the journal with that name, or creates the journal and its folder. No other import can open the journal
// until it is closed.
func openJournal(name string) (*journal, error) {
	lock, err := lockJournal(name)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, errors.Join(noJournal(err), unlock(lock))
	}
	return &journal{file, lock}, nil
}

// lockJournal takes the lock of a journal. If the last holder has removed the lock file, the lock keeps nobody else out, so
// lockJournal fails.
func lockJournal(name string) (*flock.Flock, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, noJournal(err)
	}
	lock := flock.New(name + ".lock")
	locked, err := lock.TryLock()
	if err != nil {
		return nil, noJournal(err)
	}
	held, err1 := lock.Stat()
	there, err2 := os.Stat(lock.Path())
	if !locked || err1 != nil || err2 != nil || !os.SameFile(held, there) {
		lock.Close()
		return nil, errors.New("another import of this file is running; wait until it has finished")
	}
	return lock, nil
}

// unlock removes the lock file and releases the lock. It removes the file first, because after the release the file may be
// the lock of another import. Windows cannot remove an open file, so on Windows unlock removes the file last, which fails if
// another import has opened it.
func unlock(lock *flock.Flock) error {
	if runtime.GOOS != "windows" {
		os.Remove(lock.Path())
		return lock.Close()
	}
	err := lock.Close()
	os.Remove(lock.Path())
	return err
}

func noJournal(err error) error {
	return fmt.Errorf("the journal of the import cannot be created; set XDG_STATE_HOME to a folder where you may write, or pass the file on standard input: %w", err)
}

func (j *journal) name() string { return j.file.Name() }

func (j *journal) close() error { return errors.Join(j.file.Close(), unlock(j.lock)) }

// load marks the lines of all blocks as stored in the ledger and returns how many there are. It removes an incomplete block
// from the end of the journal. If the journal is not sealed and confirm is not nil, load asks confirm whether the last block
// was stored, and removes the block if it was not. If the journal has no factsMark, load appends it.
func (j *journal) load(l *ledger, confirm func(blockID) (bool, error)) (lines int64, err error) {
	lines, marked, err := j.loadBlocks(l, confirm)
	if err != nil || marked {
		return lines, err
	}
	l.withoutFacts = lines > 0
	return lines, j.appendBlock(factsMark, nil)
}

func (j *journal) loadBlocks(l *ledger, confirm func(blockID) (bool, error)) (lines int64, marked bool, err error) {
	in := bufio.NewReader(j.file)
	end, err := j.readHeader(in)
	if err != nil {
		return 0, false, err
	}
	for blockEnd := end; ; {
		id, entries, err := readBlock(in)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return lines, marked, j.truncate(blockEnd)
		case errors.Is(err, errDamaged):
			return lines, marked, fmt.Errorf("%s is damaged; put a copy of it back, or remove it to import all lines again", j.name())
		case err != nil:
			return lines, marked, err
		}
		blockEnd += int64(blockHeaderSize + entrySize*len(entries))
		if _, err := in.Peek(1); err == io.EOF && confirm != nil && len(entries) > 0 {
			if stored, err := confirm(id); err != nil {
				return lines, marked, err
			} else if !stored {
				return lines, marked, j.truncate(end)
			}
		}
		if id == factsMark && !marked {
			l.withoutFacts, marked = lines > 0, true
		}
		for _, entry := range entries {
			l.markStored(entry)
		}
		lines += int64(len(entries))
		end = blockEnd
	}
}

// readHeader checks the header of the journal, or writes the header of a new journal. It returns the length of the header.
func (j *journal) readHeader(in *bufio.Reader) (int64, error) {
	start, err := in.Peek(len(journalHeader))
	switch {
	case err == nil && string(start) == journalHeader:
		in.Discard(len(start))
	case err == io.EOF && bytes.HasPrefix([]byte(journalHeader), start): // the journal is new, or its header is incomplete
		if _, err := j.file.WriteAt([]byte(journalHeader), 0); err != nil {
			return 0, err
		}
		in.Discard(len(start))
	case err == nil || err == io.EOF:
		return 0, fmt.Errorf("%s is not the journal of an import; remove or rename it", j.name())
	default:
		return 0, err
	}
	return int64(len(journalHeader)), nil
}

// truncate shortens the journal to the given size. The next block follows there.
func (j *journal) truncate(size int64) error {
	if err := j.file.Truncate(size); err != nil {
		return err
	}
	_, err := j.file.Seek(size, io.SeekStart)
	return err
}

// errDamaged means that the journal contains bytes that appendBlock did not write.
var errDamaged = errors.New("the journal is damaged")

func readBlock(in io.Reader) (id blockID, entries []shortID, err error) {
	var header [blockHeaderSize]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return id, nil, err
	}
	id = blockID(header[:16])
	n := binary.BigEndian.Uint32(header[16:])
	if n > maxBlockLines {
		return id, nil, errDamaged
	}
	body := make([]byte, entrySize*n)
	if _, err := io.ReadFull(in, body); err != nil {
		return id, nil, io.ErrUnexpectedEOF
	}
	for ; len(body) > 0; body = body[entrySize:] {
		entries = append(entries, shortID{binary.BigEndian.Uint64(body), binary.BigEndian.Uint32(body[8:])})
	}
	return id, entries, nil
}

// appendStored appends a block of lines that are already stored, so that nobody needs to confirm it.
func (j *journal) appendStored(lines []lineID) error {
	if len(lines) == 0 {
		return nil
	}
	if err := j.appendBlock(newBlockID(), lines); err != nil {
		return err
	}
	return j.seal()
}

// seal records that the last block was stored. It does so by appending an empty block.
func (j *journal) seal() error { return j.appendBlock(newBlockID(), nil) }

// appendBlock writes a block. It refuses a block of more than maxBlockLines lines, because load would take such a block for
// damage.
func (j *journal) appendBlock(id blockID, lines []lineID) error {
	if len(lines) > maxBlockLines {
		return fmt.Errorf("%d lines are too many for a block of the journal %s, which holds %d at most", len(lines), j.name(), maxBlockLines)
	}
	block := append(make([]byte, 0, blockHeaderSize+entrySize*len(lines)), id[:]...)
	block = binary.BigEndian.AppendUint32(block, uint32(len(lines)))
	for _, line := range lines {
		entry := line.short()
		block = binary.BigEndian.AppendUint64(block, entry.hash)
		block = binary.BigEndian.AppendUint32(block, entry.count)
	}
	if _, err := j.file.Write(block); err != nil {
		return fmt.Errorf("the journal %s cannot be written: %w", j.name(), err)
	}
	return j.file.Sync()
}
