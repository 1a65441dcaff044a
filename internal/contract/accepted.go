package contract

import (
	"crypto/sha256"
	"strings"
	"sync"
)

// accepted holds the hashes of exchanges that Check has accepted, so that it need not validate equal ones again.
// kin-openapi is slow: it compiles every schema for every exchange.
var accepted struct {
	sync.Mutex
	hashes map[[sha256.Size]byte]bool
}

// maxAccepted bounds the memory of a fuzzer that runs for days.
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

// stable returns a request or an answer without the values that differ every time: secrets, dates, request ids and counts.
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
