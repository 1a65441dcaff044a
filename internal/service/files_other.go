//go:build !unix

package service

import (
	"math"
)

// openFiles is how many open files, including connections, the system allows the process.
func openFiles() int { return math.MaxInt32 }
