package postgres

import (
	"testing"
	"time"
)

func TestTheTimeoutsOfTheProduct(t *testing.T) {
	want := timeouts{
		call:      3 * time.Second,
		statement: 2500 * time.Millisecond,
		connect:   2 * time.Second,
		ping:      500 * time.Millisecond,
		work:      500 * time.Millisecond,
	}
	if got := (Config{}).timeouts(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
