// Package api holds the OpenAPI document of the interface as files for people and programs. Edit openapi.yaml by hand, then
// run go generate ./api, which makes openapi.json from it.
package api

import _ "embed"

//go:generate go test -run ^TestJSONMatchesYAML$ -update

// YAML is the OpenAPI document as it is written by hand.
//
//go:embed openapi.yaml
var YAML []byte

// JSON is the same document in JSON, made from YAML by go generate.
//
//go:embed openapi.json
var JSON []byte
