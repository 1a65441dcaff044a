package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

func contentOf(name string) [16]byte {
	return ContentOf(petstore.NewPet{Name: name, Status: petstore.Sold}, "")
}

func TestALineIsNamedByItsContentAndItsCount(t *testing.T) {
	l := NewLedger()
	first, _ := l.Meet(contentOf("Rex"))
	other, _ := l.Meet(contentOf("Tom"))
	second, _ := l.Meet(contentOf("Rex"))
	if first.Count != 1 || other.Count != 1 || second.Count != 2 || first.Content != second.Content || first.Content == other.Content {
		t.Errorf("got %v, %v and %v", first, other, second)
	}
	if key := second.Key(); len(key) != 34 || !strings.HasSuffix(key, "-2") {
		t.Errorf("the key is %q", key)
	}
	rex := petstore.NewPet{Name: "Rex", Status: petstore.Sold}
	if ContentOf(rex, "") == ContentOf(rex, "again") {
		t.Error("a label makes no difference")
	}
}

// The ledger is a compact form of two maps.
func TestALedgerCountsLikeAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, met, done := NewLedger(), map[byte]uint32{}, map[string]bool{}
		content := func(b byte) (c [16]byte) {
			c[0], c[1], c[7] = b>>1, 9, b // some share a list
			return c
		}
		for range rapid.IntRange(0, 400).Draw(t, "journaled") {
			b, count := rapid.ByteRange(0, 3).Draw(t, "b"), rapid.Uint32Range(1, 300).Draw(t, "count")
			done[fmt.Sprint(b, count)] = true
			l.settle(ID{content(b), count}.entry())
		}
		for range rapid.IntRange(0, 1500).Draw(t, "lines") {
			b := rapid.ByteRange(0, 3).Draw(t, "b")
			met[b]++
			id, isDone := l.Meet(content(b))
			if id.Count != met[b] || isDone != done[fmt.Sprint(b, met[b])] {
				t.Fatalf("%d was met as %d, done %v; want %d, %v", b, id.Count, isDone, met[b], done[fmt.Sprint(b, met[b])])
			}
		}
	})
}

func TestALedgerOfOnlyEqualLinesCountsOn(t *testing.T) {
	l := NewLedger()
	for n := uint32(1); n <= 100_000; n++ {
		l.settle(ID{contentOf("Rex"), n}.entry())
	}
	for n := uint32(1); n <= 100_001; n++ {
		if id, done := l.Meet(contentOf("Rex")); id.Count != n || done != (n <= 100_000) {
			t.Fatalf("line %d was met as %d, done %v", n, id.Count, done)
		}
	}
}

// remembered opens a journal, returns which of the names it knows, and calls use with it.
func remembered(t *testing.T, path string, confirm func(Block) (bool, error), use func(*Journal), names ...string) (known string) {
	t.Helper()
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	l := NewLedger()
	if _, err := j.Load(l, confirm); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, done := l.Meet(contentOf(name)); done {
			known += name
		}
	}
	use(j)
	return known
}

func appending(t *testing.T, names ...string) func(*Journal) {
	return func(j *Journal) {
		var ids []ID
		for _, name := range names {
			ids = append(ids, ID{contentOf(name), 1})
		}
		if err := j.Append(NewBlock(), ids); err != nil {
			t.Fatal(err)
		}
	}
}

func nothing(*Journal) {}

func TestAJournalRemembersWhatWasAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, appending(t, "A", "B"))
	if known := remembered(t, path, nil, appending(t, "C"), "A", "B", "C"); known != "AB" {
		t.Errorf("the second time %q is known", known)
	}
	if known := remembered(t, path, nil, nothing, "A", "B", "C", "D"); known != "ABC" {
		t.Errorf("the third time %q is known", known)
	}
}

func TestAJournalThatWasBrokenOffAnywhereGoesOn(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "journal")
	remembered(t, path, nil, appending(t, "A"))
	remembered(t, path, nil, appending(t, "B", "C"))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := range len(text) + 1 {
		cut := filepath.Join(folder, fmt.Sprint("cut", size))
		if err := os.WriteFile(cut, text[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		want := "A"
		switch {
		case size == len(text):
			want = "ABC"
		case size < len(journalBegins)+blockHead+entrySize:
			want = ""
		}
		if known := remembered(t, cut, nil, appending(t, "D"), "A", "B", "C"); known != want {
			t.Errorf("cut at %d, %q is known, want %q", size, known, want)
		}
		if known := remembered(t, cut, nil, nothing, "A", "B", "C", "D"); known != want+"D" {
			t.Errorf("cut at %d and continued, %q is known, want %q", size, known, want+"D")
		}
	}
}

func TestOnlyTheLastBlockIsInDoubt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, appending(t, "A"))
	remembered(t, path, nil, appending(t, "B"))
	asked := 0
	answer := func(done bool) func(Block) (bool, error) {
		return func(Block) (bool, error) { asked++; return done, nil }
	}
	if known := remembered(t, path, answer(true), nothing, "A", "B"); known != "AB" || asked != 1 {
		t.Errorf("of a block that was done %q is known, after %d questions", known, asked)
	}
	if known := remembered(t, path, answer(false), nothing, "A", "B"); known != "A" {
		t.Errorf("of a block that was not done %q is known", known)
	}
	if known := remembered(t, path, nil, nothing, "A", "B"); known != "A" {
		t.Errorf("later %q is known", known)
	}
}

func TestASealedJournalIsNotInDoubt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, appending(t, "A"))
	remembered(t, path, nil, func(j *Journal) { j.Seal() })
	never := func(Block) (bool, error) { return false, errors.New("nobody may ask") }
	if known := remembered(t, path, never, nothing, "A"); known != "A" {
		t.Errorf("%q is known", known)
	}
}

func TestABlockThatIsTooLargeIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, appending(t, "A"))
	remembered(t, path, nil, func(j *Journal) {
		if err := j.Append(NewBlock(), make([]ID, MaxBlock+1)); err == nil {
			t.Error("Load would not read it back")
		}
		if err := j.Append(NewBlock(), append(make([]ID, MaxBlock-1), ID{contentOf("B"), 1})); err != nil {
			t.Error(err)
		}
	})
	if known := remembered(t, path, nil, nothing, "A", "B"); known != "AB" {
		t.Errorf("%q is known", known)
	}
}

func TestADamagedJournalIsNotForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, func(j *Journal) {
		for range 3 {
			if err := j.Append(NewBlock(), make([]ID, 2)); err != nil {
				t.Fatal(err)
			}
		}
	})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole[len(journalBegins)+16] = 0xff // the number of entries of the first block
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Load(NewLedger(), nil); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("Load says %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, whole) {
		t.Error("the journal was changed")
	}
}

func TestAJournalIsUsedByOneImportAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, func(*Journal) {
		if _, err := OpenJournal(path); err == nil || !strings.Contains(err.Error(), "another import of this file is running") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAFileThatIsNoJournalIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, []byte("Dear diary, today I wrote this."), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Load(NewLedger(), nil); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(path); !strings.HasPrefix(string(text), "Dear diary") {
		t.Errorf("it says now %q", text)
	}
}
