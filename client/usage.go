package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Usage counts the requests of an owner in one hour.
type Usage struct {
	Hour    time.Time `json:"hour"`    // the beginning of the hour
	Passed  int64     `json:"passed"`  // the requests that no limit and no ban refused
	Refused int64     `json:"refused"` // the requests that a limit or a ban refused
}

// GetOwnUsage returns the usage of the owner of the client's key, by hour, oldest first. It leaves out hours without requests.
// The argument hours is how many hours to show, up to and including the current one, at most 744; if zero, 24.
func (c *Client) GetOwnUsage(ctx context.Context, hours int, options ...CallOption) ([]Usage, error) {
	return c.usage(ctx, "/key/usage", hours, options)
}

// GetKeyUsage returns the usage of the owner of a key, like GetOwnUsage. It needs an administrator's key.
func (c *Client) GetKeyUsage(ctx context.Context, id string, hours int, options ...CallOption) ([]Usage, error) {
	return c.usage(ctx, keyPath(id)+"/usage", hours, options)
}

func (c *Client) usage(ctx context.Context, path string, hours int, options []CallOption) ([]Usage, error) {
	v := make(url.Values)
	if hours != 0 {
		v.Set("hours", strconv.Itoa(hours))
	}
	usage, _, err := fetch[Usage](ctx, c, path, v.Encode(), options)
	return usage, err
}

// Store describes a server and its database.
type Store struct {
	Version       string `json:"version"`     // of the program
	Environment   string `json:"environment"` // production or staging
	Database      string `json:"database"`    // sqlite or postgres
	DatabaseBytes int64  `json:"databaseBytes"`
	PhotoBytes    int64  `json:"photoBytes"` // of the files of all photos
	Events        int64  `json:"events"`     // how many events are kept
	Schema        int64  `json:"schema"`     // the version of the database's schema
}

func (s *Store) missing() bool { return s.Database == "" }

// GetStore describes the server and its database. It needs an administrator's key.
func (c *Client) GetStore(ctx context.Context, options ...CallOption) (s Store, err error) {
	err = c.call(ctx, http.MethodGet, "/store", &s, options)
	return s, err
}
