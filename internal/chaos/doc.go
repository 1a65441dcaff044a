// Package chaos breaks a running service in every way that a seeded plan lists, under load. It checks that nothing that
// was acknowledged is lost, done twice or seen out of order. It has tests only: make chaos runs them for as long as you
// like, and go test for a minute. They need Linux.
//
// A new fault is a method of a system (cluster_test.go, embedded_test.go) that returns when its cause is gone, and a row in
// a table of faults.
package chaos
