package hostile

import (
	"bytes"
	"fmt"
	"os"
	"sync"
)

// result is the outcome of one attack.
type result struct {
	attack          string
	quiet, attacked *goodClient
	before, after   gauges
	peak            int64
}

// A reported value collects the results of attacks. The key of a result is the row of its attack in the table.
type reported struct {
	mu sync.Mutex
	of map[int]result
}

var results = reported{of: make(map[int]result)}

func (r *reported) add(place int, res result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[place] = res
}

// write writes the results to a file, in the order of the attacks. Without a file name, write does nothing.
func (r *reported) write(file string) error {
	if file == "" {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("| Attack | Good answers | p99 quiet | p99 attacked | Memory before, at most, after (MiB) | Goroutines before, after |\n|---|---|---|---|---|---|\n")
	for place := range attacks {
		if res, ok := r.of[place]; ok {
			fmt.Fprintf(&b, "| %s | %.4g %% of %d | %v | %v | %d, %d, %d | %d, %d |\n", res.attack,
				100*float64(res.attacked.good)/float64(res.attacked.asked), res.attacked.asked, res.quiet.p99(), res.attacked.p99(),
				res.before.resident>>20, res.peak>>20, res.after.resident>>20, res.before.goroutines, res.after.goroutines)
		}
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("the results cannot be written: %w", err)
	}
	return nil
}
