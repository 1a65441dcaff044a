package httpapi_test

import (
	"bufio"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

// fuzzedKey is the secret of a key of the fuzzed API, which seeds know.
const fuzzedKey = "a-key-that-seeds-know"

// newFuzzedAPI returns an API that never limits requests, and whose streams end as soon as they have begun.
func newFuzzedAPI(f *testing.F, storage petstore.Storage) *httpapi.API {
	key := petstore.NewKey("fuzz", petstore.Enterprise, petstore.FirstKeyLimits, noon, petstore.Forever)
	if err := storage.EnsureKey(f.Context(), key, petstore.HashSecret(fuzzedKey)); err != nil {
		f.Fatal(err)
	}
	return httpapi.New(httpapi.Config{
		Environment: petstore.Production,
		Storage:     storage,
		NamedKey:    fuzzedKey,
		Limiter:     ratelimit.NewMemory(time.Now),
		CountOnly:   true,
		Log:         slog.New(slog.DiscardHandler),
		Metrics:     prometheus.NewRegistry(),
		Now:         func() time.Time { return noon },
		Stream:      httpapi.StreamTimes{Life: -time.Second},
	})
}

// FuzzRequest sends every request that net/http can parse, and fails if the answer differs from the OpenAPI document.
func FuzzRequest(f *testing.F) {
	api := newFuzzedAPI(f, openSQLite(f))
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			return
		}
		r.RemoteAddr = "203.0.113.5:4711"
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		var head strings.Builder
		w.Header().Write(&head)
		a := &answer{raw: "\r\n" + head.String() + "\r\n" + w.Body.String(), status: w.Code, header: make(http.Header), body: w.Body.String()}
		for name, values := range w.Header() {
			a.header[http.CanonicalHeaderKey(name)] = values
		}
		if a.status == http.StatusInternalServerError {
			t.Fatalf("%q breaks the service: %s", raw, a.raw)
		}
		if err := checkDocument(raw, a); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}
