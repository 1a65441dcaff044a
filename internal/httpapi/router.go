package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"petstore/internal/petstore"
)

// operation is one row of the route table.
type operation struct {
	name       string
	method     string
	path       string
	handle     func(*API, *exchange) error
	page       http.Handler // serves a page instead of handle; needs no key
	probe      bool         // the page is one of Config.Probes
	keyless    bool         // needs no key
	body       bodyKind
	deprecated bool
}

// writes reports whether the operation needs a key that may write.
func (op *operation) writes() bool {
	return op.method != http.MethodGet && !op.keyless
}

// resource is a path with its operations.
type resource struct {
	segments   []string       // the segments of the path; a parameter is in braces, such as {petId}
	parameter  *pathParameter // nil if the path has no parameter
	operations map[string]*operation
	allow      string // the value of the Allow header
}

// options is an operation that every resource has. It is not counted.
var options = operation{name: "options", handle: (*API).options, keyless: true}

// wholeServer is the resource of OPTIONS *.
var wholeServer = &resource{operations: map[string]*operation{http.MethodOptions: &options}, allow: allowedMethods + ", OPTIONS"}

// router matches paths exactly. It does not clean paths, and it does not redirect.
type router struct {
	exact      map[string]*resource
	parametric []*resource
}

func newResource(path string) *resource {
	res := &resource{segments: strings.Split(path, "/"), operations: map[string]*operation{http.MethodOptions: &options}}
	for _, segment := range res.segments {
		if strings.HasPrefix(segment, "{") {
			res.parameter = pathParameters[segment]
		}
	}
	return res
}

func newRouter(table []operation) router {
	rt := router{exact: map[string]*resource{"*": wholeServer}}
	byPath := make(map[string]*resource)
	for i := range table {
		op := &table[i]
		res := byPath[op.path]
		if res == nil {
			res = newResource(op.path)
			byPath[op.path] = res
			if res.parameter != nil {
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
		res.allow += strings.Join(methods, ", ") + ", "
	}
	for _, res := range byPath {
		res.allow += http.MethodOptions
	}
	return rt
}

// match returns the resource for a path and the value of its parameter, or nil if there is no such resource.
func (rt router) match(path string) (*resource, string) {
	if res := rt.exact[path]; res != nil {
		return res, ""
	}
	for _, res := range rt.parametric {
		if value, ok := res.match(path); ok {
			return res, value
		}
	}
	return nil, ""
}

// match compares a path with the resource, segment by segment, and returns the value of the parameter.
func (res *resource) match(path string) (value string, ok bool) {
	more := true
	for _, segment := range res.segments {
		if !more {
			return "", false
		}
		var part string
		part, path, more = strings.Cut(path, "/")
		switch {
		case strings.HasPrefix(segment, "{") && part != "":
			value = part
		case segment == part:
		default:
			return "", false
		}
	}
	return value, !more
}

// pathParameter says how to read the parameter of a path.
type pathParameter struct {
	parse   func(string) (int64, bool)
	missing error // the refusal of a value that cannot be an id
}

var pathParameters = map[string]*pathParameter{
	"{petId}":   {parseID, petstore.NoSuchPet()},
	"{orderId}": {parseID, petstore.NoSuchOrder()},
	"{categoryId}": {parseInt64, newRefusal(petstore.NotFound,
		"There is no such category. Its number must be a whole number from -9223372036854775808 to 9223372036854775807, written plainly.")},
}

// decodeUnreserved decodes the unreserved characters of an escaped path, which mean the same with or without the
// escape: letters, digits, hyphens, periods, underscores and tildes (RFC 3986, section 2.3). All others stay escaped,
// such as a slash or a space.
func decodeUnreserved(path string) string {
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

// newPages returns a resource for each page and probe.
func newPages(pages, probes map[string]http.Handler) map[string]*resource {
	table := make([]operation, 0, len(pages)+len(probes))
	for path, h := range pages {
		table = append(table, operation{name: pageRoute, method: http.MethodGet, path: path, page: h})
	}
	for path, h := range probes {
		table = append(table, operation{name: pageRoute, method: http.MethodGet, path: path, page: h, probe: true})
	}
	return newRouter(table).exact
}
