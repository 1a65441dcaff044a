package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// fullOnce is a disk that is full until room is made after its first refusal.
type fullOnce struct {
	bytes.Buffer
	refused bool
}

func (w *fullOnce) Write(b []byte) (int, error) {
	if !w.refused {
		w.refused = true
		return 0, errors.New("no space left on device")
	}
	return w.Buffer.Write(b)
}

func TestTheLogGoesOnWhenItsDiskHasRoomAgain(t *testing.T) {
	t.Parallel()
	var disk fullOnce
	buffered := newBufferedWriter(&disk)
	log := slog.New(slog.NewJSONHandler(buffered, nil))
	log.Info("while it is full")
	buffered.flush()
	log.Info("when there is room")
	buffered.Close()
	if got := disk.String(); !strings.Contains(got, "when there is room") {
		t.Errorf("the log is %q", got)
	}
}
