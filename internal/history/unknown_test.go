package history

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

// unreliable loses some requests and some answers, and delivers some requests only after it has reported them as failed.
type unreliable struct {
	http.RoundTripper
	percent int
	late    sync.WaitGroup
}

var errBroken = errors.New("the connection broke")

func (u *unreliable) RoundTrip(r *http.Request) (*http.Response, error) {
	if rand.IntN(100) >= u.percent {
		return u.RoundTripper.RoundTrip(r)
	}
	switch rand.IntN(3) {
	case 0:
		return nil, errBroken
	case 1:
		u.bring(r)
		return nil, errBroken
	}
	body, _ := io.ReadAll(r.Body)
	again := r.Clone(context.WithoutCancel(r.Context()))
	again.Body = io.NopCloser(bytes.NewReader(body))
	u.late.Go(func() {
		time.Sleep(rand.N(50 * time.Millisecond))
		u.bring(again)
	})
	return nil, errBroken
}

func (u *unreliable) bring(r *http.Request) {
	if answer, err := u.RoundTripper.RoundTrip(r); err == nil {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

func TestUnknownOutcomesAreNoFault(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, storage petstore.Database) {
		s := serve(t, storage, ratelimit.NewMemory(time.Now), generous)
		broken := &unreliable{RoundTripper: s.Client.Transport, percent: 10}
		s.Client = &http.Client{Transport: broken}
		s.run(1000)
		broken.late.Wait()
		s.findsNothing()
	})
}
