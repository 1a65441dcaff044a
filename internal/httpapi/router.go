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
	photoFile  bool         // serves a file of a photo; needs no key and is not counted
	admin      bool         // needs an administrator's key
	repeats    bool         // is done anew each time it is sent, whatever its Idempotency-Key
	body       bodyKind
	deprecated bool
}

// writes reports whether the operation changes something.
func (op *operation) writes() bool {
	return op.method != http.MethodGet && !op.keyless
}

// access returns the lowest access that a key needs for the operation.
func (op *operation) access() petstore.Access {
	switch {
	case op.admin:
		return petstore.Admin
	case op.writes():
		return petstore.ReadWrite
	}
	return petstore.ReadOnly
}

// resource is a path with its operations.
type resource struct {
	segments   []string         // the segments of the path; a parameter is in braces, such as {petId}
	parameters []*pathParameter // at most maxParameters
	operations map[string]*operation
	allow      string // the value of the Allow header
}

// maxParameters is the greatest number of parameters in a path.
const maxParameters = 2

// pathValues has the values of the parameters of a path.
type pathValues [maxParameters]string

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
			res.parameters = append(res.parameters, pathParameters[segment])
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
			if len(res.parameters) > 0 {
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

// match returns the resource for a path and the values of its parameters, or nil if there is no such resource.
func (rt router) match(path string) (*resource, pathValues) {
	if res := rt.exact[path]; res != nil {
		return res, pathValues{}
	}
	for _, res := range rt.parametric {
		if values, ok := res.match(path); ok {
			return res, values
		}
	}
	return nil, pathValues{}
}

// match compares a path with the resource, segment by segment, and returns the values of the parameters.
func (res *resource) match(path string) (values pathValues, ok bool) {
	more, found := true, 0
	for _, segment := range res.segments {
		if !more {
			return values, false
		}
		var part string
		part, path, more = strings.Cut(path, "/")
		switch {
		case strings.HasPrefix(segment, "{") && part != "":
			values[found] = part
			found++
		case segment == part:
		default:
			return values, false
		}
	}
	return values, !more
}

// pathParameter says how to read the parameter of a path.
type pathParameter struct {
	parse   func(string) (int64, bool)
	missing error // the refusal of a value that cannot be an id
}

var pathParameters = map[string]*pathParameter{
	"{petId}":   {parseID, petstore.NoSuchPet()},
	"{photoId}": {parseID, petstore.NoSuchPhoto()},
	"{orderId}": {parseID, petstore.NoSuchOrder()},
	"{categoryId}": {parseInt64, newRefusal(petstore.NotFound,
		"There is no such category. Its number must be a whole number from -9223372036854775808 to 9223372036854775807, written plainly.")},
	"{token}": {isText(petstore.CanBePhotoToken), errNoPhotoFile},
	"{keyId}": {isText(petstore.CanBeKeyID), petstore.NoSuchKey("")},

	"{webhookId}": {isText(petstore.CanBeWebhookID), petstore.NoSuchWebhook()},
}

// isText returns how to parse a parameter that is a text and not a number.
func isText(canBe func(string) bool) func(string) (int64, bool) {
	return func(s string) (int64, bool) { return 0, canBe(s) }
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
