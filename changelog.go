// Package changelog holds what changed for users, as the file that people read. The API reference shows it. It is in the
// root of the module only because Go embeds no file from a folder above. The program is cmd/petstore; the package that
// other programs import is client.
package changelog

import _ "embed"

// Markdown is CHANGELOG.md.
//
//go:embed CHANGELOG.md
var Markdown string
