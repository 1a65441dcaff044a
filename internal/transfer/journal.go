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

	"github.com/gofrs/flock"
)

// Journal is a file that remembers which lines are in a store after the program has ended. It consists of blocks; each
// block is on the disk when Append returns.
type Journal struct {
	file *os.File
	lock *flock.Flock
}

// Block names lines that were stored together, or are about to be.
type Block [16]byte

// NewBlock makes a name that no other block has.
func NewBlock() (b Block) {
	rand.Read(b[:])
	return b
}

const (
	journalBegins = "petstore import 1\n"
	blockHead     = 16 + 4 // the name of the block, and the number of its entries
	entrySize     = 8 + 4
)

// OpenJournal opens the journal with that name, or makes it. Nobody else can open it until Close.
func OpenJournal(name string) (*Journal, error) {
	lock := flock.New(name + ".lock")
	held, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("there can be no journal of the import beside the file; copy the file to where you may write, or give it to standard input: %w", err)
	case !held:
		return nil, errors.New("another import of this file is running; wait until it has ended")
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &Journal{file, lock}, nil
}

// Name is the name of the file.
func (j *Journal) Name() string { return j.file.Name() }

// Close releases the journal.
func (j *Journal) Close() error { return errors.Join(j.file.Close(), j.lock.Close()) }

// Load notes the lines of all blocks in the ledger and returns how many there are. It removes a last block that is not
// complete. If the journal is not sealed and confirm is not nil, Load asks confirm whether the last block was stored, and
// removes it if it was not.
func (j *Journal) Load(l *Ledger, confirm func(Block) (bool, error)) (lines int64, err error) {
	in := bufio.NewReader(j.file)
	end, err := j.begin(in)
	if err != nil {
		return 0, err
	}
	for whole := end; ; {
		name, entries, err := readBlock(in)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return lines, j.cut(whole)
		case errors.Is(err, errDamaged):
			return lines, fmt.Errorf("%s is damaged; put a copy of it back, or remove it to import all lines again", j.Name())
		case err != nil:
			return lines, err
		}
		whole += int64(blockHead + entrySize*len(entries))
		if _, err := in.Peek(1); err == io.EOF && confirm != nil && len(entries) > 0 {
			if done, err := confirm(name); err != nil {
				return lines, err
			} else if !done {
				return lines, j.cut(end)
			}
		}
		for _, e := range entries {
			l.settle(e)
		}
		lines += int64(len(entries))
		end = whole
	}
}

// begin checks the start of the journal, or writes it into a new one, and returns the length of the start.
func (j *Journal) begin(in *bufio.Reader) (int64, error) {
	start, err := in.Peek(len(journalBegins))
	switch {
	case err == nil && string(start) == journalBegins:
		in.Discard(len(start))
	case err == io.EOF && bytes.HasPrefix([]byte(journalBegins), start): // the journal is new, or was broken off when it was new
		if _, err := j.file.WriteAt([]byte(journalBegins), 0); err != nil {
			return 0, err
		}
		in.Discard(len(start))
	case err == nil || err == io.EOF:
		return 0, fmt.Errorf("%s is no journal of an import; remove it or give it another name", j.Name())
	default:
		return 0, err
	}
	return int64(len(journalBegins)), nil
}

// cut shortens the journal to that size. The next block goes there.
func (j *Journal) cut(size int64) error {
	if err := j.file.Truncate(size); err != nil {
		return err
	}
	_, err := j.file.Seek(size, io.SeekStart)
	return err
}

// errDamaged means that the journal has bytes that Append did not write.
var errDamaged = errors.New("the journal is damaged")

func readBlock(in io.Reader) (name Block, entries []entry, err error) {
	var head [blockHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return name, nil, err
	}
	name = Block(head[:16])
	n := binary.BigEndian.Uint32(head[16:])
	if n > MaxBlock {
		return name, nil, errDamaged
	}
	body := make([]byte, entrySize*n)
	if _, err := io.ReadFull(in, body); err != nil {
		return name, nil, io.ErrUnexpectedEOF
	}
	for ; len(body) > 0; body = body[entrySize:] {
		entries = append(entries, entry{binary.BigEndian.Uint64(body), binary.BigEndian.Uint32(body[8:])})
	}
	return name, entries, nil
}

// Seal records that the last block was stored, by an empty block after it.
func (j *Journal) Seal() error { return j.Append(NewBlock(), nil) }

// MaxBlock is the largest number of lines in a block.
const MaxBlock = 2000

// Append writes a block. It refuses more than MaxBlock lines, because Load would take such a block for a broken one.
func (j *Journal) Append(name Block, lines []ID) error {
	if len(lines) > MaxBlock {
		return fmt.Errorf("%d lines are too many for a block of the journal %s; %d fit", len(lines), j.Name(), MaxBlock)
	}
	text := append(make([]byte, 0, blockHead+entrySize*len(lines)), name[:]...)
	text = binary.BigEndian.AppendUint32(text, uint32(len(lines)))
	for _, line := range lines {
		e := line.entry()
		text = binary.BigEndian.AppendUint64(text, e.hash)
		text = binary.BigEndian.AppendUint32(text, e.count)
	}
	if _, err := j.file.Write(text); err != nil {
		return fmt.Errorf("the journal %s cannot be written: %w", j.Name(), err)
	}
	return j.file.Sync()
}
