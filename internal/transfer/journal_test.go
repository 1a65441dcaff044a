package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

func contentNamed(name string) [16]byte {
	return contentHash(petLine{Pet: petstore.NewPet{Name: name, Status: petstore.Sold}}, "")
}

func TestALineIsIdentifiedByItsContentAndCount(t *testing.T) {
	l := newLedger()
	first, _ := l.next(contentNamed("Rex"))
	other, _ := l.next(contentNamed("Tom"))
	second, _ := l.next(contentNamed("Rex"))
	if first.count != 1 || other.count != 1 || second.count != 2 || first.content != second.content || first.content == other.content {
		t.Errorf("got %v, %v and %v", first, other, second)
	}
	if key := second.idempotencyKey(); len(key) != 34 || !strings.HasSuffix(key, "-2") {
		t.Errorf("the key is %q", key)
	}
	rex := petLine{Pet: petstore.NewPet{Name: "Rex", Status: petstore.Sold}}
	if contentHash(rex, "") == contentHash(rex, "again") {
		t.Error("a label makes no difference")
	}
}

// The keys and hashes of lines without facts are in journals and databases of earlier versions.
func TestALineWithoutFactsKeepsItsHash(t *testing.T) {
	line := petLine{Pet: petstore.NewPet{Name: "Rex", CategoryID: 7, Status: petstore.Sold}}
	if got := fmt.Sprintf("%x", contentHash(line, "monday")); got != "54abb198d6b945f3190e7428701cbc29" {
		t.Errorf("the hash is %s", got)
	}
	differ := map[[16]byte]petLine{}
	for _, change := range []func(*petLine){
		func(*petLine) {}, func(l *petLine) { l.Category = "Dogs" }, func(l *petLine) { l.Facts.Breed = "Dogs" }, func(l *petLine) { l.Facts.Notes = "Dogs" },
		func(l *petLine) { l.Facts.Tags = "a\nb" }, func(l *petLine) { l.Facts.Tags = "a" }, func(l *petLine) { l.Pet.Name = `Rex "" {"Dogs"}` },
	} {
		changed := line
		change(&changed)
		if same, found := differ[contentHash(changed, "")]; found {
			t.Errorf("%+v and %+v have the same hash", same, changed)
		}
		differ[contentHash(changed, "")] = changed
	}
}

func TestTheKeyOfAProfileNamesItsAnimal(t *testing.T) {
	id := lineID{count: 2}
	if id.profileKey(7) == id.profileKey(8) || id.profileKey(7) == id.idempotencyKey() || len(id.profileKey(petstore.MaxID)) > 255 {
		t.Errorf("the keys are %s, %s and %s", id.idempotencyKey(), id.profileKey(7), id.profileKey(8))
	}
}

// A version that ignored facts has stored the second and the third of four lines that differ only in facts.
func TestAJournalOfAVersionThatIgnoredFactsIsUnderstood(t *testing.T) {
	plain := petLine{Pet: petstore.NewPet{Name: "Rex", Status: petstore.Sold}}
	beagle, poodle := plain, plain
	beagle.Facts.Breed, poodle.Facts.Breed = "Beagle", "Poodle"
	path := filepath.Join(t.TempDir(), "journal")
	j, err := openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.file.WriteString(journalHeader); err != nil {
		t.Fatal(err)
	}
	if err := j.appendBlock(newBlockID(), []lineID{{contentHash(plain, ""), 2}, {contentHash(plain, ""), 3}}); err != nil {
		t.Fatal(err)
	}
	j.close()
	var last []string
	for run, want := range []string{"beagle 1: false, plain 2: true, poodle 1: true, plain 4: false", "beagle 1: true, plain 2: true, poodle 1: true, plain 4: false"} {
		j, err := openJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		l := newLedger()
		if _, err := j.load(l, nil); err != nil {
			t.Fatal(err)
		}
		last = nil
		var first lineID
		for _, line := range []struct {
			name string
			petLine
		}{{"beagle", beagle}, {"plain", plain}, {"poodle", poodle}, {"plain", plain}} {
			id, stored := l.identify(line.petLine, "")
			last = append(last, fmt.Sprintf("%s %d: %v", line.name, id.count, stored))
			if line.name == "beagle" {
				first = id
			}
		}
		if got := strings.Join(last, ", "); got != want {
			t.Errorf("run %d: %s", run+1, got)
		}
		if err := j.appendBlock(newBlockID(), []lineID{first}); err != nil {
			t.Fatal(err)
		}
		j.close()
	}
}

// In a journal that has always known facts, a line without facts says nothing about equal lines with facts.
func TestANewJournalTellsLinesWithFactsApart(t *testing.T) {
	plain := petLine{Pet: petstore.NewPet{Name: "Rex", Status: petstore.Sold}}
	beagle := plain
	beagle.Facts.Breed = "Beagle"
	path := filepath.Join(t.TempDir(), "journal")
	for run, want := range []string{"false false", "false true"} {
		j, err := openJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		l := newLedger()
		if _, err := j.load(l, nil); err != nil {
			t.Fatal(err)
		}
		_, beagleStored := l.identify(beagle, "")
		id, plainStored := l.identify(plain, "")
		if got := fmt.Sprint(beagleStored, plainStored); got != want {
			t.Errorf("run %d: %s", run+1, got)
		}
		if err := j.appendBlock(newBlockID(), []lineID{id}); err != nil {
			t.Fatal(err)
		}
		j.close()
	}
}

// The ledger is a compact form of two maps: of the lines seen and of the lines stored.
func TestALedgerCountsLikeTwoMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, seen, stored := newLedger(), map[byte]uint32{}, map[string]bool{}
		content := func(b byte) (c [16]byte) {
			c[0], c[1], c[7] = b>>1, 9, b // puts some hashes into the same list
			return c
		}
		for range rapid.IntRange(0, 400).Draw(t, "journaled") {
			b, count := rapid.ByteRange(0, 3).Draw(t, "b"), rapid.Uint32Range(1, 300).Draw(t, "count")
			stored[fmt.Sprint(b, count)] = true
			l.markStored(lineID{content(b), count}.short())
		}
		lines := rapid.SliceOfN(rapid.ByteRange(0, 3), 0, 1500)
		for _, b := range lines.Draw(t, "lines of an earlier reading") {
			l.next(content(b))
		}
		l.forgetSeen()
		for _, b := range lines.Draw(t, "lines") {
			seen[b]++
			id, isStored := l.next(content(b))
			if id.count != seen[b] || isStored != stored[fmt.Sprint(b, seen[b])] {
				t.Fatalf("%d has the count %d, stored %v; want %d, %v", b, id.count, isStored, seen[b], stored[fmt.Sprint(b, seen[b])])
			}
		}
	})
}

func TestALedgerCountsManyEqualLines(t *testing.T) {
	l := newLedger()
	for n := uint32(1); n <= 100_000; n++ {
		l.markStored(lineID{contentNamed("Rex"), n}.short())
	}
	for n := uint32(1); n <= 100_001; n++ {
		if id, stored := l.next(contentNamed("Rex")); id.count != n || stored != (n <= 100_000) {
			t.Fatalf("line %d has the count %d, stored %v", n, id.count, stored)
		}
	}
}

// remembered opens a journal and calls use with it. Of the given names, it returns the names that the journal had when it
// was opened.
func remembered(t *testing.T, path string, confirm func(blockID) (bool, error), use func(*journal), names ...string) (known string) {
	t.Helper()
	j, err := openJournal(path)
	noError(t, err)
	defer j.close()
	l := newLedger()
	if _, err := j.load(l, confirm); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, stored := l.next(contentNamed(name)); stored {
			known += name
		}
	}
	use(j)
	return known
}

func appending(t *testing.T, names ...string) func(*journal) {
	return func(j *journal) {
		var ids []lineID
		for _, name := range names {
			ids = append(ids, lineID{contentNamed(name), 1})
		}
		noError(t, j.appendBlock(newBlockID(), ids))
	}
}

func nothing(*journal) {}

func TestAJournalRemembersAppendedLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, appending(t, "A", "B"))
	if known := remembered(t, path, nil, appending(t, "C"), "A", "B", "C"); known != "AB" {
		t.Errorf("the second time it has %q", known)
	}
	if known := remembered(t, path, nil, nothing, "A", "B", "C", "D"); known != "ABC" {
		t.Errorf("the third time it has %q", known)
	}
}

func TestAJournalContinuesWhereverItWasCutOff(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "journal")
	remembered(t, path, nil, appending(t, "A"))
	remembered(t, path, nil, appending(t, "B", "C"))
	text, err := os.ReadFile(path)
	noError(t, err)
	for size := range len(text) + 1 {
		cut := filepath.Join(folder, fmt.Sprint("cut", size))
		noError(t, os.WriteFile(cut, text[:size], 0o600))
		want := "A"
		switch {
		case size == len(text):
			want = "ABC"
		case size < len(journalHeader)+2*blockHeaderSize+entrySize: // the first block is the factsMark
			want = ""
		}
		if known := remembered(t, cut, nil, appending(t, "D"), "A", "B", "C"); known != want {
			t.Errorf("cut off at %d, it has %q, want %q", size, known, want)
		}
		if known := remembered(t, cut, nil, nothing, "A", "B", "C", "D"); known != want+"D" {
			t.Errorf("cut off at %d and continued, it has %q, want %q", size, known, want+"D")
		}
	}
}

func TestOnlyTheLastBlockNeedsConfirmation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, appending(t, "A"))
	remembered(t, path, nil, appending(t, "B"))
	asked := 0
	answer := func(stored bool) func(blockID) (bool, error) {
		return func(blockID) (bool, error) { asked++; return stored, nil }
	}
	if known := remembered(t, path, answer(true), nothing, "A", "B"); known != "AB" || asked != 1 {
		t.Errorf("if the last block was stored, it has %q after %d questions", known, asked)
	}
	if known := remembered(t, path, answer(false), nothing, "A", "B"); known != "A" {
		t.Errorf("if the last block was not stored, it has %q", known)
	}
	if known := remembered(t, path, nil, nothing, "A", "B"); known != "A" {
		t.Errorf("later it has %q", known)
	}
}

func TestASealedJournalNeedsNoConfirmation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, appending(t, "A"))
	remembered(t, path, nil, func(j *journal) { j.seal() })
	never := func(blockID) (bool, error) { return false, errors.New("it asked for confirmation") }
	if known := remembered(t, path, never, nothing, "A"); known != "A" {
		t.Errorf("it has %q", known)
	}
}

func TestABlockWithTooManyLinesIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, appending(t, "A"))
	remembered(t, path, nil, func(j *journal) {
		if err := j.appendBlock(newBlockID(), make([]lineID, maxBlockLines+1)); err == nil {
			t.Error("it was written, although load would not accept it")
		}
		if err := j.appendBlock(newBlockID(), append(make([]lineID, maxBlockLines-1), lineID{contentNamed("B"), 1})); err != nil {
			t.Error(err)
		}
	})
	if known := remembered(t, path, nil, nothing, "A", "B"); known != "AB" {
		t.Errorf("it has %q", known)
	}
}

func TestADamagedJournalIsRefusedAndLeftAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, func(j *journal) {
		for range 3 {
			noError(t, j.appendBlock(newBlockID(), make([]lineID, 2)))
		}
	})
	whole, err := os.ReadFile(path)
	noError(t, err)
	whole[len(journalHeader)+16] = 0xff // damages the number of lines in the first block
	noError(t, os.WriteFile(path, whole, 0o600))
	j, err := openJournal(path)
	noError(t, err)
	defer j.close()
	if _, err := j.load(newLedger(), nil); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("load returned %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, whole) {
		t.Error("the journal was changed")
	}
}

func TestAJournalIsOpenInOneImportAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	remembered(t, path, nil, func(*journal) {
		if _, err := openJournal(path); err == nil || !strings.Contains(err.Error(), "another import of this file is running") {
			t.Errorf("got %v", err)
		}
	})
}

// When an import ends, it removes its lock file, which other imports may have opened by then.
func TestImportsThatStartWhileAnotherEndsDoNotShareAJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	var open, opened atomic.Int64
	var imports sync.WaitGroup
	for range 8 {
		imports.Go(func() {
			for range 2000 {
				j, err := openJournal(path)
				if err != nil {
					continue
				}
				if opened.Add(1); open.Add(1) > 1 {
					t.Error("two imports have the journal open")
				}
				runtime.Gosched()
				open.Add(-1)
				j.close()
			}
		})
	}
	imports.Wait()
	if left, _ := filepath.Glob(path + ".lock"); left != nil || opened.Load() == 0 {
		t.Errorf("after %d imports, %q is left", opened.Load(), left)
	}
}

func TestAFileThatIsNotAJournalIsLeftAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	noError(t, os.WriteFile(path, []byte("Dear diary, today I wrote this."), 0o600))
	j, err := openJournal(path)
	noError(t, err)
	defer j.close()
	if _, err := j.load(newLedger(), nil); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(path); !strings.HasPrefix(string(text), "Dear diary") {
		t.Errorf("now it contains %q", text)
	}
}
