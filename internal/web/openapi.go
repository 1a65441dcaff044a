package web

import (
	"fmt"
	"net/http"
	"regexp"

	"petstore/api"
)

// These match the list of servers in the two forms of the OpenAPI document.
var (
	yamlServers = regexp.MustCompile(`(?m)^servers:\n(?: .*\n)+`)
	jsonServers = regexp.MustCompile(`(?s)"servers": \[.*?\n  \]`)
)

// addDocuments adds the OpenAPI document to the pages. If the server knows its address, the document names no other server.
func addDocuments(pages map[string]http.Handler, base string) {
	pages["/openapi.yaml"] = newPage("openapi.yaml", func() []byte {
		return onlyServer(base, api.YAML, yamlServers, "servers:\n  - url: %q\n    description: This server\n")
	})
	pages["/openapi.json"] = newPage("openapi.json", func() []byte {
		return onlyServer(base, api.JSON, jsonServers, `"servers": [{"description": "This server", "url": %q}]`)
	})
}

// onlyServer replaces the servers of a document by the one at the address base, unless base is empty.
func onlyServer(base string, document []byte, servers *regexp.Regexp, format string) []byte {
	if base == "" {
		return document
	}
	return servers.ReplaceAllLiteral(document, fmt.Appendf(nil, format, base+"/v1"))
}
