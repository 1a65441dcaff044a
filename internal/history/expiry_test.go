package history

import (
	"path/filepath"
	"slices"
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
	looked, expired := 0, false
	s.runUntil(func(recorded []Exchange) bool {
		for ; looked < len(recorded) && !expired; looked++ {
			expired = showsExpired(recorded[looked])
		}
		return expired
	})
	close(done)
	upkeep.Wait()

	exchanges := s.history.Exchanges()
	for i := range exchanges {
		exchanges[i].Called *= faster
		exchanges[i].Returned *= faster
	}
	s.findsNothing()
}

// showsExpired says whether an answer holds an order whose time ran out.
func showsExpired(e Exchange) bool {
	return slices.ContainsFunc(read(0, e).orders, func(o order) bool { return o.Status == "expired" })
}
