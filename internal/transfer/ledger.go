package transfer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"petstore/internal/petstore"
)

// lineID identifies a line by its content and a number among the lines with the same content. The ID stays the same when the
// line moves to another place in the file.
type lineID struct {
	content [16]byte // the result of contentHash
	count   uint32   // 1 for the first line with that content
}

// contentHash returns a hash of what a line says. Another label gives another hash. A line that has neither the name of a
// category nor facts has the hash that versions without profiles gave it.
func contentHash(line petLine, label string) [16]byte {
	text := fmt.Appendf(nil, "%q %d %s %s", label, line.Pet.CategoryID, line.Pet.Status, line.Pet.Name)
	if line.Category != "" || line.hasFacts() {
		text = fmt.Appendf(text, "\x00%q %q", line.Category, line.Facts) // no name contains U+0000
	}
	sum := sha256.Sum256(text)
	return [16]byte(sum[:16])
}

// idempotencyKey returns the idempotency key of the line, with which its animal is created.
func (id lineID) idempotencyKey() string {
	return fmt.Sprintf("%s-%d", hex.EncodeToString(id.content[:]), id.count)
}

// profileKey returns the idempotency key with which the profile of the line's animal is set. It names the animal, so that it
// can never be taken for that of another animal that the same line has made.
func (id lineID) profileKey(petID int64) string {
	return fmt.Sprintf("%s-profile-%d", id.idempotencyKey(), petID)
}

func (id lineID) short() shortID { return shortID{binary.BigEndian.Uint64(id.content[:8]), id.count} }

// shortID is a lineID with a hash of 64 bits. In a file of a million different lines, the chance that any two lines have the
// same hash is below one in thirty million.
type shortID struct {
	hash  uint64
	count uint32
}

// ledger gives each line its ID and knows which lines are stored. It needs about nine bytes of memory for each different
// line.
type ledger struct {
	// Each list holds slots. A slot has the low 48 bits of a hash and, above them, two counts of one byte each. The high 16
	// bits of the hash are the index of the list.
	lists [1 << 16][]uint64
	large map[uint64]counts    // the counts that do not fit into a byte
	ahead map[shortID]struct{} // lines that are stored although an earlier line with the same content is not

	// withoutFacts means that some lines were stored by a version that ignored facts: under the hash and the count that
	// they have without them.
	withoutFacts bool
}

// counts says how many lines with the same content the file has had so far, and how many of them are stored.
type counts struct{ seen, stored uint32 }

const (
	hashBits = 48
	hashMask = 1<<hashBits - 1
	isLarge  = 0xff // replaces both counts in a slot; the real counts are in the map large
)

func newLedger() *ledger {
	return &ledger{large: make(map[uint64]counts), ahead: make(map[shortID]struct{})}
}

// identify returns the ID of the next line of the file, and whether the line is already stored.
func (l *ledger) identify(line petLine, label string) (id lineID, stored bool) {
	id, stored = l.next(contentHash(line, label))
	if l.withoutFacts && line.hasFacts() && line.Category == "" {
		line.Facts = petstore.Facts{}
		_, storedWithout := l.next(contentHash(line, label))
		stored = stored || storedWithout
	}
	return id, stored
}

// next returns the ID of the next line with that content, and whether the line is already stored.
func (l *ledger) next(content [16]byte) (id lineID, stored bool) {
	id = lineID{content: content}
	hash := id.short().hash
	slot, c := l.find(hash)
	c.seen++
	l.set(slot, hash, c)
	id.count = c.seen
	_, ahead := l.ahead[shortID{hash, c.seen}]
	return id, c.seen <= c.stored || ahead
}

// forgetSeen makes identify begin again with the first line of the file.
func (l *ledger) forgetSeen() {
	for _, list := range l.lists {
		for i := range list {
			if list[i]>>hashBits&0xff != isLarge {
				list[i] &^= 0xff << hashBits
			}
		}
	}
	for hash, c := range l.large {
		l.large[hash] = counts{stored: c.stored}
	}
}

// markStored records that a line is stored.
func (l *ledger) markStored(id shortID) {
	slot, c := l.find(id.hash)
	if id.count > c.stored+1 {
		l.ahead[id] = struct{}{}
		return
	}
	if id.count <= c.stored {
		return
	}
	for c.stored++; ; c.stored++ {
		following := shortID{id.hash, c.stored + 1}
		if _, there := l.ahead[following]; !there {
			break
		}
		delete(l.ahead, following)
	}
	l.set(slot, id.hash, c)
}

// find returns the slot of a hash and its counts. The slot is nil if the hash has no slot.
func (l *ledger) find(hash uint64) (*uint64, counts) {
	list := l.lists[hash>>hashBits]
	for i := range list {
		if (list[i]^hash)&hashMask != 0 {
			continue
		}
		seen, stored := list[i]>>hashBits&0xff, list[i]>>(hashBits+8)
		if seen == isLarge {
			return &list[i], l.large[hash]
		}
		return &list[i], counts{uint32(seen), uint32(stored)}
	}
	return nil, counts{}
}

// set stores the counts of a hash. If slot is nil, set adds a slot.
func (l *ledger) set(slot *uint64, hash uint64, c counts) {
	if slot == nil {
		list := &l.lists[hash>>hashBits]
		if n := len(*list); n == cap(*list) { // grows by an eighth, because append would double the list
			*list = append(make([]uint64, 0, n+n/8+1), *list...)
		}
		*list = append(*list, 0)
		slot = &(*list)[len(*list)-1]
	}
	if c.seen >= isLarge || c.stored >= isLarge {
		l.large[hash] = c
		c = counts{isLarge, isLarge}
	}
	*slot = hash&hashMask | uint64(c.seen)<<hashBits | uint64(c.stored)<<(hashBits+8)
}
