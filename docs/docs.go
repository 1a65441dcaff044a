// Package docs holds the pages of this folder that the program itself shows.
package docs

import _ "embed"

// Changelog lists the changes that users notice. The API reference shows it.
//
//go:embed changelog.md
var Changelog string
