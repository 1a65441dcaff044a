package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	drawEvery = 200 * time.Millisecond // on a terminal
	tellEvery = 5 * time.Second        // elsewhere
	barWidth  = 30
)

// Meter shows the progress of a long command: a bar on a terminal, a line now and then elsewhere.
type Meter struct {
	out      io.Writer
	what     string // what is counted, such as "line"
	total    int64  // the final position, 0 if it is not known
	began    time.Time
	position atomic.Int64
	counted  atomic.Int64
	quit     chan struct{}
	ended    chan struct{}
	stop     func()
}

// Meter begins to show progress up to total, which is 0 if it is not known.
func (con *Console) Meter(what string, total int64) *Meter {
	m := &Meter{out: con.Stderr, what: what, total: total, began: time.Now(), quit: make(chan struct{}), ended: make(chan struct{})}
	m.stop = sync.OnceFunc(func() {
		close(m.quit)
		<-m.ended
	})
	if IsTerminal(con.Stderr) {
		go m.show(drawEvery, func(bar, text string) { fmt.Fprint(m.out, "\r", bar, text, "\x1b[K") }, func() { fmt.Fprint(m.out, "\r\x1b[K") })
	} else {
		go m.show(tellEvery, func(_, text string) { fmt.Fprintln(m.out, text) }, func() {})
	}
	return m
}

// Stop takes the bar away. It may be called again.
func (m *Meter) Stop() { m.stop() }

// At sets the position, which goes up to the total.
func (m *Meter) At(position int64) { m.position.Store(position) }

// Count counts n more.
func (m *Meter) Count(n int64) { m.counted.Add(n) }

// Counted is how many were counted so far.
func (m *Meter) Counted() int64 { return m.counted.Load() }

func (m *Meter) show(every time.Duration, show func(bar, text string), erase func()) {
	defer close(m.ended)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-m.quit:
			erase()
			return
		case now := <-tick.C:
			show(m.text(now.Sub(m.began)))
		}
	}
}

// text returns a bar, and the count, the rate and the time left, as far as they are known.
func (m *Meter) text(passed time.Duration) (bar, text string) {
	counted, position := m.counted.Load(), m.position.Load()
	text = fmt.Sprintf("%s %s, %s/s", Grouped(counted), m.what, Grouped(int64(float64(counted)/passed.Seconds())))
	if m.total <= 0 || position <= 0 {
		return "", text
	}
	share := min(1, float64(position)/float64(m.total))
	left := time.Duration(float64(passed) * (1 - share) / share).Round(time.Second)
	full := int(share * barWidth)
	bar = fmt.Sprintf("[%s%s] ", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full))
	return bar, fmt.Sprintf("%d %%: %s, %s left", int(share*100), text, left)
}
