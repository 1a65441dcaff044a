// Package clienttest tests package client against the real service, its OpenAPI document and its recorded conversations.
// These tests are not in the client's own module, because that module would then require everything that the service
// requires.
package clienttest
