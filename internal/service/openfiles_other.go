//go:build !unix

package service

import (
	"math"
)

// maxOpenFiles returns how many files, including connections, the system lets the process open.
func maxOpenFiles() int { return math.MaxInt32 }
