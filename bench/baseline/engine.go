package baseline

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"zombiezen.com/go/sqlite"
)

// Engine counts how often SQLite alone, without HTTP and without memory, reads an animal, or a page, from a file with rows
// animals.
func Engine(path string, rows int64, page bool, duration time.Duration) (n int64, err error) {
	store, err := openFastSQLite(path)
	if err != nil {
		return 0, err
	}
	s, until := store.(*fastSQLite), time.Now().Add(duration)
	var count atomic.Int64
	var loops errgroup.Group
	for range cap(s.readers) {
		loops.Go(func() error {
			for time.Now().Before(until) {
				var err error
				if id := 1 + rand.Int64N(rows); page {
					_, err = s.read(func(r *fastReader) *sqlite.Stmt { return r.list }, id, 20)
				} else {
					_, err = s.read(func(r *fastReader) *sqlite.Stmt { return r.get }, id)
				}
				if err != nil {
					return err
				}
				count.Add(1)
			}
			return nil
		})
	}
	err = loops.Wait()
	return count.Load(), err
}
