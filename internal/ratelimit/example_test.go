package ratelimit_test

import (
	"context"
	"fmt"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

func ExampleMemory() {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	limiter := ratelimit.NewMemory(func() time.Time { return noon })
	ask := petstore.Ask{Subject: "ann", Limits: petstore.Limits{PerMinute: 2, PerDay: 1000}}
	for range 3 {
		d, _ := limiter.Take(context.Background(), ask)
		fmt.Println(d.Outcome == petstore.Allowed, d.Remaining, d.RetryAfter)
	}
	// Output:
	// true 1 1m0s
	// true 0 1m0s
	// false 0 1m0s
}
