package httpapi

import (
	"context"
	"sync"
	"time"

	"petstore/internal/petstore"
)

// uncheckedKeys counts, for each client address, the requests whose keys are being looked up. Each of them has used one of
// the requests without a valid key that its address has, and gives it back if the key proves valid or cannot be looked up.
// A request for which none is left waits for them, so that no valid key is refused because of others that are valid too.
type uncheckedKeys struct {
	untilStalled func(began time.Time) time.Duration // how much longer to wait for a look-up

	mu sync.Mutex
	of map[string]*unchecked // by address
}

// unchecked are the requests of one address. The map has it as long as pending is not 0.
type unchecked struct {
	pending  int           // requests whose keys may yet prove valid
	returned int           // requests that were given back
	next     chan struct{} // receives for each request that is given back if another waits; closed when pending is 0
}

func newUncheckedKeys(untilStalled func(began time.Time) time.Duration) *uncheckedKeys {
	return &uncheckedKeys{untilStalled: untilStalled, of: make(map[string]*unchecked)}
}

// take returns what the function decide says about a request of the address. While the request would be refused only
// because of unchecked keys, take waits for them. After an allowed request, the caller must call end.
func (u *uncheckedKeys) take(ctx context.Context, address string, decide func() (petstore.Decision, error)) (petstore.Decision, error) {
	for {
		all, returned := u.begin(address)
		d, err := decide()
		if err == nil && d.Outcome == petstore.Allowed {
			return d, nil
		}
		u.end(address, false)
		if err == nil {
			err = u.wait(ctx, all)
		}
		if err != nil || u.returnedTo(all) == returned {
			return d, err
		}
	}
}

// wait returns when a request was given back or none is pending. It fails if the storage does not answer.
func (u *uncheckedKeys) wait(ctx context.Context, all *unchecked) error {
	began := time.Now()
	for {
		left := u.untilStalled(began)
		if left <= 0 {
			return petstore.NotDone(errStalledLookUps)
		}
		select {
		case <-all.next:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(left):
		}
	}
}

// begin adds a pending request. It returns the pending requests of the address, and how many were given back so far.
func (u *uncheckedKeys) begin(address string) (all *unchecked, returned int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	all = u.of[address]
	if all == nil {
		all = &unchecked{next: make(chan struct{})}
		u.of[address] = all
	}
	all.pending++
	return all, all.returned
}

// end removes a pending request, after it was given back if returned is true.
func (u *uncheckedKeys) end(address string, returned bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := u.of[address]
	if returned {
		all.returned++
		select {
		case all.next <- struct{}{}:
		default: // nobody waits
		}
	}
	if all.pending--; all.pending == 0 {
		close(all.next)
		delete(u.of, address)
	}
}

func (u *uncheckedKeys) returnedTo(all *unchecked) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return all.returned
}
