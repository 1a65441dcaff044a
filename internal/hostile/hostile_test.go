package hostile

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var (
	hard   = flag.Bool("hard", false, "make every attack ten times as big")
	report = flag.String("report", "", "the file to write the results to, as a table in Markdown")
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if err := results.write(*report); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

// attack is something that a hostile or broken client does.
type attack struct {
	name string
	// run attacks and returns when the attack is over. Its connections are closed afterwards.
	run func(*testing.T, *target)
	// tls makes the target serve HTTPS and HTTP/2.
	tls bool
	// crowds marks an attack that sends more requests at once than the server works on. Then the server may tell other
	// clients to wait too, as it promises.
	crowds bool
	// files is how many files the target may have open, if that is limited.
	files int
}

func TestAClientThatBehavesWellIsServedWhateverOthersDo(t *testing.T) {
	for i, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, a)
			quiet := s.neighbor(nil)
			before := s.gauges(t)
			peak := s.peak()
			attacked := s.neighbor(func() { a.run(t, s) })
			highest := peak()
			s.hangUp()
			after := s.settled(t, before)
			s.checkLog(t)
			for _, problem := range append(quiet.problems, attacked.problems...) {
				t.Errorf("a client that behaves well: %s", problem)
			}
			if told := quiet.told + attacked.told; told > 0 && !a.crowds {
				t.Errorf("a client that behaves well was told to wait %d times", told)
			}
			t.Logf("good answers %d of %d, p99 %v quiet, %v under attack; resident %d MiB before, %d at most, %d after; goroutines %d and %d; files %d and %d",
				attacked.good, attacked.asked, quiet.p99(), attacked.p99(), before.resident>>20, highest>>20, after.resident>>20,
				before.goroutines, after.goroutines, before.files, after.files)
			results.add(i, result{a.name, quiet, attacked, before, after, highest})
		})
	}
}

// checkLog fails the test for faults of the server in its log. No client may cause one.
func (s *target) checkLog(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(s.Log(t)) {
		if strings.Contains(line, "panic") || strings.Contains(line, `"status":500`) {
			t.Errorf("the log has a fault of the server: %.2000s", line)
		}
	}
}

// scaled returns a count, or ten times the count with -hard.
func scaled(n int) int {
	if *hard {
		return 10 * n
	}
	return n
}

// repeats is how often an attack sends a text that is expensive to read: once, or forty times with -hard.
func repeats() int {
	if *hard {
		return 40
	}
	return 1
}

// hold is how long an attack lasts that only waits. With -hard it lasts longer than the server waits for headers.
func hold() time.Duration {
	if *hard {
		return 12 * time.Second
	}
	return 600 * time.Millisecond
}
