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

func TestEachNumberIsUsedOnceBeforeAnyIsRepeated(t *testing.T) {
	for _, n := range []int64{1, 2, 10, 618, 1000, 9_980} {
		r := NewRequest("GET", "/{}", "", "", 200).Each(21, 20+n)
		seen := make(map[int64]bool)
		for range n {
			seen[r.next(nil)] = true
		}
		if int64(len(seen)) != n {
			t.Errorf("%d different requests of %d", len(seen), n)
		}
	}
}

func TestFormWritesANumber(t *testing.T) {
	for form, want := range map[Form]string{"": "42", Cursor: "AQAAAAAAAAAq", "%015d": "000000000000042", "mod40": "3"} {
		if got := form.Text(42); got != want {
			t.Errorf("%s: %s instead of %s", form, got, want)
		}
	}
}

func TestTheLoadUsesEveryConnectionAndReadsCompleteAnswers(t *testing.T) {
	var connections sync.Map
	var asked atomic.Int64
	job := brief(NewRequest("GET", "/short", "key", "", 200), NewRequest("POST", "/chunked", "", `{"a":1}`, 200))
	result := run(t, job, func(w http.ResponseWriter, r *http.Request) {
		connections.Store(r.RemoteAddr, true)
		asked.Add(1)
		if strings.HasPrefix(r.URL.Path, "/chunked") {
			fmt.Fprint(w, strings.Repeat("long ", 10_000))
			return
		}
		fmt.Fprint(w, "short")
	})[0]

	count := 0
	connections.Range(func(any, any) bool { count++; return true })
	if count != 8 || result.Requests == 0 || result.Requests > asked.Load() || result.Failed != 0 || result.P50 == 0 {
		t.Errorf("%d connections, %d asked, %+v", count, asked.Load(), result)
	}
}

func TestWrongAnswersAreCounted(t *testing.T) {
	result := run(t, brief(NewRequest("GET", "/", "", "", 200)), func(w http.ResponseWriter, _ *http.Request) {
		switch rand.IntN(20) {
		case 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			panic(http.ErrAbortHandler) // closes the connection
		}
	})[0]
	if result.Failed == 0 || result.Failure == "" || result.Requests == 0 {
		t.Errorf("%+v", result)
	}
}

func TestLatencyCountsFromWhenTheRequestWasDue(t *testing.T) {
	var once sync.Once
	job := Job{Connections: 1, Requests: []Request{NewRequest("GET", "/", "", "", 200)},
		Rate: 200, Duration: 400 * time.Millisecond, Every: 150 * time.Millisecond}
	results := run(t, job, func(http.ResponseWriter, *http.Request) {
		once.Do(func() { time.Sleep(300 * time.Millisecond) })
	})
	var requests, failed int64
	for _, r := range results {
		requests, failed = requests+r.Requests, failed+r.Failed
	}
	if len(results) != 3 || requests != 80 || failed != 0 {
		t.Errorf("80 requests were due, %d were answered, %d wrongly, in %d intervals instead of 3", requests, failed, len(results))
	}
	if last := results[2]; last.P50 < 90*time.Millisecond || last.Max < 290*time.Millisecond {
		t.Errorf("most requests were due while the server stood still, and the median is %v, the slowest %v", last.P50, last.Max)
	}
}

func TestAFollowUpUsesANumberFromTheAnswer(t *testing.T) {
	var paths sync.Map
	first := NewRequest("POST", "/{}", "", `{"a":1}`, 200).Each(5, 5)
	remove := NewRequest("DELETE", "/{}", "", "", 204)
	job := brief(first.Then("", first.Then("id", first.Then("petId", remove))))
	result := run(t, job, func(w http.ResponseWriter, r *http.Request) {
		paths.Store(r.Method+" "+r.URL.Path, true)
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		fmt.Fprint(w, `{"id":7,"petId":42}`)
	})[0]
	if result.Failed != 0 {
		t.Error(result.Failure)
	}
	for _, path := range []string{"POST /5", "POST /7", "DELETE /42"} {
		if _, asked := paths.Load(path); !asked {
			t.Errorf("%s was not requested", path)
		}
	}
}

// brief returns a job that gives one result after a tenth of a second.
func brief(requests ...Request) Job {
	return Job{Connections: 8, Requests: requests, Warmup: 10 * time.Millisecond, Duration: 100 * time.Millisecond}
}

// run runs a job against a handler and returns the result of every interval.
func run(t *testing.T, job Job, handler http.HandlerFunc) (results []Result) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	job.Address = server.Listener.Addr().String()
	if err := Run(job, func(r Result) { results = append(results, r) }); err != nil {
		t.Fatal(err)
	}
	return results
}
