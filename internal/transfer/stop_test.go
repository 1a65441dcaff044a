package transfer

import (
	"context"
	"path/filepath"
	"testing"

	"petstore/internal/petstore"
)

// journaling makes an importer that has a journal and no file to read.
func journaling(t *testing.T, journal string, confirm func(Block) (bool, error)) *importer {
	t.Helper()
	im := &importer{ledger: NewLedger()}
	if err := im.open(journal, confirm); err != nil {
		t.Fatal(err)
	}
	return im
}

// failingAdd is a storage that fails to add animals.
type failingAdd struct{ petstore.Loader }

func (failingAdd) AddPets(context.Context, []petstore.NewPet, *petstore.Idempotency) (bool, error) {
	return false, petstore.MaybeDone(context.DeadlineExceeded)
}

func TestTheJournalNamesLinesBeforeTheyAreStored(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	im := journaling(t, journal, nil)
	if err := im.batch(t.Context(), failingAdd{}, []item{{ID: ID{Count: 1}}}); !petstore.IsCode(err, petstore.OutcomeUnknown) {
		t.Fatal(err)
	}
	im.journal.Close()
	asked := 0
	again := journaling(t, journal, func(Block) (bool, error) { asked++; return true, nil })
	defer again.journal.Close()
	if asked != 1 || again.journaled != 1 {
		t.Errorf("the store is asked %d times, and the journal has %d lines", asked, again.journaled)
	}
}

func TestTheJournalTakesMoreLinesAtOnceThanABlockHolds(t *testing.T) {
	t.Parallel()
	const lines = 5000
	acknowledged := make(chan ID, lines)
	for i := range uint32(lines) {
		acknowledged <- ID{Count: i + 1}
	}
	close(acknowledged)
	journal := filepath.Join(t.TempDir(), "journal")
	im := journaling(t, journal, nil)
	if err := im.note(acknowledged); err != nil {
		t.Fatal(err)
	}
	im.journal.Close()
	again := journaling(t, journal, nil)
	defer again.journal.Close()
	if again.journaled != lines {
		t.Errorf("the journal has %d lines", again.journaled)
	}
}
