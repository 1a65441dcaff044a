package httpapi_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

// discardWriter is an http.ResponseWriter that keeps the status and the header and drops the body.
type discardWriter struct {
	header http.Header
	status int
}

func (n *discardWriter) Header() http.Header         { return n.header }
func (n *discardWriter) Write(b []byte) (int, error) { return len(b), nil }
func (n *discardWriter) WriteHeader(status int)      { n.status = status }

func (n *discardWriter) WriteString(s string) (int, error) { return len(s), nil }

// BenchmarkRequest measures a request from the first to the last step of the API, without the server and the network.
func BenchmarkRequest(b *testing.B) {
	storage := openSQLite(b)
	secret := petstore.NewSecret(petstore.Production)
	if err := storage.CreateKey(b.Context(), petstore.NewKey("bench", petstore.Enterprise, petstore.FirstKeyLimits, noon, petstore.Forever), petstore.HashSecret(secret), petstore.KeyRequest{}); err != nil {
		b.Fatal(err)
	}
	for i := range 100 {
		if _, _, err := storage.CreatePet(b.Context(), petstore.NewPet{Name: fmt.Sprintf("Pet %d", i), CategoryID: 1, Status: petstore.Available}, nil); err != nil {
			b.Fatal(err)
		}
	}
	api := httpapi.New(httpapi.Config{
		Environment: petstore.Production,
		Storage:     storage,
		Versioned:   storage.(petstore.Versioned),
		Limiter:     ratelimit.NewMemory(time.Now),
		CountOnly:   true, // otherwise the unauthorized requests would soon exceed their limit
		Log:         slog.New(slog.DiscardHandler),
		Metrics:     prometheus.NewRegistry(),
		Now:         time.Now,
	})
	const pet = `{"name":"Biscuit, beagle mix","categoryId":1}`
	for _, c := range []struct {
		name, method, target, token string
		status                      int
	}{
		{"list", "GET", "/v1/pets", secret, 200},
		{"get", "GET", "/v1/pets/50", secret, 200},
		{"create", "POST", "/v1/pets", secret, 201},
		{"unauthorized", "GET", "/v1/pets", "garbage", 401},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, err := http.NewRequest(c.method, c.target, nil)
			if err != nil {
				b.Fatal(err)
			}
			r.RemoteAddr = "203.0.113.5:4711"
			r.Header.Set("Authorization", "Bearer "+c.token)
			w := &discardWriter{header: make(http.Header)}
			body := strings.NewReader(pet)
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				if c.method == "POST" {
					body.Reset(pet)
					r.Body, r.ContentLength = io.NopCloser(body), int64(len(pet))
				}
				if api.ServeHTTP(w, r); w.status != c.status {
					b.Fatalf("answered %d", w.status)
				}
			}
		})
	}
}
