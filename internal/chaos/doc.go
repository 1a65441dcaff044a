// Package chaos breaks a running service, under load, in every way that a seeded plan lists. Then package history checks
// what the service answered. The package has tests only: make chaos runs them for as long as you like, and go test for a
// minute. They need Linux.
//
// A new fault is a method of a system (cluster_test.go, embedded_test.go) that returns when its cause is gone, and a row in
// a table of faults.
package chaos
