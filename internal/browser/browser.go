// Package browser tests the pages of the running program in a real browser: the desk, where staff work with animals, and the
// API reference. It contains only tests.
package browser
