package load

import (
	"math/bits"
	"time"
)

// precision is how many bits of a latency are kept: 64 steps for every doubling, so a quantile is within 1.6 %.
const precision = 6

// histogram counts latencies from a nanosecond to a quarter of an hour in steps that grow with them.
type histogram struct {
	counts [(41 - precision) << precision]uint64
	total  uint64
	max    time.Duration
}

func (h *histogram) add(latency time.Duration) {
	h.counts[min(step(uint64(latency)), len(h.counts)-1)]++
	h.total++
	h.max = max(h.max, latency)
}

// quantile returns the latency that a share q of all did not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.total))
	for i, n := range h.counts {
		if n > rank {
			return middle(i)
		}
		rank -= n
	}
	return h.max
}

func step(v uint64) int {
	if v < 2<<precision {
		return int(v)
	}
	shift := bits.Len64(v) - precision - 1
	return shift<<precision + int(v>>shift)
}

func middle(step int) time.Duration {
	if step < 2<<precision {
		return time.Duration(step)
	}
	shift := step>>precision - 1
	first := uint64(step-shift<<precision) << shift
	return time.Duration(first + 1<<shift/2)
}
