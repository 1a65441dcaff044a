// Package api embeds the OpenAPI document of the API, in YAML and in JSON. Edit openapi.yaml by hand, then run go generate
// ./api, which generates openapi.json.
package api

import _ "embed"

//go:generate go test -run ^TestJSONMatchesYAML$ -update

// YAML is the OpenAPI document in YAML, the format that people edit.
//
//go:embed openapi.yaml
var YAML []byte

// JSON is the same document in JSON. The command go generate ./api makes it from the YAML.
//
//go:embed openapi.json
var JSON []byte
