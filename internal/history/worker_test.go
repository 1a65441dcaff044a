package history

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"petstore/internal/model"
)

// Go's transport repeats a request with an Idempotency-Key by itself when the connection breaks. A history would then
// record only the second request, although the first may have been done.
func TestARequestIsSentOnceForEachExchange(t *testing.T) {
	var arrived atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if arrived.Add(1) == 2 {
			panic(http.ErrAbortHandler) // breaks the connection on its second use
		}
	}))
	defer server.Close()
	h := New()
	w := Load{Base: server.URL, Client: server.Client()}.worker(0, h, new(known))
	for _, e := range []model.Exchange{{Method: "POST", Path: "/v1/pets", Body: []byte("{}")}, {Method: "DELETE", Path: "/v1/pets/1"}} {
		e.IdempotencyKey = "once"
		arrived.Store(0)
		for _, want := range []int{http.StatusOK, 0} {
			if e = w.send(context.Background(), e); e.Status != want {
				t.Errorf("the answer was %d, want %d", e.Status, want)
			}
		}
		if got := arrived.Load(); got != 2 {
			t.Errorf("%d requests arrived instead of 2 for %v", got, e)
		}
	}
}
