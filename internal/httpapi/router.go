package httpapi

import (
	"net/http"
	"strings"
)

// operation is one row of the route table.
type operation struct {
	name       string
	method     string
	path       string
	handle     func(*API, *exchange) error
	page       http.Handler // instead of handle, for what needs no key
	probe      bool         // a page that machines ask all the time
	open       bool         // needs no key, but is counted
	takesBody  bool
	deprecated bool
}

// resource is a path and all that can be done there.
type resource struct {
	prefix     string // the path up to its parameter
	parameter  bool
	operations map[string]*operation
	allow      []string
	deprecated bool
}

// options is an operation of every resource.
var options = operation{name: "options", handle: (*API).options, open: true}

// router matches escaped paths to the letter: nothing is cleaned, decoded or redirected.
type router struct {
	exact      map[string]*resource
	parametric []*resource
}

func newRouter(table []operation) router {
	rt := router{exact: make(map[string]*resource)}
	byPath := make(map[string]*resource)
	for i := range table {
		op := &table[i]
		res := byPath[op.path]
		if res == nil {
			prefix, _, parameter := strings.Cut(op.path, "{")
			res = &resource{prefix: prefix, parameter: parameter, operations: map[string]*operation{http.MethodOptions: &options}}
			byPath[op.path] = res
			if parameter {
				rt.parametric = append(rt.parametric, res)
			} else {
				rt.exact[op.path] = res
			}
		}
		methods := []string{op.method}
		if op.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		for _, m := range methods {
			res.operations[m] = op
		}
		res.allow = append(res.allow, methods...)
		res.deprecated = res.deprecated || op.deprecated
	}
	for _, res := range byPath {
		res.allow = []string{strings.Join(append(res.allow, http.MethodOptions), ", ")}
	}
	return rt
}

// match returns the resource of a path and the value of its parameter, or nil.
func (rt router) match(path string) (*resource, string) {
	if res := rt.exact[path]; res != nil {
		return res, ""
	}
	for _, res := range rt.parametric {
		if value, ok := strings.CutPrefix(path, res.prefix); ok && value != "" && !strings.Contains(value, "/") {
			return res, value
		}
	}
	return nil, ""
}

// newPages makes a resource of each page and probe.
func newPages(pages, probes map[string]http.Handler) map[string]*resource {
	table := make([]operation, 0, len(pages)+len(probes))
	for path, h := range pages {
		table = append(table, operation{name: "page", method: http.MethodGet, path: path, page: h})
	}
	for path, h := range probes {
		table = append(table, operation{name: "page", method: http.MethodGet, path: path, page: h, probe: true})
	}
	return newRouter(table).exact
}
