package main

import (
	"fmt"
	"io"
	"strconv"
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

// meter shows the progress of a long command: a bar on a terminal, a line now and then elsewhere.
type meter struct {
	out      io.Writer
	what     string // what is counted, such as "line"
	total    int64  // the final position, 0 if it is not known
	began    time.Time
	position atomic.Int64
	counted  atomic.Int64
	quit     chan struct{}
	ended    chan struct{}
	stop     func() // takes the bar away
}

func (con *console) meter(what string, total int64) *meter {
	m := &meter{out: con.stderr, what: what, total: total, began: time.Now(), quit: make(chan struct{}), ended: make(chan struct{})}
	m.stop = sync.OnceFunc(func() {
		close(m.quit)
		<-m.ended
	})
	if isTerminal(con.stderr) {
		go m.show(drawEvery, func(bar, text string) { fmt.Fprint(m.out, "\r", bar, text, "\x1b[K") }, func() { fmt.Fprint(m.out, "\r\x1b[K") })
	} else {
		go m.show(tellEvery, func(_, text string) { fmt.Fprintln(m.out, text) }, func() {})
	}
	return m
}

// at sets the position, which goes up to the total.
func (m *meter) at(position int64) { m.position.Store(position) }

// count counts n more.
func (m *meter) count(n int64) { m.counted.Add(n) }

func (m *meter) show(every time.Duration, show func(bar, text string), clear func()) {
	defer close(m.ended)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-m.quit:
			clear()
			return
		case now := <-tick.C:
			show(m.text(now.Sub(m.began)))
		}
	}
}

// text returns a bar, and the count, the rate and the time left, as far as they are known.
func (m *meter) text(passed time.Duration) (bar, text string) {
	counted, position := m.counted.Load(), m.position.Load()
	text = fmt.Sprintf("%s %s, %s/s", grouped(counted), m.what, grouped(int64(float64(counted)/passed.Seconds())))
	if m.total <= 0 || position <= 0 {
		return "", text
	}
	share := min(1, float64(position)/float64(m.total))
	left := time.Duration(float64(passed) * (1 - share) / share).Round(time.Second)
	full := int(share * barWidth)
	bar = fmt.Sprintf("[%s%s] ", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full))
	return bar, fmt.Sprintf("%d %%: %s, %s left", int(share*100), text, left)
}

// grouped writes a number with commas between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// many is "1 line" or "2 lines".
func many(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

// are is "1 line is" or "2 lines are".
func are(n int64, what string) string {
	if n == 1 {
		return many(n, what) + " is"
	}
	return many(n, what) + " are"
}
