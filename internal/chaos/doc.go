// Package chaos breaks a running service, under load, in every way that a seeded plan lists. Then package history checks
// the service's answers. The package has only tests. The command make chaos runs them for as long as you like, and the
// command go test runs them for a minute. They need Linux.
//
// A new fault is a row in a table of faults, and a method of a system (cluster_test.go, embedded_test.go). The method
// returns when the cause of the fault is gone.
package chaos
