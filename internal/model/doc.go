// Package model is a model of the store in maps and slices, as simple as possible, and compares the whole API with it. The
// package has only tests.
//
// FuzzSequence runs a script of requests, crashes and steps of the clock on both, and fails where they answer differently.
// seeds_test.go has the scripts that go test runs. A new operation is a method of store that returns the right answer.
package model
