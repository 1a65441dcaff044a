package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// document is the part of an OpenAPI document that the reference uses.
type document struct {
	Info struct {
		Title, Version, Description string
	}
	Servers []struct {
		URL string
	}
	Tags []struct {
		Name, Description string
		Addition          bool `json:"x-addition"`
	}
	Paths      map[string]pathItem
	Webhooks   map[string]pathItem
	Components struct {
		Schemas    map[string]schema
		Parameters map[string]parameter
		Headers    map[string]parameter
		Responses  map[string]response
	}
}

type pathItem struct {
	Parameters                    []parameter
	Get, Post, Put, Patch, Delete *operation
}

type operation struct {
	ID          string `json:"operationId"`
	Tags        []string
	Summary     string
	Description string
	Deprecated  bool
	Sunset      string `json:"x-deprecated-sunset"`
	Addition    bool   `json:"x-addition"`
	Parameters  []parameter
	RequestBody requestBody
	Responses   map[string]response

	method, path string
	webhook      bool // whether this server sends the request
}

// parameter is a parameter of a request, or a header of an answer. A header has no Name. Its name is the key in the map of
// headers.
type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Addition    bool `json:"x-addition"`
	Schema      schema
	Example     json.RawMessage
}

type requestBody struct {
	Description string
	Required    bool
	Content     map[string]media
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Addition    bool `json:"x-addition"`
	Headers     map[string]parameter
	Content     map[string]media
}

type media struct {
	Schema   schema
	Example  json.RawMessage
	Examples map[string]struct {
		Summary string
		Value   json.RawMessage
	}
}

type schema struct {
	Ref                  string `json:"$ref"`
	Description          string
	Type                 kinds
	Format               string
	Enum                 []json.RawMessage
	Const, Default       json.RawMessage
	Minimum, Maximum     json.Number
	MinLength, MaxLength int64
	MaxItems             int64
	Required             []string
	Properties           map[string]schema
	Items                *schema
	OneOf                []schema
	Discriminator        struct {
		PropertyName string
		Mapping      map[string]string
	}
}

// kinds are the types that a schema allows. OpenAPI writes them as one string or as an array of strings.
type kinds []string

func (k *kinds) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, (*[]string)(k))
	}
	*k = make(kinds, 1)
	return json.Unmarshal(text, &(*k)[0])
}

// resolve returns the component to which ref refers, or self if ref is empty.
func resolve[T any](components map[string]T, ref string, self T) T {
	if ref == "" {
		return self
	}
	return components[ref[strings.LastIndex(ref, "/")+1:]]
}

// schema follows a reference. A description beside the reference wins over the description of its target.
func (d *document) schema(s schema) schema {
	named := resolve(d.Components.Schemas, s.Ref, s)
	named.Description = cmp.Or(s.Description, named.Description)
	return named
}

// operations lists all operations and the requests to webhooks, and resolves their references. It uses the order of the YAML
// source, because the JSON form has lost that order.
func (d *document) operations(source []byte) []operation {
	var all []operation
	for name, item := range d.Webhooks {
		op := d.resolved(*item.Post, item, "POST", name)
		op.webhook = true
		all = append(all, op)
	}
	for path, item := range d.Paths {
		methods := map[string]*operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete}
		for method, op := range methods {
			if op != nil {
				all = append(all, d.resolved(*op, item, method, path))
			}
		}
	}
	slices.SortFunc(all, func(a, b operation) int {
		return cmp.Or(cmp.Compare(position(source, a), position(source, b)), cmp.Compare(a.ID, b.ID))
	})
	return all
}

func position(source []byte, op operation) int {
	return bytes.Index(source, []byte("operationId: "+op.ID+"\n"))
}

func (d *document) resolved(op operation, item pathItem, method, path string) operation {
	op.method, op.path = method, path
	own := slices.Concat(op.Parameters, item.Parameters)
	op.Parameters = nil
	for _, place := range []string{"path", "query", "header"} {
		for _, p := range own {
			if p = resolve(d.Components.Parameters, p.Ref, p); p.In == place {
				op.Parameters = append(op.Parameters, p)
			}
		}
	}
	op.Responses = maps.Clone(op.Responses)
	for status, r := range op.Responses {
		r = resolve(d.Components.Responses, r.Ref, r)
		r.Headers = maps.Clone(r.Headers)
		for name, h := range r.Headers {
			r.Headers[name] = resolve(d.Components.Headers, h.Ref, h)
		}
		op.Responses[status] = r
	}
	return op
}
