// Package clienttest tests the package client against the real service, its document and its recorded conversations. These
// tests are not in the client's own module, because then that module would require everything that the service requires.
package clienttest
