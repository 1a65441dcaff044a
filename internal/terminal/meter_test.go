package terminal

import (
	"testing"
	"time"
)

func TestAMeterTellsTheRateAndTheTimeLeft(t *testing.T) {
	m := &Meter{what: "lines", total: 4000}
	if bar, text := m.text(time.Second); bar != "" || text != "0 lines, 0/s" {
		t.Errorf("at first %q %q", bar, text)
	}
	m.At(1000)
	m.Count(25_000)
	if bar, text := m.text(2 * time.Second); bar != "[=======                       ] " || text != "25 %: 25,000 lines, 12,500/s, 6s left" {
		t.Errorf("later %q %q", bar, text)
	}
}
