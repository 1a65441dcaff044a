package sqlite

import (
	"testing"

	"petstore/internal/conformance"
)

func BenchmarkUsage(b *testing.B) { conformance.BenchmarkUsage(b, openNew(b)) }
