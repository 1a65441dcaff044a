package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/model"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

func TestNoFaultIsFoundWithoutOne(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, storage petstore.Storage) {
		s := serve(t, storage, ratelimit.NewMemory(time.Now))
		s.run(1000)
		s.findsNothing()
	})
}

func TestTheLoadDoesEveryOperation(t *testing.T) {
	s := serveSQLite(t)
	const limited, replayed = "a refusal for a limit", " with a replay"
	feeds := []string{"/v1/events?after=evt_", "&types=", "/v1/events?petId=", "&after=now"}
	missing, looked := map[string]bool{limited: true}, 0
	for _, part := range feeds {
		missing[part] = true
	}
	for _, name := range model.Operations() {
		missing[name] = true
		if !strings.HasPrefix(name, "get") && !strings.HasPrefix(name, "list") {
			missing[name+replayed] = true
		}
	}
	s.runUntil(func(recorded []model.Exchange) bool {
		for ; looked < len(recorded); looked++ {
			if recorded[looked].Status == http.StatusTooManyRequests {
				delete(missing, limited)
			}
			for _, part := range feeds {
				if recorded[looked].Status == http.StatusOK && strings.Contains(recorded[looked].Path, part) {
					delete(missing, part)
				}
			}
			if op, ok := model.Parse(recorded[looked]); ok {
				delete(missing, op.Name)
				if op.Replayed {
					delete(missing, op.Name+replayed)
				}
			}
		}
		return len(missing) == 0 || looked >= 10_000
	})
	if len(missing) > 0 {
		t.Errorf("never sent: %v", missing)
	}
}

// The constant faster is the speed of the storage's clock, as a multiple of the real clock. So holds of a minute end during
// the test.
const faster = 400

func TestOrdersThatExpireAreNoFault(t *testing.T) {
	begin := time.Now()
	storage := openSQLite(t, func() time.Time { return begin.Add(faster * time.Since(begin)) })
	s := serve(t, storage, ratelimit.NewMemory(time.Now))
	ctx, stop := context.WithCancel(t.Context())
	var upkeep sync.WaitGroup
	upkeep.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
			storage.ExpireOrders(t.Context())
		}
	})
	looked, hasExpired := 0, false
	s.runUntil(func(recorded []model.Exchange) bool {
		for ; looked < len(recorded) && !hasExpired; looked++ {
			hasExpired = bytes.Contains(recorded[looked].Answer, []byte(`"expired"`))
		}
		return hasExpired
	})
	stop()
	upkeep.Wait()
	exchanges := s.history.Exchanges()
	for i := range exchanges {
		exchanges[i].Called *= faster
		exchanges[i].Returned *= faster
	}
	s.findsNothing()
}

// The transport lossy loses some requests and some answers. It delivers some of the lost requests later.
type lossy struct {
	http.RoundTripper
	percent int

	mu      sync.Mutex
	random  *rand.Rand
	waiting []*http.Request
}

var errBroken = errors.New("the connection broke")

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	isLost, isLate, way := l.random.IntN(100) < l.percent, l.random.IntN(10) == 0, l.random.IntN(3)
	if isLost && way == 0 {
		l.waiting = append(l.waiting, r.Clone(context.WithoutCancel(r.Context())))
	}
	var late *http.Request
	if isLate && len(l.waiting) > 0 {
		late, l.waiting = l.waiting[0], l.waiting[1:]
	}
	l.mu.Unlock()
	if late != nil {
		l.deliver(late)
	}
	if !isLost {
		return l.RoundTripper.RoundTrip(r)
	}
	if way == 1 {
		l.deliver(r)
	}
	return nil, errBroken
}

func (l *lossy) deliver(r *http.Request) {
	if answer, err := l.RoundTripper.RoundTrip(r); err == nil {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

func TestUnknownOutcomesAreNoFault(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, storage petstore.Storage) {
		s := serve(t, storage, ratelimit.NewMemory(time.Now))
		s.Client = &http.Client{Transport: &lossy{RoundTripper: s.Client.Transport, percent: 10, random: rand.New(rand.NewPCG(1, 1))}}
		s.run(1000)
		s.findsNothing()
	})
}

// The type direct is an http.RoundTripper that calls a handler without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	answer := w.Result()
	for name, values := range w.Header() {
		answer.Header[http.CanonicalHeaderKey(name)] = values
	}
	return answer, nil
}

// The function sequential records the answers of a correct store that does one request after the other. It gives each
// exchange an interval around the moment of the request. The argument overlap says with about how many other exchanges an
// interval overlaps.
func sequential(t testing.TB, seed uint64, exchanges, overlap, losing int) []model.Exchange {
	s := serveSQLite(t)
	s.Seed, s.Keys = seed, map[string]string{"a": s.Keys["a"]}
	s.Client = &http.Client{Transport: &lossy{RoundTripper: direct{s.api}, percent: losing, random: rand.New(rand.NewPCG(seed, 99))}}
	var shared known
	var workers []*worker
	for i := range 8 {
		workers = append(workers, s.worker(i, s.history, &shared))
		workers[i].backoff = 0
	}
	random := rand.New(rand.NewPCG(seed, 7))
	for len(s.history.Exchanges()) < exchanges {
		workers[random.IntN(len(workers))].act(t.Context())
	}
	s.ReadBack(t.Context(), s.history)
	all := s.history.Exchanges()
	for i := range all {
		upTo := func() time.Duration {
			return time.Duration(random.Int64N(int64(time.Duration(overlap)*time.Millisecond) + 1))
		}
		moment := time.Duration(i+overlap) * time.Millisecond
		all[i].Called, all[i].Returned = moment-upTo(), moment+upTo()
	}
	return all
}

func TestWhatACorrectStoreAnswersIsAlwaysAccepted(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			losing := random.IntN(2) * random.IntN(20)
			for _, f := range Check(sequential(t, seed, 50+random.IntN(1500), 1+random.IntN(8), losing), Rules{}) {
				t.Error(f)
			}
		})
	}
}

func TestASearchThatTakesTooLongIsReported(t *testing.T) {
	faults := Check(sequential(t, 1, 500, 8, 0), Rules{Timeout: 1})
	if len(faults) == 0 || slices.ContainsFunc(faults, func(f Fault) bool { return f.Kind != Undecided }) {
		t.Errorf("searches that were given up gave %v", faults)
	}
}

func BenchmarkCheckOf50000Exchanges(b *testing.B) {
	exchanges := sequential(b, 1, 50_000, 8, 0)
	for b.Loop() {
		if faults := Check(exchanges, Rules{}); len(faults) > 0 {
			b.Fatal(faults[0])
		}
	}
}
