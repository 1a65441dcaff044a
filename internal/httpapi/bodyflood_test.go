package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// metricValue returns the value of a gauge or a counter with the given labels.
func metricValue(t testing.TB, metrics prometheus.Gatherer, name string, labels ...string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	noError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var values []string
			for _, label := range m.GetLabel() {
				values = append(values, label.GetValue())
			}
			if family.GetName() == name && slices.Equal(values, labels) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("there is no metric %s of %v", name, labels)
	return 0
}

// waitForMetric waits until a metric has the value want.
func waitForMetric(t testing.TB, metrics prometheus.Gatherer, name string, want float64) {
	t.Helper()
	for range 30_000 {
		if metricValue(t, metrics, name) == want {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%s is %v and does not become %v", name, metricValue(t, metrics, name), want)
}

func TestStalledBodiesTakeOnlyTheirOwnersShare(t *testing.T) {
	const budget, share, stalled = 1 << 20, 128 << 10, 300
	metrics := prometheus.NewRegistry()
	s := serve(t, func(c *httpapi.Config) { c.BodyBudget, c.Metrics = budget, metrics })
	key, other := s.key(petstore.Enterprise), s.key(petstore.Enterprise)
	head := request("POST", "/v1/pets", key, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", 1<<20-1))
	stall := func() io.Closer {
		conn := dial(t, s.address)
		if _, err := io.WriteString(conn, head+strings.Repeat(" ", 64<<10)); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	conns := []io.Closer{stall()}
	waitForMetric(t, metrics, "petstore_body_bytes", share-4<<10) // 128 KiB are allocated, and 4 KiB of them are free
	for range stalled - 1 {
		conns = append(conns, stall())
	}
	waitForMetric(t, metrics, "petstore_requests_in_flight", stalled)
	for range 10 {
		s.post(key, petOfSize(4<<10-1)).is(t, 201, "")
		s.post(other, petOfSize(60<<10)).is(t, 201, "")
		refused := s.post(key, petOfSize(60<<10))
		refused.is(t, 503, "unavailable")
		refused.has(t, "Retry-After", "1")
		if taken := metricValue(t, metrics, "petstore_body_bytes"); taken > share {
			t.Errorf("%v bytes are taken", taken)
		}
	}
	for _, conn := range conns {
		conn.Close()
	}
	waitForMetric(t, metrics, "petstore_body_bytes", 0)
	s.post(key, petOfSize(60<<10)).is(t, 201, "")
	waitForMetric(t, metrics, "petstore_body_bytes", 0)
}

// trickle is a body that arrives in small pieces. It checks the size of the buffer that the API reads into.
type trickle struct {
	t    *testing.T
	left int
	sent int
}

func (b *trickle) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if room := b.sent + len(p); room > max(2*b.sent, 4<<10) {
		b.t.Errorf("the buffer has %d bytes when %d have arrived", room, b.sent)
	}
	n := copy(p, strings.Repeat(" ", min(b.left, 1000)))
	b.left -= n
	b.sent += n
	return n, nil
}

func TestABodyBufferIsAtMostTwiceWhatHasArrived(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, size := range []int{1, 4095, 4096, 4097, 100_000, 1<<20 - 1, 1 << 20} {
		for _, length := range []int{size, -1, 1} { // a correct length, no length, and a wrong length
			r := httptest.NewRequest(http.MethodPost, "/v1/pets", &trickle{t: t, left: size})
			r.Header.Set("Authorization", "Bearer "+key)
			r.ContentLength = int64(length)
			w := httptest.NewRecorder()
			if s.api.ServeHTTP(w, r); w.Code != http.StatusBadRequest {
				t.Errorf("%d spaces, announced as %d, are answered %d: %s", size, length, w.Code, w.Body)
			}
		}
	}
}
