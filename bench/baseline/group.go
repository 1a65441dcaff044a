package baseline

import (
	"runtime"
	"sync"
)

// grouped answers calls that arrive while another group is being answered in one group.
type grouped[C any] struct {
	answer func(calls []C) error

	mu      sync.Mutex
	running bool
	next    *group[C] // the calls that wait, or nil
}

type group[C any] struct {
	calls []C
	err   error
	done  chan struct{}
}

// do returns when a group that includes the call was answered. If no group is running, the caller answers its own.
func (g *grouped[C]) do(call C) error {
	g.mu.Lock()
	if g.next == nil {
		g.next = &group[C]{done: make(chan struct{})}
	}
	mine := g.next
	mine.calls = append(mine.calls, call)
	first := !g.running
	if first {
		g.running, g.next = true, nil
	}
	g.mu.Unlock()
	if first && g.run(mine) {
		go g.runAll()
	}
	<-mine.done
	return mine.err
}

// run answers one group and reports whether others wait.
func (g *grouped[C]) run(now *group[C]) (more bool) {
	now.err = g.answer(now.calls)
	close(now.done)
	if len(now.calls) > 1 {
		runtime.Gosched() // lets calls that are about to arrive join the next group
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = g.next != nil
	return g.running
}

func (g *grouped[C]) runAll() {
	for more := true; more; {
		g.mu.Lock()
		now := g.next
		g.next = nil
		g.mu.Unlock()
		more = g.run(now)
	}
}
