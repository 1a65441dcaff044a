package transfer

import (
	"context"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// importerWith returns an importer without a file to read. Its journal is in the given state folder.
func importerWith(t *testing.T, state string, confirm func(blockID) (bool, error)) *importer {
	t.Helper()
	im := &importer{con: &terminal.Console{Getenv: func(string) string { return state }}, ledger: newLedger()}
	noError(t, im.openJournal(state, "target", confirm))
	return im
}

// unanswered is a storage that never says whether it has added animals.
type unanswered struct{ bulkStorage }

func (unanswered) AddPets(context.Context, []petstore.NewPet, *petstore.Idempotency) (bool, error) {
	return false, petstore.MaybeDone(context.DeadlineExceeded)
}

func TestLinesAreInTheJournalBeforeTheyAreStored(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	im := importerWith(t, state, nil)
	if err := im.addBatch(t.Context(), unanswered{}, []item{{lineID: lineID{count: 1}}}, 1); !petstore.IsCode(err, petstore.OutcomeUnknown) {
		t.Fatal(err)
	}
	im.journal.close()
	asked := 0
	again := importerWith(t, state, func(blockID) (bool, error) { asked++; return true, nil })
	defer again.journal.close()
	if asked != 1 || again.journaled != 1 {
		t.Errorf("the database was asked %d times, and the journal has %d lines", asked, again.journaled)
	}
}

func TestMoreLinesThanABlockHoldsAreJournaled(t *testing.T) {
	t.Parallel()
	const lines = 5000
	acknowledged := make(chan lineID, lines)
	for i := range uint32(lines) {
		acknowledged <- lineID{count: i + 1}
	}
	close(acknowledged)
	state := t.TempDir()
	im := importerWith(t, state, nil)
	noError(t, im.writeJournal(acknowledged))
	im.journal.close()
	again := importerWith(t, state, nil)
	defer again.journal.close()
	if again.journaled != lines {
		t.Errorf("the journal has %d lines", again.journaled)
	}
}
