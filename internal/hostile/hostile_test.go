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
	// run attacks the target and returns when the attack is over. The test then closes the connections of the attack.
	run func(*testing.T, *target)
	// tls makes the target serve HTTPS and HTTP/2.
	tls bool
	// overloads marks an attack that sends more requests at the same time than the server works on. The server may then
	// tell other clients to wait, too.
	overloads bool
	// files is how many files the target may have open. 0 means no limit.
	files int
}

func TestAWellBehavedClientIsServedDuringEveryAttack(t *testing.T) {
	for i, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, a)
			quiet := s.withGoodClient(nil)
			before := s.gauges(t)
			peak := s.peak()
			attacked := s.withGoodClient(func() { a.run(t, s) })
			highest := peak()
			s.hangUp()
			after := s.awaitRecovery(t, before)
			s.checkLog(t)
			for _, problem := range append(quiet.problems, attacked.problems...) {
				t.Errorf("the well-behaved client: %s", problem)
			}
			if told := quiet.told + attacked.told; told > 0 && !a.overloads {
				t.Errorf("the well-behaved client was told to wait %d times", told)
			}
			t.Logf("good answers %d of %d, p99 %v quiet, %v under attack; resident %d MiB before, %d at most, %d after; goroutines %d and %d; files %d and %d",
				attacked.good, attacked.asked, quiet.p99(), attacked.p99(), before.resident>>20, highest>>20, after.resident>>20,
				before.goroutines, after.goroutines, before.files, after.files)
			results.add(i, result{a.name, quiet, attacked, before, after, highest})
		})
	}
}

// checkLog fails the test if the log has a panic or a 500, because no client may cause either.
func (s *target) checkLog(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(s.Log(t)) {
		if strings.Contains(line, "panic") || strings.Contains(line, `"status":500`) {
			t.Errorf("the log has a fault of the server: %.2000s", line)
		}
	}
}

// The function scaled returns n, or ten times n with -hard.
func scaled(n int) int {
	if *hard {
		return 10 * n
	}
	return n
}

// The function repeats returns how often an attack sends a text that is expensive to read: once, or forty times with -hard.
func repeats() int {
	if *hard {
		return 40
	}
	return 1
}

// attackDuration returns the duration of an attack that only waits. With -hard, that is longer than the server waits for
// headers.
func attackDuration() time.Duration {
	if *hard {
		return 12 * time.Second
	}
	return 600 * time.Millisecond
}
