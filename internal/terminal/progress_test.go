package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestProgressShowsTheRateAndTheTimeLeft(t *testing.T) {
	start := time.Now()
	p := &Progress{unit: "lines", total: 4000, start: start}
	if bar, text := p.text(start.Add(time.Second)); bar != "" || text != "0 lines, 0/s" {
		t.Errorf("at first it shows %q %q", bar, text)
	}
	p.SetPosition(1000)
	p.Add(25_000)
	if bar, text := p.text(start.Add(2 * time.Second)); bar != "[=======                       ] " || text != "25 %: 25,000 lines, 12,500/s, 6 s left" {
		t.Errorf("later it shows %q %q", bar, text)
	}
	for atLeast, want := range map[time.Duration]string{5 * time.Second: "6 s left", 70 * time.Hour: "3 days left"} {
		p.atLeast = func(time.Time) time.Duration { return atLeast }
		if _, text := p.text(start.Add(2 * time.Second)); text != "25 %: 25,000 lines, 12,500/s, "+want {
			t.Errorf("if at least %s are left, it shows %q", atLeast, text)
		}
	}
}

func TestRoughDurationsHaveOneUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                          "0 s",
		1400 * time.Millisecond:    "1 s",
		89 * time.Second:           "89 s",
		90 * time.Second:           "2 min",
		89 * time.Minute:           "89 min",
		100 * time.Minute:          "2 h",
		35 * time.Hour:             "35 h",
		36 * time.Hour:             "2 days",
		70 * time.Hour:             "3 days",
		100 * 365 * 24 * time.Hour: "36,500 days",
	} {
		if got := Rough(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestAMessageErasesTheProgressBarFirst(t *testing.T) {
	var screen strings.Builder
	con := &Console{Stderr: &screen}
	con.Say("one")
	con.drawBar("[==  ]")
	con.Say("two")
	con.Say("three")
	if want := "one\n\r[==  ]\x1b[K\r\x1b[Ktwo\nthree\n"; screen.String() != want {
		t.Errorf("the screen got %q, want %q", screen.String(), want)
	}
}
