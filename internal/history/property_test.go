package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// simulate records the answers of a correct store to its workers. It gives each exchange a span around the moment at
// which it was done, so that it overlaps with about that many others. A test that loses answers needs a bubble of
// package synctest, because workers rest after a loss.
func simulate(ctx context.Context, seed uint64, exchanges, overlap, losing int) []Exchange {
	h := New()
	l := Load{Base: "http://petstore.test", Keys: map[string]string{"a": "secret"}, Client: &http.Client{Transport: newSimulator(seed, losing)}, Seed: seed, Workers: 8}
	var shared known
	var workers []*worker
	for i := range l.Workers {
		workers = append(workers, l.worker(i, h, &shared))
	}
	random := rand.New(rand.NewPCG(seed, 7))
	for len(h.Exchanges()) < exchanges {
		workers[random.IntN(len(workers))].act(ctx)
	}
	l.ReadBack(ctx, h)
	all := h.Exchanges()
	for i := range all {
		moment := time.Duration(i+overlap) * time.Millisecond
		all[i].Called = moment - upTo(random, overlap)
		all[i].Returned = moment + upTo(random, overlap)
	}
	return all
}

// upTo is a time of up to that many milliseconds.
func upTo(random *rand.Rand, milliseconds int) time.Duration {
	return time.Duration(random.Int64N(int64(milliseconds)*int64(time.Millisecond) + 1))
}

func TestWhatACorrectStoreAnswersIsAlwaysAccepted(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			losing := random.IntN(2) * random.IntN(20)
			var exchanges []Exchange
			synctest.Test(t, func(t *testing.T) {
				exchanges = simulate(t.Context(), seed, 50+random.IntN(1500), 1+random.IntN(8), losing)
			})
			for _, f := range Check(exchanges, Rules{}) {
				t.Error(f)
			}
		})
	}
}

func TestASearchThatTakesTooLongIsReported(t *testing.T) {
	faults := Check(simulate(t.Context(), 1, 2000, 8, 0), Rules{Patience: 1})
	if len(faults) == 0 {
		t.Error("nobody hears that the searches were given up")
	}
	for _, f := range faults {
		if f.Kind != Undecided {
			t.Error(f)
		}
	}
}

func BenchmarkCheckOf200000Exchanges(b *testing.B) {
	exchanges := simulate(b.Context(), 1, 200_000, 8, 0)
	for b.Loop() {
		if faults := Check(exchanges, Rules{}); len(faults) > 0 {
			b.Fatal(faults[0])
		}
	}
}
