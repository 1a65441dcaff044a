package terminal

import (
	"testing"
	"time"
)

func TestProgressShowsTheRateAndTheTimeLeft(t *testing.T) {
	p := &Progress{unit: "lines", total: 4000}
	if bar, text := p.text(time.Second); bar != "" || text != "0 lines, 0/s" {
		t.Errorf("at first it shows %q %q", bar, text)
	}
	p.SetPosition(1000)
	p.Add(25_000)
	if bar, text := p.text(2 * time.Second); bar != "[=======                       ] " || text != "25 %: 25,000 lines, 12,500/s, 6s left" {
		t.Errorf("later it shows %q %q", bar, text)
	}
}
