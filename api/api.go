// Package api holds the published description of the interface, as files that people and programs read. Change
// openapi.yaml by hand, then run go generate ./api, which makes openapi.json from it.
package api

import _ "embed"

//go:generate go test -run ^TestJSONFormIsTheYAMLForm$ -update

// YAML is the OpenAPI document as it is written.
//
//go:embed openapi.yaml
var YAML []byte

// JSON is the same document in JSON, made from YAML by go generate.
//
//go:embed openapi.json
var JSON []byte
