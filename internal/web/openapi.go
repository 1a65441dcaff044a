package web

import (
	"fmt"
	"net/http"
	"regexp"

	"petstore/api"
)

// These expressions match the list of servers in the OpenAPI document, one in YAML and one in JSON.
var (
	yamlServers = regexp.MustCompile(`(?m)^servers:\n(?: .*\n)+`)
	jsonServers = regexp.MustCompile(`(?s)"servers": \[.*?\n  \]`)
)

// addDocuments adds the OpenAPI document to the pages. If the server knows its own address, the document names only that
// address.
func addDocuments(pages map[string]http.Handler, base string) {
	pages["/openapi.yaml"] = newPage("openapi.yaml", func() []byte {
		return onlyServer(base, api.YAML, yamlServers, "servers:\n  - url: %q\n    description: This server\n")
	})
	pages["/openapi.json"] = newPage("openapi.json", func() []byte {
		return onlyServer(base, api.JSON, jsonServers, `"servers": [{"description": "This server", "url": %q}]`)
	})
}

// onlyServer replaces the list of servers in a document with the server at the address base, unless base is empty.
func onlyServer(base string, document []byte, servers *regexp.Regexp, format string) []byte {
	if base == "" {
		return document
	}
	return servers.ReplaceAllLiteral(document, fmt.Appendf(nil, format, base+"/v1"))
}
