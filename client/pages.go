package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	// Next is the Cursor of the next page. It is empty if this is the last page.
	Next string
}

func page[T any](ctx context.Context, c *Client, path, query string, options []CallOption) (Page[T], error) {
	items, next, err := fetch[T](ctx, c, path, query, options)
	if err != nil {
		return Page[T]{}, err
	}
	following, err := url.ParseQuery(next)
	return Page[T]{items, following.Get("cursor")}, err
}

// walk yields the items of all pages. It begins with the page that the argument query selects.
func walk[T any](ctx context.Context, c *Client, path, query string, options []CallOption) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for query := query; ; {
			items, next, err := fetch[T](ctx, c, path, query, options)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			query = next
		}
	}
}

// fetch returns one page and the query for the next page. It uses only the query of the link to the next page, so that the
// client never sends the key to another address.
func fetch[T any](ctx context.Context, c *Client, path, query string, options []CallOption) (items []T, next string, err error) {
	r := newRequest(http.MethodGet, path, options)
	r.query = query
	a, err := c.exchange(ctx, r, &items)
	if err != nil {
		return nil, "", err
	}
	return items, nextQuery(a.header), nil
}

// nextQuery returns the query of the Link header with the relation "next" (RFC 8288), or "" if no Link header has that
// relation.
func nextQuery(h http.Header) string {
	for _, links := range h.Values("Link") {
		for link := range strings.SplitSeq(links, "<") {
			target, parameters, _ := strings.Cut(link, ">")
			if u, err := url.Parse(target); err == nil && isNext(parameters) {
				return u.RawQuery
			}
		}
	}
	return ""
}

// isNext reports whether the parameters of a link have the relation "next".
func isNext(parameters string) bool {
	for p := range strings.FieldsFuncSeq(parameters, func(r rune) bool { return r == ';' || r == ',' }) {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(name, "rel") {
			continue
		}
		for relation := range strings.FieldsSeq(strings.Trim(value, `"`)) {
			if strings.EqualFold(relation, "next") {
				return true
			}
		}
	}
	return false
}

func paging(limit int, cursor string) url.Values {
	v := make(url.Values)
	if limit != 0 {
		v.Set("limit", strconv.Itoa(limit))
	}
	set(v, "cursor", cursor)
	return v
}

// set sets a parameter unless value is empty.
func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// setID sets a parameter unless id is nil.
func setID(v url.Values, name string, id *int64) {
	if id != nil {
		v.Set(name, strconv.FormatInt(*id, 10))
	}
}

// walkLimit returns the page size for a walk over all pages: the size that the caller chose, or else the largest.
func walkLimit(limit int) int {
	if limit == 0 {
		return 100
	}
	return limit
}
