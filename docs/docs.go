// Package docs holds the pages of this folder that the program itself shows.
package docs

import "embed"

// Changelog lists the changes that users notice. The API reference shows it.
//
//go:embed changelog.md
var Changelog string

// Guides has the pages for people who write clients, and their pictures. The server serves them under /docs.
//
//go:embed clients.md adoption.md search.md profiles.md photos.md events.md webhooks.md rate-limits.md limits.md img/life.svg
var Guides embed.FS
