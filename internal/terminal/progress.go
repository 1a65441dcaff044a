package terminal

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	redrawEvery = 200 * time.Millisecond // the pause between two updates on a terminal
	reportEvery = 5 * time.Second        // the pause between two updates elsewhere
	barWidth    = 30
)

// Progress shows the progress of a long command. On a terminal it shows a progress bar, and elsewhere a line every few
// seconds.
type Progress struct {
	unit     string // the things that are counted, such as "lines"
	total    int64  // the final position; 0 if unknown
	atLeast  func(now time.Time) time.Duration
	start    time.Time
	position atomic.Int64
	count    atomic.Int64
	quit     chan struct{}
	stopped  chan struct{}
	stop     func()
}

// Progress starts to show progress up to total. A total of 0 means that the total is unknown. Progress estimates the time
// left from the progress so far. The function atLeast returns a lower bound for the time left, and may be nil.
func (con *Console) Progress(unit string, total int64, atLeast func(now time.Time) time.Duration) *Progress {
	p := &Progress{
		unit: unit, total: total, atLeast: atLeast, start: time.Now(),
		quit: make(chan struct{}), stopped: make(chan struct{}),
	}
	p.stop = sync.OnceFunc(func() {
		close(p.quit)
		<-p.stopped
		con.mu.Lock()
		defer con.mu.Unlock()
		con.eraseBar()
	})
	if IsTerminal(con.Stderr) {
		go p.show(redrawEvery, func(bar, text string) { con.drawBar(bar + text) })
	} else {
		go p.show(reportEvery, func(_, text string) { con.Say("%s", text) })
	}
	return p
}

// Stop erases the progress bar. Later calls do nothing.
func (p *Progress) Stop() { p.stop() }

// SetPosition sets how much of the total is done.
func (p *Progress) SetPosition(position int64) { p.position.Store(position) }

// Add adds n to the count.
func (p *Progress) Add(n int64) { p.count.Add(n) }

// Count returns the count so far.
func (p *Progress) Count() int64 { return p.count.Load() }

func (p *Progress) show(every time.Duration, draw func(bar, text string)) {
	defer close(p.stopped)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case now := <-tick.C:
			draw(p.text(now))
		}
	}
}

// text returns a progress bar, and a text with the count, the rate and the time left, as far as they are known.
func (p *Progress) text(now time.Time) (bar, text string) {
	count, position, elapsed := p.count.Load(), p.position.Load(), now.Sub(p.start)
	text = fmt.Sprintf("%s %s, %s/s", WithCommas(count), p.unit, WithCommas(int64(float64(count)/elapsed.Seconds())))
	if p.total <= 0 || position <= 0 {
		return "", text
	}
	share := min(1, float64(position)/float64(p.total))
	left := time.Duration(float64(elapsed) * (1 - share) / share)
	if p.atLeast != nil {
		left = max(left, p.atLeast(now))
	}
	filled := int(share * barWidth)
	bar = fmt.Sprintf("[%s%s] ", strings.Repeat("=", filled), strings.Repeat(" ", barWidth-filled))
	return bar, fmt.Sprintf("%d %%: %s, %s left", int(share*100), text, Rough(left))
}
