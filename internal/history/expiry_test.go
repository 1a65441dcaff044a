package history

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
	"petstore/internal/sqlite"
)

// faster is how much faster than ours the clock of the storage runs, so that holds of a minute end in a test.
const faster = 400

func TestOrdersThatExpireAreNoFault(t *testing.T) {
	begin := time.Now()
	now := func() time.Time { return begin.Add(faster * time.Since(begin)) }
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Environment: petstore.Production, Create: true, Serve: true, Now: now})
	storage := closedWith(t, db, err)
	s := serve(t, storage, ratelimit.NewMemory(time.Now), generous)

	done := make(chan struct{})
	var upkeep sync.WaitGroup
	upkeep.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				storage.ExpireOrders(t.Context())
			}
		}
	})
	s.run(2000)
	close(done)
	upkeep.Wait()

	exchanges, expired := s.history.Exchanges(), 0
	for i := range exchanges {
		exchanges[i].Called *= faster
		exchanges[i].Returned *= faster
		for _, o := range read(i, exchanges[i]).orders {
			if o.Status == "expired" {
				expired++
			}
		}
	}
	if expired == 0 {
		t.Error("no order expired")
	}
	s.finds()
}
