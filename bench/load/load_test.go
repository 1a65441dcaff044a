package load

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestEveryNumberIsAskedOnceBeforeAnyComesAgain(t *testing.T) {
	for _, n := range []int64{1, 2, 10, 618, 1000, 9_980} {
		s := newSource(NewRequest("GET", "/{}", "", "", &Numbers{First: 21, Last: 20 + n, Each: true}, 200), rand.New(rand.NewPCG(1, 1)))
		seen := make(map[string]bool)
		for range n {
			seen[string(s.append(nil))] = true
		}
		if int64(len(seen)) != n {
			t.Errorf("%d different requests of %d", len(seen), n)
		}
	}
}

func TestNumbersAreWrittenInTheirForm(t *testing.T) {
	for form, want := range map[Form]string{Decimal: "42", Cursor: "AQAAAAAAAAAq", Padded: "000000000000042"} {
		if got := form.Text(42); got != want {
			t.Errorf("%s: %s instead of %s", form, got, want)
		}
	}
}

func TestQuantilesAreWithinTwoPercent(t *testing.T) {
	var h histogram
	for i := range 100_000 {
		h.add(time.Duration(i+1) * time.Microsecond)
	}
	for q, want := range map[float64]time.Duration{0.5: 50 * time.Millisecond, 0.99: 99 * time.Millisecond} {
		if got := h.quantile(q); got < want*98/100 || got > want*102/100 {
			t.Errorf("quantile %v: %v instead of %v", q, got, want)
		}
	}
}

func TestTheLoadAsksOnEveryConnectionAndReadsWholeAnswers(t *testing.T) {
	var connections sync.Map
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections.Store(r.RemoteAddr, true)
		asked.Add(1)
		if strings.HasPrefix(r.URL.Path, "/chunked") {
			fmt.Fprint(w, strings.Repeat("long ", 10_000))
			return
		}
		fmt.Fprint(w, "short")
	}))
	defer server.Close()
	result := mustRun(t, server, NewRequest("GET", "/short", "key", "", nil, 200), NewRequest("POST", "/chunked", "", "{}", nil, 200))

	count := 0
	connections.Range(func(any, any) bool { count++; return true })
	if count != 8 || result.Requests == 0 || result.Requests > asked.Load() || result.Failed != 0 || result.P50 == 0 {
		t.Errorf("%d connections, %d asked, %+v", count, asked.Load(), result)
	}
}

func TestEveryWrongAnswerIsCounted(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch rand.IntN(20) {
		case 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			panic(http.ErrAbortHandler) // closes the connection
		}
	}))
	defer server.Close()
	result := mustRun(t, server, NewRequest("GET", "/", "", "", nil, 200))
	if result.Failed == 0 || result.Failure == "" || result.Requests == 0 {
		t.Errorf("%+v", result)
	}
}

func mustRun(t *testing.T, server *httptest.Server, requests ...Request) Result {
	t.Helper()
	result, err := Run(Job{Address: server.Listener.Addr().String(), Connections: 8, Requests: requests, Warmup: 10 * time.Millisecond, Duration: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return result
}
