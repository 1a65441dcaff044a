package contract

import (
	"crypto/sha256"
	"strings"
	"sync"
)

// The variable accepted holds the hashes of the exchanges that Check has accepted, so that Check need not validate an equal
// exchange again. The library kin-openapi is slow, because it compiles every schema for every exchange.
var accepted struct {
	sync.Mutex
	hashes map[[sha256.Size]byte]bool
}

// maxAccepted limits the memory that the variable accepted uses when a fuzzer runs for days.
const maxAccepted = 1 << 18

func isAccepted(hash [sha256.Size]byte) bool {
	accepted.Lock()
	defer accepted.Unlock()
	return accepted.hashes[hash]
}

func accept(hash [sha256.Size]byte) {
	accepted.Lock()
	defer accepted.Unlock()
	if accepted.hashes == nil || len(accepted.hashes) >= maxAccepted {
		accepted.hashes = make(map[[sha256.Size]byte]bool)
	}
	accepted.hashes[hash] = true
}

// The function stable returns a request or an answer without the values that differ each time: secrets, dates, request ids
// and counts.
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
