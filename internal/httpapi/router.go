package httpapi

import (
	"net/http"
	"strconv"
	"strings"
)

// operation is one row of the route table.
type operation struct {
	name       string
	method     string
	path       string
	handle     func(*API, *exchange) error
	page       http.Handler // instead of handle, for what needs no key
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

// router matches plain paths to the letter: nothing is cleaned or redirected.
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

// plainPath decodes the characters of an escaped path that mean the same without their escape: letters, digits and the
// four other unreserved ones of RFC 3986, section 2.3. An escaped slash or space stays escaped.
func plainPath(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	plain := make([]byte, 0, len(path))
	for ; path != ""; path = path[1:] {
		c := path[0]
		if c == '%' && len(path) > 2 {
			decoded, err := strconv.ParseUint(path[1:3], 16, 8)
			if err == nil && (decoded == '~' || isSafe(string([]byte{byte(decoded)}))) {
				c, path = byte(decoded), path[2:]
			}
		}
		plain = append(plain, c)
	}
	return string(plain)
}

// newPages makes a resource of each page.
func newPages(handlers map[string]http.Handler) map[string]*resource {
	table := make([]operation, 0, len(handlers))
	for path, h := range handlers {
		table = append(table, operation{name: "page", method: http.MethodGet, path: path, page: h})
	}
	return newRouter(table).exact
}
