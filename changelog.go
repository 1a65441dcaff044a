// Package changelog holds what changed for users, as the file that people read.
package changelog

import _ "embed"

// Markdown is CHANGELOG.md.
//
//go:embed CHANGELOG.md
var Markdown string
