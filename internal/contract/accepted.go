package contract

import (
	"crypto/sha256"
	"strings"
	"sync"
)

// accepted remembers exchanges that the document describes, because kin-openapi is slow: it compiles every schema for every
// exchange.
var accepted = memory{known: make(map[[sha256.Size]byte]bool)}

// maxAccepted bounds the memory of a fuzzer that runs for days.
const maxAccepted = 1 << 18

type memory struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]bool
}

func (m *memory) has(sum [sha256.Size]byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[sum]
}

func (m *memory) add(sum [sha256.Size]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= maxAccepted {
		clear(m.known)
	}
	m.known[sum] = true
}

// stable is a request or an answer without the values that differ every time: secrets, dates, request ids, and counts.
func stable(raw string) string {
	var b strings.Builder
	for line := range strings.Lines(raw) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		isCount := strings.HasPrefix(name, "X-RateLimit-") && value != "" && strings.Trim(value, "0123456789") == ""
		if name == "Authorization" || name == "Date" || name == "X-Request-Id" || isCount {
			line = name + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
