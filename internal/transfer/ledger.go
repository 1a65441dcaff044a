package transfer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"petstore/internal/petstore"
)

// ID names a line by its content and its place among the lines of the same content. So the ID stays the same when the
// line moves to another place in the file.
type ID struct {
	Content [16]byte // the hash of the content
	Count   uint32   // 1 for the first line of that content
}

// ContentOf is the hash of what a line says. Another label gives another hash.
func ContentOf(pet petstore.NewPet, label string) [16]byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %s %s", label, pet.CategoryID, pet.Status, pet.Name))
	return [16]byte(sum[:16])
}

// Key is the idempotency key of the line.
func (id ID) Key() string { return fmt.Sprintf("%s-%d", hex.EncodeToString(id.Content[:]), id.Count) }

func (id ID) entry() entry { return entry{binary.BigEndian.Uint64(id.Content[:8]), id.Count} }

// entry is a shortened ID. Its hash has 64 bits: in a file of a million contents, the chance that any two share a hash is
// below one in thirty million.
type entry struct {
	hash  uint64
	count uint32
}

// Ledger counts the lines of equal content and knows which lines are stored. It needs about nine bytes for each content.
type Ledger struct {
	// The lists have slots. A slot holds the low 48 bits of a hash and, above them, two counts of one byte each. The high
	// 16 bits of the hash are the number of the slot's list.
	lists [1 << 16][]uint64
	large map[uint64]counts  // counts that do not fit into a byte
	ahead map[entry]struct{} // stored before an earlier line of the same content was
}

// counts says how many lines of one content were met and how many are stored.
type counts struct{ met, done uint32 }

const (
	hashBits = 48
	hashMask = 1<<hashBits - 1
	isLarge  = 0xff // stands in place of both counts
)

// NewLedger makes an empty Ledger.
func NewLedger() *Ledger {
	return &Ledger{large: make(map[uint64]counts), ahead: make(map[entry]struct{})}
}

// Meet counts a line of that content. It returns the ID of the line, and whether the line is stored already.
func (l *Ledger) Meet(content [16]byte) (ID, bool) {
	id := ID{Content: content}
	hash := id.entry().hash
	slot, c := l.find(hash)
	c.met++
	l.set(slot, hash, c)
	id.Count = c.met
	_, ahead := l.ahead[entry{hash, c.met}]
	return id, c.met <= c.done || ahead
}

// settle notes that a line is stored.
func (l *Ledger) settle(e entry) {
	slot, c := l.find(e.hash)
	if e.count > c.done+1 {
		l.ahead[e] = struct{}{}
		return
	}
	if e.count <= c.done {
		return
	}
	for c.done++; ; c.done++ {
		following := entry{e.hash, c.done + 1}
		if _, there := l.ahead[following]; !there {
			break
		}
		delete(l.ahead, following)
	}
	l.set(slot, e.hash, c)
}

// find returns the slot of a hash, nil if it has none, and its counts.
func (l *Ledger) find(hash uint64) (*uint64, counts) {
	list := l.lists[hash>>hashBits]
	for i := range list {
		if (list[i]^hash)&hashMask != 0 {
			continue
		}
		met, done := list[i]>>hashBits&0xff, list[i]>>(hashBits+8)
		if met == isLarge {
			return &list[i], l.large[hash]
		}
		return &list[i], counts{uint32(met), uint32(done)}
	}
	return nil, counts{}
}

func (l *Ledger) set(slot *uint64, hash uint64, c counts) {
	if slot == nil {
		list := &l.lists[hash>>hashBits]
		if n := len(*list); n == cap(*list) { // grow slowly: append would double the list
			*list = append(make([]uint64, 0, n+n/8+1), *list...)
		}
		*list = append(*list, 0)
		slot = &(*list)[len(*list)-1]
	}
	if c.met >= isLarge || c.done >= isLarge {
		l.large[hash] = c
		c = counts{isLarge, isLarge}
	}
	*slot = hash&hashMask | uint64(c.met)<<hashBits | uint64(c.done)<<(hashBits+8)
}
