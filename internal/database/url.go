package database

import (
	"fmt"
	"net/url"
	"strings"

	"petstore/internal/petstore"
	"petstore/internal/postgres"
	"petstore/internal/terminal"
)

// Kind is a kind of storage.
type Kind string

// The kinds of storage.
const (
	SQLite   Kind = "sqlite"
	Postgres Kind = "postgres"
)

// Parse returns the kind of storage that --database chooses and, for SQLite, the path of the file.
func (f Flags) Parse() (kind Kind, path string, err error) {
	address := f.Database
	if address == "" {
		address = "sqlite:petstore.db"
		if f.Environment == petstore.Staging {
			address = "sqlite:petstore-staging.db"
		}
	}
	scheme, rest, _ := strings.Cut(address, ":")
	switch {
	case scheme == "sqlite" && strings.TrimPrefix(rest, "//") != "":
		return SQLite, strings.TrimPrefix(rest, "//"), nil
	case (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//"):
		if err := CheckPassword("--database", address); err != nil {
			return "", "", err
		}
		if err := postgres.CheckURL(address); err != nil {
			return "", "", terminal.WrongUsage("--database: %w", err)
		}
		return Postgres, "", nil
	}
	problem := "is not a database URL" // the message does not contain the URL, which may have a password
	if !strings.ContainsAny(scheme, "@= ") {
		problem = fmt.Sprintf("begins with %q", scheme)
	}
	return "", "", terminal.WrongUsage("--database %s; it must be sqlite:FILE, such as sqlite:petstore.db, or postgres://user:password@host/name", problem)
}

// Describe returns the name of the storage without its secrets.
func (f Flags) Describe() string {
	kind, path, _ := f.Parse()
	if kind == SQLite {
		return "sqlite:" + path
	}
	return string(kind)
}

// CheckPassword refuses a URL in which a special character of the password is not percent-encoded. Otherwise part of the
// password would look like a host or a name, and error messages would show that part.
func CheckPassword(flag, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return nil // the code that opens the URL will refuse it
	}
	_, rest, _ := strings.Cut(address, "//")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	parameter, _, _ := strings.Cut(u.RawQuery, "=")
	if u.Fragment == "" && strings.Count(rest, "@") < 2 && !strings.Contains(u.Path+parameter, "@") {
		return nil
	}
	return terminal.WrongUsage("%s has a special character that is not percent-encoded; in a password, write %%40 for @, %%2F for /, %%3F for ? and %%23 for #", flag)
}
