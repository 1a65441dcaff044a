// Package browser drives the pages of the running program in a real browser, like a person at the desk does. It has tests
// only.
package browser
