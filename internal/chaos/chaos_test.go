//go:build linux

package chaos

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

var (
	length     = flag.Duration("for", 20*time.Second, "how long the load runs, over all scenarios")
	pause      = flag.Duration("pause", 25*time.Millisecond, "how long each of the clients waits between two requests")
	seed       = flag.Uint64("seed", 0, "the seed of the plan, to repeat one; 0 chooses one")
	reportFile = flag.String("report", "", "also write the report to this file, as Markdown")
)

// scenario is a system under load. The field share is the scenario's part of the total time, in percent.
type scenario struct {
	name  string
	share int
	start func(t testing.TB) *system
}

var scenarios = []scenario{
	{"a cluster", 30, startCluster},
	{"a cluster with Patroni", 25, startPatroni},
	{"a cluster in a rolling restart", 8, startRolling},
	{"a cluster through PgBouncer", 8, startBouncer},
	{"a cluster with Sentinel", 8, startSentinel},
	{"a cluster on a small disk", 6, startSmallDisk},
	{"a cluster with a stepped clock", 5, startStepped},
	{"an embedded server", 10, startEmbedded},
}

// roundLength is the greatest length of a round through all scenarios. After each round, a long run checks the recorded
// history and discards it.
const roundLength = 5 * time.Minute

func TestChaos(t *testing.T) {
	if *seed == 0 {
		*seed = 1 + rand.Uint64N(1e9)
	}
	note("this plan: CHAOS=%v SEED=%d make chaos", *length, *seed)
	summary := newReport()
	rounds := max(1, int((*length+roundLength/2)/roundLength))
	for round := range rounds {
		t.Run(fmt.Sprintf("round %d", round+1), func(t *testing.T) {
			for _, s := range scenarios {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					r := &run{scenario: s, report: summary, seed: *seed + uint64(round)}
					r.play(t, *length/time.Duration(rounds)*time.Duration(s.share)/100)
				})
			}
		})
	}
	text := summary.markdown(*length, *seed)
	fmt.Fprint(os.Stderr, "\n", text)
	if *reportFile != "" {
		if err := os.WriteFile(*reportFile, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

var began = time.Now()

// note prints the progress of the run for whoever is watching.
func note(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}
