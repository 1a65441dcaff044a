package sqlite

import (
	"testing"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
)

func TestCopyConforms(t *testing.T) {
	open := func(t *testing.T) petstore.Database { return openNew(t) }
	conformance.Copy(t, open, open)
}
