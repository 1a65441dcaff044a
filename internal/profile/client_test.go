package profile

import (
	"errors"
	"strings"
	"testing"
	"time"

	"petstore/client"
	"petstore/internal/terminal"
)

func TestCallsThatWaitTogetherAnnounceItOnce(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	notice := waitNotice(&terminal.Console{Stderr: &said})
	notice(100*time.Millisecond, client.ErrUnavailable)
	for range 3 {
		notice(20*time.Second, client.ErrRateLimited)
	}
	notice(40*time.Second, errors.New("no\x07 answer"))
	if want := "Waiting 20 s for the rate limit.\nTrying again in 40 s: no\\a answer\n"; said.String() != want {
		t.Errorf("it said %q, want %q", said.String(), want)
	}
}
